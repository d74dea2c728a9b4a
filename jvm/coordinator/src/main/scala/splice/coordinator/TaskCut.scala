// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import scala.annotation.tailrec
import scala.collection.mutable

import splice.source.SplitRange

/** The ranges of one slot. */
final private[coordinator] case class SlotRanges(slot: Int, ranges: IndexedSeq[SplitRange]) {
  def weight: Long = ranges.iterator.map(_.weight).sum
}

/** Cuts ranges, so that several tasks read one split, where the rules ask for it.
  *
  * Pure, and made from the ranges' weights alone, so that a replay cuts in the same places. No task has two ranges of one split.
  */
private[coordinator] object TaskCut {

  /** @param shared a task per slot that has ranges */
  def apply(rules: SlotRules, shared: Seq[SlotRanges]): Seq[SlotRanges] = {
    val fair    = rules.cut.shareRows.fold(shared)(fairShares(shared, rules.slots, _))
    val enough  = rules.cut.minTasks.fold(fair)(atLeast(fair, rules.slots, _))
    val bounded = rules.cut.maxRows.fold(enough)(max => enough.flatMap(atMost(_, max)))
    bounded.sortBy(_.slot)
  }

  /** Fills slots up to what each would have if rows could be shared evenly, with pieces of the ranges that are more than that. */
  private def fairShares(shared: Seq[SlotRanges], slots: Int, least: Long): Seq[SlotRanges] = {
    val fair                 = math.max(ceil(shared.iterator.map(_.weight).sum, slots.toLong), least)
    def large(r: SplitRange) = r.cuttable && r.weight > fair && r.weight >= 2 * least
    if (!shared.exists(_.ranges.exists(large))) shared
    else {
      val held = Array.fill(slots)(Vector.empty[SplitRange])
      val load = new Array[Long](slots)
      shared.foreach { task =>
        held(task.slot) = task.ranges.filterNot(large).toVector
        load(task.slot) = held(task.slot).iterator.map(_.weight).sum
      }
      shared.iterator.flatMap(_.ranges).filter(large).foreach { range =>
        val parts = shares(range.weight, load.map(fair - _), least)
        parts.indices.foreach(slot => load(slot) += parts(slot))
        val taken = parts.indices.filter(parts(_) > 0)
        taken.zip(range.pieces(taken.map(parts(_)))).foreach { case (slot, piece) => held(slot) :+= piece }
      }
      held.indices.filter(held(_).nonEmpty).map(slot => SlotRanges(slot, held(slot)))
    }
  }

  /** How much of `rows` each slot gets: no more than its room, no less than `least`; what is left over goes where most room is. */
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

  /** Gives ranges that share a slot slots of their own, then cuts, until there are so many tasks or rows. */
  private def atLeast(shared: Seq[SlotRanges], slots: Int, tasks: Int): Seq[SlotRanges] =
    if (shared.isEmpty || shared.size >= tasks) shared
    else {
      val free  = mutable.Queue.from((0 until slots).filterNot(shared.map(_.slot).toSet))
      val apart = unshare(shared.toVector, free, tasks)
      if (apart.size >= tasks) apart else cut(apart, free, tasks)
    }

  @tailrec private def unshare(shared: Vector[SlotRanges], free: mutable.Queue[Int], tasks: Int): Vector[SlotRanges] = {
    val full = shared.indices.filter(shared(_).ranges.size > 1).maxByOption(shared(_).weight)
    full match {
      case Some(i) if shared.size < tasks && free.nonEmpty =>
        val SlotRanges(slot, ranges) = shared(i)
        val heaviest                 = ranges.maxBy(_.weight)
        val rest                     = SlotRanges(slot, ranges.filterNot(_ eq heaviest))
        unshare(shared.updated(i, rest) :+ SlotRanges(free.dequeue(), IndexedSeq(heaviest)), free, tasks)
      case _ => shared
    }
  }

  private def cut(apart: Vector[SlotRanges], free: mutable.Queue[Int], tasks: Int): Seq[SlotRanges] = {
    val parts                 = Array.fill(apart.size)(1)
    def piece(i: Int): Double = apart(i).weight.toDouble / parts(i)
    val can   = apart.indices.filter(i => apart(i).ranges.forall(_.cuttable) && apart(i).ranges.size == 1)
    val queue = mutable.PriorityQueue.from(can)(Ordering.by((i: Int) => (piece(i), -i)))
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
      else
        task.ranges.head.pieces(even(task.weight, n)).zipWithIndex.map { case (piece, i) =>
          SlotRanges(if (i == 0 || free.isEmpty) task.slot else free.dequeue(), IndexedSeq(piece))
        }
    }
  }

  /** Parts what a slot has among as many tasks of that slot as it takes. */
  private def atMost(task: SlotRanges, max: Long): Seq[SlotRanges] =
    if (task.weight <= max) Seq(task)
    else {
      val pieces = task.ranges.flatMap { range =>
        if (range.weight > max && range.cuttable) range.pieces(even(range.weight, ceil(range.weight, max).toInt))
        else Seq(range)
      }
      // The pieces of a split come one after another.
      val packed = pieces.foldLeft(List.empty[(Long, Vector[SplitRange])]) {
        case ((weight, last) :: done, piece) if weight + piece.weight <= max && last.last.splitId != piece.splitId =>
          (weight + piece.weight, last :+ piece) :: done
        case (done, piece) => (piece.weight, Vector(piece)) :: done
      }
      packed.reverse.map { case (_, own) => SlotRanges(task.slot, own) }
    }

  private def even(weight: Long, parts: Int): Seq[Long] = (0 until parts).map(i =>
    weight / parts + (if (i < weight % parts) 1L else 0L)
  )

  private def ceil(a: Long, b: Long): Long = (a + b - 1) / b
}
