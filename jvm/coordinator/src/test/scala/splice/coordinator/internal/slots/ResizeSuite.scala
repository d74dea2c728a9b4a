// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.slots

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.source.options.SlotAssigner
import splice.source.options.SlotAssigner.{Balanced, RoundRobin}

/** Assignments whose number of slots changes. */
final class ResizeSuite extends AnyFunSuite {

  private def even(splits: Int): Map[String, Long] = (0 until splits).map(p => s"t-$p" -> 10L).toMap

  private def counts(assignment: Map[String, Int], slots: Int): Seq[Int] = (0 until slots).map(slot =>
    assignment.values.count(_ == slot)
  )

  private def fresh(assigner: SlotAssigner, costs: Map[String, Long], slots: Int): Map[String, Int] =
    Assigner.assign(assigner, Map.empty, costs, slots, slots)

  private def moves(before: Map[String, Int], after: Map[String, Int]): Int =
    before.count { case (split, slot) => after(split) != slot }

  /** The minimum number of moves that make the numbers of splits differ by at most one. Each slot keeps its own splits
    * up to its share. Shares that are larger by one belong to the slots with most splits.
    */
  private def leastMoves(before: Seq[Int], slots: Int): Int = {
    val (share, more) = (before.sum / slots, before.sum % slots)
    val own           = before.take(slots)
    before.sum - own.map(math.min(_, share)).sum - math.min(own.count(_ > share), more)
  }

  test("with splits of equal cost, any change of the number of slots moves as few splits as possible") {
    for (assigner <- Seq(RoundRobin, Balanced); splits <- Seq(1, 7, 12, 33, 64); from <- 1 to 9; to <- 1 to 9) {
      val costs  = even(splits)
      val before = fresh(assigner, costs, from)
      val after  = Assigner.assign(assigner, before, costs, to, from)
      val hint   = s"${assigner.word}, $splits splits, from $from to $to slots"
      assert(after.keySet == costs.keySet && after.values.forall(slot => slot >= 0 && slot < to), hint)
      assert(counts(after, to).max <= math.max(math.ceil(splits.toDouble / to), splits * 1.05 / to), hint)
      assert(moves(before, after) <= leastMoves(counts(before, from), to), hint)
    }
  }

  test("any costs: the fullest slot is within 5 % of the minimum, with fewer moves than a new assignment") {
    (1L to 40L).foreach { seed =>
      val random     = new Random(seed)
      val (from, to) = (1 + random.nextInt(24), 1 + random.nextInt(24))
      val costs      = (0 until 1000).map(p => s"t-$p" -> (1L + random.nextInt(1000) * random.nextInt(1000))).toMap
      val before     = fresh(Balanced, costs, from)
      val after      = Assigner.assign(Balanced, before, costs, to, from)
      val hint       = s"seed $seed, from $from to $to"
      assert(Balance.fullest(after, costs, to) <= Balance.least(costs, to) * 1.05 * 1.05, hint)
      assert(moves(before, after) <= moves(before, fresh(Balanced, costs, to)), hint)
    }
  }

  test("splits without a measured cost are distributed by number, and busy splits by cost") {
    val costs  = (0 until 40).map(p => s"idle-$p" -> 0L).toMap ++ (0 until 4).map(p => s"busy-$p" -> 1000L)
    val before = fresh(Balanced, costs, 2)
    val after  = Assigner.assign(Balanced, before, costs, 4, 2)
    assert(counts(after, 4) == Seq(11, 11, 11, 11))
    assert(counts(after.filter(_._1.startsWith("busy")), 4) == Seq(1, 1, 1, 1))
    assert(moves(before, after) == 22)
    val back = Assigner.assign(Balanced, after, costs, 2, 4)
    assert(counts(back, 2) == Seq(22, 22) && moves(after, back) == 22)
  }

  test("a new assignment that is better by more than 5 % keeps as many splits as possible in their slots") {
    val costs  = Map("a-0" -> 90L, "b-0" -> 90L, "c-0" -> 70L, "d-0" -> 70L, "e-0" -> 160L)
    val before = Map("c-0" -> 0, "d-0" -> 0, "e-0" -> 1, "a-0" -> 2, "b-0" -> 2)
    val after  = Assigner.assign(Balanced, before, costs, 3, 3)
    // Two of four splits must exchange their slots, because no single move improves the balance.
    assert(Balance.fullest(after, costs, 3) == 160L && after("e-0") == 1 && moves(before, after) == 2)
  }
}
