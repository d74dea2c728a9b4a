// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import scala.collection.mutable

import splice.source.SlotAssigner

/** Which slot reads which split. Pure: the same arguments give the same assignment (FLIP-537). */
private[splice] object Assigner {

  /** Gives every split a slot.
    *
    * @param before
    *   where splits are that may stay there; others of it drop out
    * @param costs
    *   every split there is, with what it is expected to cost
    */
  def assign(
      assigner: SlotAssigner,
      before: Map[String, Int],
      costs: Map[String, Long],
      slots: Int
  ): Map[String, Int] = {
    val kept = before.filter { case (split, _) => costs.contains(split) }
    assigner match {
      case SlotAssigner.Hash       => costs.map { case (split, _) => split -> hashed(split, slots) }
      case SlotAssigner.RoundRobin => round(kept, costs.keysIterator.filterNot(kept.contains).toSeq, slots)
      case SlotAssigner.Balanced   => Balance.assign(kept, costs, slots)
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
