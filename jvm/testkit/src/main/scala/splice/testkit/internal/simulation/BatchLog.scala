// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.simulation

import scala.collection.immutable.Queue

import splice.testkit.simulation.Life

/** Writes one run's batches to the logs: at once, or late and with gaps. */
final private[splice] class BatchLog(logs: SimulatedLogs, life: Life, asynchronous: Boolean) {

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
      // Spark logs the first batch of a run always, and later ones by time.
      if (first || life.chance.oneIn(3)) {
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

  /** The position that the source is told now to be committed, once; late, or never, when asynchronous. */
  def committedSince: Option[String] = {
    val now = due
    due = None
    now.filterNot(_ => asynchronous && life.chance.oneIn(3))
  }

  /** All that waits is written, as at a stop. */
  def drain(): Unit = while (pending.nonEmpty) writeOne()

  private def proceed(): Unit = while (pending.nonEmpty && life.chance.oneIn(2)) writeOne()

  private def writeOne(): Unit = {
    val (write, rest) = pending.dequeue
    pending = rest
    write()
  }
}
