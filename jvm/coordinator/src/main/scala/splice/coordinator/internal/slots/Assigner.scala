// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.slots

import scala.annotation.tailrec
import scala.collection.mutable

import splice.source.options.SlotAssigner

/** Assigns splits to slots. Pure function: the same arguments give the same assignment (FLIP-537). */
private[splice] object Assigner {

  /** Assigns every split to a slot. If the number of slots has changed, as few splits move as the assigner allows.
    *
    * @param before
    *   the previous assignment; splits that are not in `costs` are removed
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
        // Idle splits have no measured cost, so only their number per slot can be balanced.
        if (isResized) level(all, costs(_) <= 0, slots) else all
    }
  }

  /** Keeps assigned splits in their slots. Assigns each new split to the slot with the fewest splits, and to the lowest
    * slot number among equals.
    */
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

  /** Moves splits from the slots with the most splits to the slots with the fewest, until the numbers differ by at most
    * one. Only splits that `isMovable` selects are moved.
    */
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

/** Natural order of names: `t-2` precedes `t-10`. */
private[coordinator] object SplitNames extends Ordering[String] {

  /** Returns the text before the trailing number of a name, and the number. The number is -1 if the name does not end
    * with a number.
    */
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
