// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal

import java.time.Duration

import org.slf4j.LoggerFactory

import splice.coordinator.internal.slots.{Assigner, SlotRules}
import splice.source.internal.legs.{LegIdentity, SkippingLeg}
import splice.source.runtime.OpenEnded
import splice.source.{Position, SplitRange, TaskRanges}

/** Plans batches of Spark's real-time mode and tasks of continuous mode. Batches of real-time mode and epochs of
  * continuous mode end at a time instead of an offset. One thread at a time calls all methods except [[isStale]].
  *
  * No slot layout is stored. An interrupted batch is planned again from its start, and its rows are read again.
  *
  * @param enumerator
  *   the enumerator of the source, evaluated at each call
  * @param rules
  *   the number of tasks, and the assignment of splits to tasks
  * @param available
  *   the number of tasks of this source that the executors can run at the same time now. The duration of a batch is
  *   measured from its start, so a task that waited for another task would read nothing in any batch
  */
final private[splice] class RealTimeBatches private[splice] (
    enumerator: => OpenEnded[Position],
    isMember: Position => String => Boolean,
    rules: () => SlotRules,
    available: () => Int
) {

  private var settled    = Option.empty[(Position, Position)]
  private var assignment = Map.empty[String, Int]
  private var slots      = 0
  private var hasEnds    = false
  private var hasRanges  = true

  @volatile private var running = Option.empty[OpenEnded[Position]]

  /** Returns a leg that is to be read and does not support these batches, or None if all legs support them. */
  def unsupportedLeg: Option[LegIdentity] = enumerator.unsupportedLeg

  /** Returns a leg that is to be read, that a hand-over counts, and that may skip other rows in a second read. */
  def skippingLeg: Option[SkippingLeg] = enumerator.skippingLeg

  /** Prepares the batch that begins at `from`. */
  def begin(from: Position): Unit = {
    val source = enumerator
    settled = Some(from -> source.settle(from))
    hasEnds = false
    running = Some(source)
  }

  /** True if the source has changed since the batch began. Any thread may call this method. */
  def isStale: Boolean = running.exists(_.isStale)

  /** Returns the minimum interval between two checks of a task for a stale batch, or None if the splits of the source
    * never change.
    */
  def staleInterval: Option[Duration] = enumerator.staleInterval

  /** Returns the tasks of the batch that begins at `from`. If there is nothing to read, the result is one task without
    * ranges. Spark would repeat a batch without tasks in a loop.
    */
  def tasks(from: Position): Seq[TaskRanges] = {
    val at  = start(from)
    val all = enumerator.open(at)
    hasEnds = all.exists(!_.isOpen)
    hasRanges = all.nonEmpty
    assign(at, all)
    val shared = all.filter(_.slotted).groupBy(range => assignment(range.splitId)).toSeq.sortBy(_._1)
    val tasks  = shared.map { case (slot, share) => TaskRanges(Some(slot), share.toIndexedSeq) } ++
      dealt(all.filterNot(_.slotted)).map(TaskRanges(None, _))
    if (tasks.isEmpty) Seq(TaskRanges(None, IndexedSeq.empty)) else tasks
  }

  /** The number of slots of the last batch of a log that was planned, or None if this run has planned none. */
  def lastSlots: Option[Int] = Option.when(assignment.nonEmpty)(slots)

  /** Distributes ranges without a slot, in their order, over at most as many tasks as there are slots. Each range is
    * added to the task with the least weight. Spark starts all tasks of a batch at the same time.
    */
  private def dealt(ranges: Seq[SplitRange]): Seq[IndexedSeq[SplitRange]] = {
    val tasks = Array.fill(math.min(slots, ranges.size))(Vector.empty[SplitRange])
    val loads = new Array[Long](tasks.length)
    ranges.foreach { range =>
      val least = loads.indices.minBy(loads(_))
      tasks(least) :+= range
      loads(least) += math.max(range.weight, 1L)
    }
    tasks.toSeq
  }

  /** Returns the end of the batch, or of an epoch.
    *
    * @param unread
    *   the parts of its ranges that each task has not read
    */
  def end(unread: Seq[SplitRange]): Position = {
    val (_, at) = settled.getOrElse(throw new IllegalStateException("a batch ended that did not begin"))
    enumerator.reached(at, unread)
  }

  /** True if the tasks of the batch have ranges with an end, and have read all of these ranges to their ends. */
  def isRead(unread: Seq[SplitRange]): Boolean = hasEnds && unread.forall(_.isOpen)

  /** True if the tasks of the batch have no range. */
  def isEmpty: Boolean = !hasRanges

  private def start(from: Position): Position = settled.collect { case (`from`, at) => at }.getOrElse {
    begin(from)
    start(from)
  }

  private def assign(at: Position, ranges: Seq[SplitRange]): Unit = {
    val all  = rules()
    val most = math.max(available(), 1)
    val now  = if (all.slots > most) all.copy(slots = most) else all
    if (now.slots < all.slots && slots != now.slots)
      RealTimeBatches.logger.warn(
        s"${now.slots} tasks read the splits instead of ${all.slots} ('slots'), because the executors cannot run more tasks of this source at the same time"
      )
    val known = ranges.iterator.filter(_.slotted).map(range => range.splitId -> range.weight).toMap
    val kept  = assignment.keysIterator.filter(isMember(at)).map(_ -> 1L).toMap
    assignment =
      Assigner.assign(now.assigner, assignment, kept ++ known, now.slots, if (slots == 0) now.slots else slots)
    slots = now.slots
  }
}

private object RealTimeBatches {
  private val logger = LoggerFactory.getLogger(classOf[RealTimeBatches])
}
