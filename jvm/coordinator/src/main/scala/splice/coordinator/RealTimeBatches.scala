// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import java.time.Duration

import org.slf4j.LoggerFactory

import splice.coordinator.slots.{Assigner, SlotRules}
import splice.source.internal.legs.LegIdentity
import splice.source.runtime.OpenEnded
import splice.source.{Position, SplitRange, TaskRanges}

/** Batches of Spark's real-time mode, which have a time instead of an end, and the tasks of continuous mode, whose epochs have one. One thread
  * at a time calls all methods but [[isStale]].
  *
  * No layout of slots is stored: a batch that was interrupted is planned again from its start, and its rows come again.
  *
  * @param enumerator
  *   of the source, evaluated at each call
  * @param rules
  *   how many tasks there are, and how splits are assigned to them
  * @param available
  *   how many tasks the executors can run at the same time now. The time of a batch begins at its start, so a task that waited for another one
  *   would read nothing, batch after batch
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

  @volatile private var running = Option.empty[OpenEnded[Position]]

  /** A leg that is to be read and does not support these batches. */
  def unsupportedLeg: Option[LegIdentity] = enumerator.unsupportedLeg

  /** Prepares the batch that begins at a position. */
  def begin(from: Position): Unit = {
    val source = enumerator
    settled = Some(from -> source.settle(from))
    hasEnds = false
    running = Some(source)
  }

  /** Whether the source has changed since the batch began. Any thread may call it. */
  def isStale: Boolean = running.exists(_.isStale)

  /** How often a task may check whether its batch is stale. */
  def staleInterval: Option[Duration] = enumerator.staleInterval

  /** The tasks of the batch that begins at `from`. Without anything to read, there is one task without ranges: Spark would begin a batch
    * without tasks again and again.
    */
  def tasks(from: Position): Seq[TaskRanges] = {
    val at  = start(from)
    val all = enumerator.open(at)
    hasEnds = all.exists(!_.isOpen)
    assign(at, all)
    val shared = all.filter(_.slotted).groupBy(range => assignment(range.splitId)).toSeq.sortBy(_._1)
    val tasks  = shared.map { case (slot, own) => TaskRanges(Some(slot), own.toIndexedSeq) } ++
      dealt(all.filterNot(_.slotted)).map(TaskRanges(None, _))
    if (tasks.isEmpty) Seq(TaskRanges(None, IndexedSeq.empty)) else tasks
  }

  /** Ranges without a slot, in their order and in as many tasks as there are slots: Spark begins all tasks of a batch at the same time. */
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

  /** The end of the batch, or of an epoch.
    *
    * @param unread
    *   of each task, what it has not read of its ranges
    */
  def end(unread: Seq[SplitRange]): Position = {
    val (_, at) = settled.getOrElse(throw new IllegalStateException("a batch ended that did not begin"))
    enumerator.reached(at, unread)
  }

  /** Whether the tasks of the batch have ranges with an end, and have read all of them. */
  def isRead(unread: Seq[SplitRange]): Boolean = hasEnds && unread.forall(_.isOpen)

  private def start(from: Position): Position = settled.collect { case (`from`, at) => at }.getOrElse {
    begin(from)
    start(from)
  }

  private def assign(at: Position, ranges: Seq[SplitRange]): Unit = {
    val all  = rules()
    val most = math.max(available(), 1)
    val now  = if (all.slots > most) all.copy(slots = most) else all
    if (now.slots < all.slots && slots != now.slots)
      RealTimeBatches.log.warn(
        s"${now.slots} tasks read the splits instead of ${all.slots} ('slots'), because the executors can run no more at the same time"
      )
    val known = ranges.iterator.filter(_.slotted).map(range => range.splitId -> range.weight).toMap
    val kept  = assignment.keysIterator.filter(isMember(at)).map(_ -> 1L).toMap
    assignment =
      Assigner.assign(now.assigner, assignment, kept ++ known, now.slots, if (slots == 0) now.slots else slots)
    slots = now.slots
  }
}

private object RealTimeBatches {
  private val log = LoggerFactory.getLogger(classOf[RealTimeBatches])
}
