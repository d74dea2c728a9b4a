// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal

import org.slf4j.LoggerFactory

import splice.source.runtime.Report
import splice.source.{Position, SplitRange, TaskRanges}

/** The batches and epochs of one source in the logs of a checkpoint. */
private[splice] trait EpochLog {

  /** Returns the batches after the last committed batch, in order. */
  def uncommitted(): Seq[Long]

  /** Returns the offset of the source after a batch. */
  def end(batch: Long): Option[String]

  /** True if a batch is an epoch of continuous mode. */
  def isEpoch(batch: Long): Boolean

  /** Removes the offset of a batch. */
  def remove(batch: Long): Unit
}

/** The epochs of one run of a query in Spark's continuous mode. Tasks read without an end, and epochs end while the
  * tasks read. One thread at a time calls all methods except [[needTasks]].
  *
  * @param nanos
  *   the elapsed time, in nanoseconds
  * @param rejected
  *   the error of a start after uncommitted batches of another trigger
  */
final private[splice] class Epochs(
    coordinator: Coordinator,
    batches: RealTimeBatches,
    log: EpochLog,
    nanos: () => Long
)(rejected: Seq[Long] => Exception) {

  import Epochs._

  private val guard = new EpochGuard

  @volatile private var state = Option.empty[State]

  /** Sets the end of the last committed epoch, or the start of the query. Called each time before tasks are planned. */
  def begin(start: Position): Unit = {
    guard.begin()
    if (state.isEmpty) clear(start)
    state = Some(State(start))
  }

  /** Returns new tasks, which read from `from` on. */
  def tasks(from: Position): Seq[TaskRanges] = {
    batches.begin(from)
    val tasks = batches.tasks(from)
    state = Some(current.copy(nextCheck = nanos() + batches.staleInterval.fold(0L)(_.toNanos)))
    guard.planned()
    tasks
  }

  /** Returns the end of an epoch that all tasks have ended.
    *
    * @param unread
    *   the parts of its ranges that each task has not read
    * @param skipped
    *   the reports of the items that each task has skipped
    */
  def ended(unread: Seq[SplitRange], skipped: Seq[Report]): Position = {
    val now = current
    if (guard.ended()) {
      coordinator.reported(skipped)
      val end = batches.end(unread)
      // Without a range, the begin of the batch has moved the position to this end, which may be the end of a leg.
      if (batches.isRead(unread) || batches.isEmpty && end != now.committed) state = Some(now.copy(ended = Some(end)))
      end
    } else now.committed
  }

  /** Records that Spark has committed an epoch. */
  def committed(end: Position): Unit = {
    state = Some(current.copy(committed = end))
    guard.committed()
    coordinator.committed(end)
  }

  /** True if new tasks replace the tasks now. Any thread may call this method.
    *
    * A source may be stale when its tasks are planned, for example during a drain. The interval limits the number of
    * plans for such a source.
    */
  def needTasks(): Boolean = guard.replace(state.exists { now =>
    now.ended.contains(now.committed) || nanos() - now.nextCheck >= 0 && batches.isStale
  })

  private def current: State = state.getOrElse(throw new IllegalStateException("an epoch ended that did not begin"))

  /** Removes the ends of uncommitted epochs, and of uncommitted batches without rows. Spark would otherwise use such an
    * end for the next epoch with the same number: an end after `start` skips rows, and the end `start` repeats the rows
    * of the committed epoch. Later in the run, only replaced tasks log such an end, which is `start`. Spark has this end
    * in memory and would not log another end, so the end must stay.
    */
  private def clear(start: Position): Unit = {
    val uncommitted      = log.uncommitted()
    val (epochs, others) =
      uncommitted.filterNot(log.end(_).map(coordinator.position).contains(start)).partition(log.isEpoch)
    if (others.nonEmpty) throw rejected(others)
    epochs.foreach { epoch =>
      logger.warn(
        s"The query reads rows of epoch $epoch again, because the query stopped before the commit of the epoch."
      )
    }
    uncommitted.foreach(log.remove)
  }
}

private object Epochs {

  private val logger = LoggerFactory.getLogger(classOf[Epochs])

  /** The state of a run.
    *
    * @param committed
    *   the end of the last committed epoch, or the start
    * @param ended
    *   the end of an epoch at which all ranges with an end were read, or which the begin of a batch without ranges has
    *   set
    * @param nextCheck
    *   the earliest time of a check for changes of the source, in nanoseconds
    */
  final private case class State(committed: Position, ended: Option[Position] = None, nextCheck: Long = 0L)
}
