// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.slots

import scala.annotation.tailrec
import scala.collection.mutable

import splice.source.{SplitRange, TaskRanges}

/** Cuts ranges where the rules require it, so that several tasks read one split.
  *
  * The functions are pure and depend only on the rules and on the weights of the ranges, so a replay cuts at the same
  * offsets. No task has two ranges of one split.
  *
  * Tasks that share the ranges of one slot have no slot. Each of these tasks uses any idle client of its executor.
  * Therefore an executor opens at most as many clients as it runs tasks at a time, regardless of the number of pieces.
  */
private[coordinator] object TaskCut {

  /** @param shared the ranges of each slot that has ranges */
  def apply(rules: SlotRules, shared: Seq[(Int, IndexedSeq[SplitRange])]): Seq[TaskRanges] = {
    val fair    = rules.cut.shareRows.fold(shared)(fairShares(shared, rules.slots, _))
    val slotted = fair.sortBy(_._1).map { case (slot, ranges) => TaskRanges(Some(slot), ranges) }
    val enough  = rules.cut.minTasks.fold(slotted)(atLeast(slotted, rules.slots, _))
    rules.cut.maxRows.fold(enough)(max => enough.flatMap(atMost(_, max)))
  }

  /** Fills each slot up to its fair share of the rows, with pieces of the ranges that are larger than a fair share. */
  private def fairShares(
      shared: Seq[(Int, IndexedSeq[SplitRange])],
      slots: Int,
      least: Long
  ): Seq[(Int, IndexedSeq[SplitRange])] = {
    val all                  = shared.flatMap(_._2)
    val fair                 = math.max(ceil(weight(all), slots.toLong), least)
    def large(r: SplitRange) = r.cuttable && r.weight > fair && r.weight >= 2 * least
    if (!all.exists(large)) shared
    else {
      val held = Array.fill(slots)(Vector.empty[SplitRange])
      val load = new Array[Long](slots)
      shared.foreach { case (slot, ranges) =>
        held(slot) = ranges.filterNot(large).toVector
        load(slot) = weight(held(slot))
      }
      all.filter(large).foreach { range =>
        val parts = shares(range.weight, load.map(fair - _), least)
        parts.indices.foreach(slot => load(slot) += parts(slot))
        val taken = parts.indices.filter(parts(_) > 0)
        taken.zip(range.pieces(taken.map(parts(_)))).foreach { case (slot, piece) => held(slot) :+= piece }
      }
      held.indices.filter(held(_).nonEmpty).map(slot => slot -> held(slot))
    }
  }

  /** Divides `rows` among the slots. Each part is at most the `room` of its slot, and at least `least` unless fewer
    * rows remain. The slot with the most free rows also gets the remainder.
    */
  private def shares(rows: Long, room: Array[Long], least: Long): Array[Long] = {
    val parts = new Array[Long](room.length)
    val left  = room.indices.foldLeft(rows) { (left, slot) =>
      val part = math.min(left, room(slot))
      if (part < math.min(least, left)) left
      else {
        parts(slot) = part
        left - part
      }
    }
    if (left > 0) parts(room.indices.maxBy(slot => room(slot) - parts(slot))) += left
    parts
  }

  /** Separates ranges that share a slot, then cuts ranges, until there are `tasks` tasks or one task per row. A
    * separated range gets a slot without ranges, if such a slot exists.
    */
  private def atLeast(slotted: Seq[TaskRanges], slots: Int, tasks: Int): Seq[TaskRanges] =
    if (slotted.isEmpty || slotted.size >= tasks) slotted
    else {
      val free  = mutable.Queue.from((0 until slots).filterNot(slotted.flatMap(_.slot).toSet))
      val apart = separate(slotted.toVector, free, tasks)
      if (apart.size >= tasks) apart else cut(apart, tasks)
    }

  @tailrec private def separate(all: Vector[TaskRanges], free: mutable.Queue[Int], tasks: Int): Vector[TaskRanges] =
    all.indices.filter(all(_).ranges.size > 1).maxByOption(all(_).weight) match {
      case Some(i) if all.size < tasks =>
        val TaskRanges(slot, ranges) = all(i)
        val heaviest                 = ranges.maxBy(_.weight)
        val rest                     = TaskRanges(slot, ranges.filterNot(_ eq heaviest))
        val task                     = TaskRanges(Option.when(free.nonEmpty)(free.dequeue()), IndexedSeq(heaviest))
        separate(all.updated(i, rest) :+ task, free, tasks)
      case _ => all
    }

  private def cut(apart: Vector[TaskRanges], tasks: Int): Seq[TaskRanges] = {
    val parts                 = Array.fill(apart.size)(1)
    def piece(i: Int): Double = apart(i).weight.toDouble / parts(i)
    val queue                 = mutable.PriorityQueue.from(apart.indices.filter(apart(_).ranges.forall(_.cuttable)))(
      Ordering.by((i: Int) => (piece(i), -i))
    )
    var count = apart.size
    while (count < tasks && queue.nonEmpty) {
      val i = queue.dequeue()
      if (parts(i) < apart(i).weight) {
        parts(i) += 1
        count += 1
        queue.enqueue(i)
      }
    }
    apart.zip(parts).flatMap { case (task, n) =>
      if (n == 1) Seq(task)
      else task.ranges.head.pieces(even(task.weight, n)).map(piece => TaskRanges(None, IndexedSeq(piece)))
    }
  }

  /** Divides the ranges of a task among as many tasks as needed, so that no task has more than `max` rows. */
  private def atMost(task: TaskRanges, max: Long): Seq[TaskRanges] =
    if (task.weight <= max) Seq(task)
    else {
      val pieces = task.ranges.flatMap { range =>
        if (range.weight > max && range.cuttable) range.pieces(even(range.weight, ceil(range.weight, max).toInt))
        else Seq(range)
      }
      // The pieces of a split are adjacent, so a comparison with the last piece is sufficient.
      val packed = pieces.foldLeft(List.empty[(Long, Vector[SplitRange])]) {
        case ((weight, last) :: done, piece) if weight + piece.weight <= max && last.last.splitId != piece.splitId =>
          (weight + piece.weight, last :+ piece) :: done
        case (done, piece) => (piece.weight, Vector(piece)) :: done
      }
      packed match {
        case Seq(_) => Seq(task)
        case _      => packed.reverse.map { case (_, ranges) => TaskRanges(None, ranges) }
      }
    }

  private def even(weight: Long, parts: Int): Seq[Long] = (0 until parts).map(i =>
    weight / parts + (if (i < weight % parts) 1L else 0L)
  )

  private def weight(ranges: Iterable[SplitRange]): Long = ranges.iterator.map(_.weight).sum

  private def ceil(a: Long, b: Long): Long = (a + b - 1) / b
}
