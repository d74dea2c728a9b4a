// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.slots

import scala.annotation.tailrec
import scala.collection.mutable

import splice.source.options.SlotAssigner

/** Which slot reads which split. Pure: the same arguments give the same assignment (FLIP-537). */
private[splice] object Assigner {

  /** Assigns every split to a slot. With another number of slots, as few splits move as the assigner allows.
    *
    * @param before
    *   the assignment so far; splits that are not in `costs` drop out
    * @param costs
    *   the expected cost of every split
    * @param slotsBefore
    *   the number of slots of `before`
    */
  def assign(
      assigner: SlotAssigner,
      before: Map[String, Int],
      costs: Map[String, Long],
      slots: Int,
      slotsBefore: Int
  ): Map[String, Int] = {
    val kept      = before.filter { case (split, slot) => costs.contains(split) && slot < slots }
    val isResized = slotsBefore != slots
    assigner match {
      case SlotAssigner.Hash       => costs.map { case (split, _) => split -> hashed(split, slots) }
      case SlotAssigner.RoundRobin =>
        val all = round(kept, costs.keysIterator.filterNot(kept.contains).toSeq, slots)
        if (isResized) level(all, _ => true, slots) else all
      case SlotAssigner.Balanced =>
        val all = Balance.assign(kept, costs, slots)
        // Costs of idle splits are not known, so only their number can be even.
        if (isResized) level(all, costs(_) <= 0, slots) else all
    }
  }

  /** Leaves splits where they are and gives each new one to the slot that has fewest, lowest number first. */
  private[coordinator] def round(kept: Map[String, Int], fresh: Seq[String], slots: Int): Map[String, Int] = {
    val counts = new Array[Int](slots)
    kept.valuesIterator.foreach(slot => counts(slot) += 1)
    val load = mutable.TreeSet.from(counts.indices.map(slot => counts(slot) -> slot))
    kept ++ fresh.sorted(SplitNames).map { split =>
      val (count, slot) = load.head
      load.subtractOne(count -> slot)
      load.addOne(count + 1  -> slot)
      split -> slot
    }
  }

  /** Moves splits from the slots that have most splits to those that have fewest, until the numbers differ by at most one. */
  private def level(assignment: Map[String, Int], isMovable: String => Boolean, slots: Int): Map[String, Int] = {
    val counts = new Array[Int](slots)
    assignment.valuesIterator.foreach(slot => counts(slot) += 1)
    val held = Array.fill(slots)(List.empty[String])
    assignment.keysIterator.filter(isMovable).toSeq.sorted(SplitNames).foreach { split =>
      held(assignment(split)) ::= split
    }
    val moved = mutable.Map.empty[String, Int]

    @tailrec def go(): Unit = {
      val from = counts.indices.filter(held(_).nonEmpty).maxByOption(counts(_))
      val to   = counts.indices.minBy(counts(_))
      from match {
        case Some(full) if counts(full) - counts(to) > 1 =>
          moved(held(full).head) = to
          held(full) = held(full).tail
          counts(full) -= 1
          counts(to) += 1
          go()
        case _ => ()
      }
    }
    go()
    assignment ++ moved
  }

  private def hashed(split: String, slots: Int): Int = {
    val (topic, number) = SplitNames.parts(split)
    Math.floorMod(topic.hashCode.toLong * 31 + number, slots.toLong).toInt
  }
}

/** Names in the order in which people count: `t-2` before `t-10`. */
private[coordinator] object SplitNames extends Ordering[String] {

  /** What stands before the number that ends a name, and the number; -1 without one. */
  def parts(name: String): (String, Long) = {
    val digits = name.reverseIterator.takeWhile(_.isDigit).length
    (name.dropRight(digits), name.takeRight(digits).toLongOption.getOrElse(-1L))
  }

  override def compare(a: String, b: String): Int = {
    val (topicA, numberA) = parts(a)
    val (topicB, numberB) = parts(b)
    val byTopic           = topicA.compareTo(topicB)
    if (byTopic != 0) byTopic
    else if (numberA != numberB) java.lang.Long.compare(numberA, numberB)
    else a.compareTo(b)
  }
}
