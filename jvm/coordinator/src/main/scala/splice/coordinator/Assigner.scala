// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import scala.collection.immutable.SortedMap
import scala.collection.mutable

/** Which slot reads which split. Pure: the same arguments give the same assignment (FLIP-537). */
private[splice] object Assigner {

  /** Leaves every split where it was and gives each new one to the slot that has fewest, lowest number first. */
  def assign(before: SortedMap[String, Int], splits: Iterable[String], slots: Int): SortedMap[String, Int] = {
    val load   = mutable.TreeSet.empty[(Int, Int)]
    val counts = before.values.groupMapReduce(identity)(_ => 1)(_ + _)
    (0 until slots).foreach(slot => load += (counts.getOrElse(slot, 0) -> slot))
    val added = splits.toSeq.distinct.filterNot(before.contains).sorted(SplitNames).map { split =>
      val (count, slot)     = load.head
      load -= (count     -> slot)
      load += (count + 1 -> slot)
      split -> slot
    }
    before ++ added
  }

  /** Names in the order in which people count: `t-2` before `t-10`. */
  private object SplitNames extends Ordering[String] {
    private def key(name: String): (String, Long) = {
      val digits = name.reverseIterator.takeWhile(_.isDigit).length
      (name.dropRight(digits), name.takeRight(digits).toLongOption.getOrElse(-1L))
    }
    override def compare(a: String, b: String): Int = {
      val byKey = Ordering[(String, Long)].compare(key(a), key(b))
      if (byKey == 0) a.compareTo(b) else byKey
    }
  }
}
