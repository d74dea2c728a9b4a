// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import splice.source._

/** Batches of Spark's real-time mode, which have a time instead of an end. Called from the query's thread.
  *
  * No layout of slots is stored: a batch that was interrupted is planned again from its start, and its rows come again.
  *
  * @param enumerator
  *   of the source, evaluated at each call
  * @param rules
  *   how many tasks there are, and how splits are assigned to them
  */
final class RealTimeBatches private[coordinator] (
    enumerator: => OpenEnded[Position],
    isMember: Position => String => Boolean,
    rules: () => SlotRules
) {

  private var settled    = Option.empty[(Position, Position)]
  private var assignment = Map.empty[String, Int]
  private var slots      = 0

  /** A leg that is to be read and does not support these batches. */
  def unsupportedLeg: Option[LegIdentity] = enumerator.unsupportedLeg

  /** Prepares the batch that begins at a position. */
  def begin(from: Position): Unit = settled = Some(from -> enumerator.settle(from))

  /** The tasks of the batch that begins at `from`. Without anything to read, there is one task without ranges: Spark would begin a batch
    * without tasks again and again.
    */
  def tasks(from: Position): Seq[TaskRanges] = {
    val at  = start(from)
    val all = enumerator.open(at)
    // A partition is read on only after the ranges with an end, and those end the batch early.
    val bounded = all.filterNot(_.isOpen)
    val now     = if (bounded.nonEmpty) bounded else all
    assign(at, now)
    val shared = now.filter(_.slotted).groupBy(range => assignment(range.splitId)).toSeq.sortBy(_._1)
    val tasks  = shared.map { case (slot, own) => TaskRanges(Some(slot), own.toIndexedSeq) } ++
      dealt(now.filterNot(_.slotted)).map(TaskRanges(None, _))
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

  /** The end of the batch.
    *
    * @param unread
    *   of each task, what it has not read of its ranges
    */
  def end(unread: Seq[SplitRange]): Position = {
    val (_, at) = settled.getOrElse(throw new IllegalStateException("a batch ended that did not begin"))
    enumerator.reached(at, unread ++ waiting(at))
  }

  // Open ranges of a batch that reads ranges with an end first.
  private def waiting(at: Position): Seq[SplitRange] = {
    val (open, bounded) = enumerator.open(at).partition(_.isOpen)
    if (bounded.isEmpty) Nil else open
  }

  private def start(from: Position): Position = settled.collect { case (`from`, at) => at }.getOrElse {
    begin(from)
    start(from)
  }

  private def assign(at: Position, ranges: Seq[SplitRange]): Unit = {
    val now   = rules()
    val known = ranges.iterator.filter(_.slotted).map(range => range.splitId -> range.weight).toMap
    val kept  = assignment.keysIterator.filter(isMember(at)).map(_ -> 1L).toMap
    assignment =
      Assigner.assign(now.assigner, assignment, kept ++ known, now.slots, if (slots == 0) now.slots else slots)
    slots = now.slots
  }
}
