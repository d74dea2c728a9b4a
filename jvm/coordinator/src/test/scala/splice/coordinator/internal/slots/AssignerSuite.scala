// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.slots

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.source.options.SlotAssigner
import splice.source.options.SlotAssigner.{Balanced, Hash, RoundRobin}

final class AssignerSuite extends AnyFunSuite {

  private def even(splits: Seq[String]): Map[String, Long] = splits.map(_ -> 10L).toMap

  private def counts(assignment: Map[String, Int], slots: Int): Seq[Int] = (0 until slots).map(slot =>
    assignment.values.count(_ == slot)
  )

  private def fresh(assigner: SlotAssigner, costs: Map[String, Long], slots: Int): Map[String, Int] =
    again(assigner, Map.empty, costs, slots)

  /** The assignment after another assignment with the same number of slots. */
  private def again(assigner: SlotAssigner, before: Map[String, Int], costs: Map[String, Long], slots: Int) =
    Assigner.assign(assigner, before, costs, slots, slots)

  private def topics(seed: Long): Seq[String] = {
    val random = new Random(seed)
    (0 until 130).flatMap(t => (0 to random.nextInt(40)).map(p => s"topic$t-$p"))
  }

  test("FLIP-537: 2 topics of 4 partitions on 8 slots give one partition per slot") {
    val splits = for (t <- Seq("a", "b"); p <- 0 until 4) yield s"$t-$p"
    Seq(RoundRobin, Balanced).foreach(a => assert(counts(fresh(a, even(splits), 8), 8).forall(_ == 1), a))
  }

  test("FLIP-537: 3 new partitions and 3 new slots give one partition per slot, where a hash leaves slots empty") {
    val six = even((1 to 6).map(p => s"t-$p"))
    Seq(RoundRobin, Balanced).foreach { assigner =>
      assert(counts(fresh(assigner, six.filterNot(s => s._1 > "t-3"), 3), 3) == Seq(1, 1, 1), assigner)
      assert(counts(fresh(assigner, six, 6), 6).forall(_ == 1), assigner)
    }
  }

  test("130 topics with 1 to 40 partitions: slots differ by at most one split, for any seed") {
    (1L to 20L).foreach { seed =>
      val splits = topics(seed)
      Seq(RoundRobin, Balanced).foreach { assigner =>
        val sizes = counts(fresh(assigner, even(splits), 16), 16)
        assert(sizes.max - sizes.min <= 1 && sizes.sum == splits.size, s"$assigner, seed $seed")
      }
    }
  }

  test("130 topics with any weights: the fullest slot is within 5 % of the minimum, including after every change") {
    (1L to 20L).foreach { seed =>
      val random = new Random(seed)
      val costs  = topics(seed).map(s => s -> (1L + random.nextInt(1000) * random.nextInt(1000))).toMap
      val first  = fresh(Balanced, costs, 16)
      assert(Balance.fullest(first, costs, 16) <= Balance.least(costs, 16) * 1.05, s"seed $seed")
      // Some splits are removed, some are added, and the weights of all splits change.
      val later = costs.filterNot(_ => random.nextInt(10) == 0).map { case (s, c) =>
        s -> (c + random.nextInt(300000))
      } ++
        (0 until 50).map(p => s"new-$p" -> random.nextInt(500000).toLong)
      val second = again(Balanced, first, later, 16)
      assert(Balance.fullest(second, later, 16) <= Balance.least(later, 16) * 1.05 * 1.05, s"seed $seed")
      assert(second.keySet == later.keySet, "removed splits have no slot, and all other splits have one")
    }
  }

  test("balanced moves few splits, and no split without a gain") {
    val costs  = (0 until 64).map(p => s"t-$p" -> 100L).toMap
    val before = fresh(Balanced, costs, 8)
    assert(again(Balanced, before, costs, 8) == before)
    val heavier = costs.updated("t-0", 400L)
    val after   = again(Balanced, before, heavier, 8)
    assert(before.count { case (s, slot) => after(s) != slot } <= 3)
    assert(Balance.fullest(after, heavier, 8) < Balance.fullest(before, heavier, 8))
  }

  test("splits with nothing to read are distributed by number") {
    val costs = (0 until 40).map(p => s"idle-$p" -> 0L).toMap ++ Map("busy-0" -> 1000L, "busy-1" -> 10L)
    val sizes = counts(fresh(Balanced, costs, 4), 4)
    assert(sizes.max - sizes.min <= 1)
  }

  test("a very large split has a separate slot") {
    val costs = (0 until 9).map(p => s"t-$p" -> 10L).toMap.updated("t-4", 1000L)
    val begun = fresh(Balanced, costs, 3)
    assert(begun.count(_._2 == begun("t-4")) == 1)
  }

  test("hash spreads each topic evenly, and depends on the name only") {
    val splits = topics(1)
    val begun  = fresh(Hash, even(splits), 7)
    splits.groupBy(_.takeWhile(_ != '-')).values.foreach { topic =>
      val sizes = counts(begun.filter(e => topic.contains(e._1)), 7)
      assert(sizes.max - sizes.min <= 1)
    }
    assert(fresh(Hash, even(splits.take(9)), 7) == begun.filter(e => splits.take(9).contains(e._1)))
  }

  test("roundRobin assigns new splits to the slots of removed splits") {
    val before = fresh(RoundRobin, even((0 until 9).map(p => s"t-$p")), 3)
    val left   = (0 until 9).filterNot(_ % 3 == 0).map(p => s"t-$p") ++ Seq("u-0", "u-1", "u-2")
    val after  = again(RoundRobin, before, even(left), 3)
    assert(counts(after, 3) == Seq(3, 3, 3) && (0 until 3).forall(p => after(s"u-$p") == before("t-0")))
  }

  test("the assignment does not depend on the order of the splits") {
    val splits = (0 until 50).map(p => s"t-$p" -> (p % 7 + 1L))
    SlotAssigner.all.foreach(a => assert(fresh(a, splits.reverse.toMap, 4) == fresh(a, splits.toMap, 4)))
  }

  test("round robin uses the natural order of partition numbers") {
    val assignment = fresh(RoundRobin, even((0 until 12).map(p => s"t-$p")), 3)
    assert((0 until 12).forall(p => assignment(s"t-$p") == p % 3))
  }
}
