// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.slots

import scala.annotation.tailrec
import scala.collection.mutable

/** Distributes splits so that slots have about the same load, with as few moves as possible. Pure functions. */
private[coordinator] object Balance {

  /** Factor by which the load of the fullest slot may exceed the least possible load before a split is moved. */
  private val Tolerance = 1.05

  /** Keeps assigned splits in their slots, and adds new splits to the slots with the least load, heaviest first. Then
    * moves splits to restore the balance. Uses an assignment from scratch if this assignment is better by more than
    * [[Tolerance]].
    *
    * @param kept
    *   the current slots of splits; all of these splits are in `costs`
    */
  def assign(kept: Map[String, Int], costs: Map[String, Long], slots: Int): Map[String, Int] = {
    val fresh = fill(Map.empty, costs, slots)
    if (kept.isEmpty) fresh
    else {
      val moved = relieve(fill(kept, costs, slots), costs, slots)
      if (fullest(moved, costs, slots) <= fullest(fresh, costs, slots) * Tolerance) moved
      else rename(fresh, kept, slots)
    }
  }

  /** Renumbers the shares of an assignment so that most splits stay in their slots. */
  private def rename(fresh: Map[String, Int], kept: Map[String, Int], slots: Int): Map[String, Int] = {
    val common = kept.toSeq.map { case (split, slot) => fresh(split) -> slot }.groupMapReduce(identity)(_ => 1)(_ + _)
    val names  = mutable.Map.empty[Int, Int]
    val taken  = mutable.Set.empty[Int]
    common.toSeq.sortBy { case (pair, count) => (-count, pair) }.foreach { case ((share, slot), _) =>
      if (!names.contains(share) && taken.add(slot)) names(share) = slot
    }
    names ++= (0 until slots).filterNot(names.contains).zip((0 until slots).filterNot(taken))
    fresh.map { case (split, share) => split -> names(share) }
  }

  /** Returns the load of the fullest slot under an assignment, and a lower bound of this load under any assignment. */
  def extremes(assignment: Map[String, Int], cost: String => Long, slots: Int): (Long, Long) = {
    val loads    = new Array[Long](slots)
    var heaviest = 0L
    assignment.foreachEntry { (split, slot) =>
      val load = cost(split)
      loads(slot) += load
      if (load > heaviest) heaviest = load
    }
    (loads.max, math.max(loads.sum / slots, heaviest))
  }

  /** Returns the load of the fullest slot under an assignment. */
  def fullest(assignment: String => Int, costs: Map[String, Long], slots: Int): Long =
    loads(costs.iterator.map { case (split, cost) => assignment(split) -> cost }, slots).max

  /** Returns a lower bound for the load of the fullest slot under any assignment. */
  def least(costs: Map[String, Long], slots: Int): Long =
    math.max(costs.valuesIterator.sum / slots, costs.valuesIterator.maxOption.getOrElse(0L))

  private def loads(splits: Iterator[(Int, Long)], slots: Int): Array[Long] = {
    val loads = new Array[Long](slots)
    splits.foreach { case (slot, cost) => loads(slot) += cost }
    loads
  }

  private def fill(kept: Map[String, Int], costs: Map[String, Long], slots: Int): Map[String, Int] = {
    val full   = loads(kept.iterator.map { case (split, slot) => slot -> costs(split) }, slots)
    val counts = new Array[Int](slots)
    kept.valuesIterator.foreach(slot => counts(slot) += 1)
    val queue         = mutable.TreeSet.from(full.indices.map(slot => (full(slot), counts(slot), slot)))
    val (idle, heavy) = costs.iterator.filterNot { case (split, _) => kept.contains(split) }.toSeq.partition(_._2 <= 0)
    val added         = heavy.sortBy(_._1)(SplitNames).sortBy(-_._2).map { case (split, cost) =>
      val least @ (load, count, slot) = queue.head
      queue.subtractOne(least)
      queue.addOne((load + cost, count + 1, slot))
      split -> slot
    }
    // Splits that have nothing to read now may have rows later, so they are distributed by number.
    Assigner.round(kept ++ added, idle.map(_._1), slots)
  }

  /** Moves splits from the fullest slot to the emptiest slot, until no move noticeably reduces the load of the fullest
    * slot.
    */
  private def relieve(assignment: Map[String, Int], costs: Map[String, Long], slots: Int): Map[String, Int] = {
    val bound = (least(costs, slots) * Tolerance).toLong
    val held  = Array.fill(slots)(mutable.TreeSet.empty[(Long, String)])
    assignment.foreach { case (split, slot) => if (costs(split) > 0) held(slot) += costs(split) -> split }
    val load  = loads(assignment.iterator.map { case (split, slot) => slot -> costs(split) }, slots)
    val moved = mutable.Map.empty[String, Int]

    @tailrec def go(left: Int): Unit = {
      val (from, to) = (load.indices.maxBy(load(_)), load.indices.minBy(load(_)))
      val gap        = load(from) - load(to)
      // Selects the split whose cost is closest to half of the gap. A split that costs the whole gap or more gains
      // nothing.
      val half   = (gap / 2, "")
      val choice = (held(from).maxBefore(half) ++ held(from).minAfter(half)).filter(_._1 < gap)
      if (left > 0 && load(from) > bound && choice.nonEmpty) {
        val best @ (cost, split) = choice.minBy { case (cost, split) => (math.abs(cost - gap / 2), split) }
        held(from).subtractOne(best)
        held(to).addOne(best)
        load(from) -= cost
        load(to) += cost
        moved(split) = to
        go(left - 1)
      }
    }
    go(2 * assignment.size)
    assignment ++ moved
  }
}
