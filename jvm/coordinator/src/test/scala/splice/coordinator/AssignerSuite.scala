// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import scala.collection.immutable.SortedMap
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

final class AssignerSuite extends AnyFunSuite {

  private def sizes(assignment: SortedMap[String, Int], slots: Int): Seq[Int] = (0 until slots).map(slot =>
    assignment.values.count(_ == slot)
  )

  test("2 topics of 4 partitions on 8 slots: one each (FLIP-537)") {
    val splits = for (t <- Seq("a", "b"); p <- 0 until 4) yield s"$t-$p"
    assert(sizes(Assigner.assign(SortedMap.empty, splits, 8), 8).forall(_ == 1))
  }

  test("130 topics with 1 to 40 partitions: within one split of each other") {
    val random = new Random(537)
    val splits = (0 until 130).flatMap(t => (0 to random.nextInt(40)).map(p => s"topic$t-$p"))
    val counts = sizes(Assigner.assign(SortedMap.empty, random.shuffle(splits), 16), 16)
    assert(counts.max - counts.min <= 1)
    assert(counts.sum == splits.size)
  }

  test("the order of the splits changes nothing") {
    val splits = (0 until 50).map(p => s"t-$p")
    assert(Assigner.assign(SortedMap.empty, splits.reverse, 4) == Assigner.assign(SortedMap.empty, splits, 4))
  }

  test("partitions go round in the order in which people count") {
    val assignment = Assigner.assign(SortedMap.empty, (0 until 12).map(p => s"t-$p"), 3)
    assert((0 until 12).forall(p => assignment(s"t-$p") == p % 3))
  }
}
