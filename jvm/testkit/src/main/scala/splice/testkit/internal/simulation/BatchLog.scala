// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.simulation

import scala.collection.immutable.Queue

import splice.testkit.simulation.Life

/** Writes the batches of one run to the logs: immediately, or late and with gaps.
  *
  * @param isTimed
  *   true for real-time batches. Spark logs each of them, in at most two pending writes
  */
final private[splice] class BatchLog(logs: SimulatedLogs, life: Life, asynchronous: Boolean, isTimed: Boolean) {

  private var pending: Queue[() => Unit] = Queue.empty
  private var logged                     = Set.empty[Long]
  private var first                      = true
  private var ends: Option[String]       = None
  private var due: Option[String]        = None

  def begun(batch: Long, until: String): Unit =
    if (!asynchronous) {
      logs.writeOffsets(batch, until)
      due = logs.before(batch).map(_._2)
    } else {
      // Spark always logs the first batch of a run, and later batches at intervals.
      if (first || isTimed || life.chance.oneIn(3)) {
        logged += batch
        pending = pending.enqueue { () =>
          logs.writeOffsets(batch, until)
          ends = Some(until)
        }
      }
      first = false
      proceed()
    }

  def ended(batch: Long): Unit =
    if (!asynchronous) logs.writeCommit(batch)
    else {
      if (logged(batch) || logs.last.exists(_._1 == batch)) pending = pending.enqueue { () =>
        logs.writeCommit(batch)
        due = ends
      }
      proceed()
    }

  /** Position to commit to the source now. Each position is returned at most once. With asynchronous logs, the commit
    * may be late or missing.
    */
  def committedSince: Option[String] = {
    val now = due
    due = None
    now.filterNot(_ => asynchronous && life.chance.oneIn(3))
  }

  /** Writes all pending entries, as a stop does. */
  def drain(): Unit = while (pending.nonEmpty) writeOne()

  private def proceed(): Unit = while (pending.nonEmpty && (isTimed && pending.size > 2 || life.chance.oneIn(2)))
    writeOne()

  private def writeOne(): Unit = {
    val (write, rest) = pending.dequeue
    pending = rest
    write()
  }
}
