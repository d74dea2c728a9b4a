// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.slots

import org.scalatest.funsuite.AnyFunSuite

/** Costs of splits, and the period out of balance after which splits move. */
final class SplitCostsSuite extends AnyFunSuite {

  /** Returns the numbers of the batches that call for another assignment. Each batch is out of balance. */
  private def calls(costs: SplitCosts, batches: Int): Seq[Int] = (1 to batches).filter(_ =>
    costs.persists(fullest = 121, least = 100)
  )

  test("splits move after 8 batches out of balance, then after 16, and then after twice as many each time") {
    assert(calls(new SplitCosts, 56) == Seq(8, 8 + 16, 8 + 16 + 32))
  }

  test("splits move repeatedly, after at most 1,024 batches") {
    val all = calls(new SplitCosts, 6000)
    assert(all.zip(all.drop(1)).map { case (a, b) => b - a }.takeRight(3) == Seq(1024, 1024, 1024))
  }

  test("a batch in balance resets the count, and a slot may have 20 % more than the minimum") {
    val costs = new SplitCosts
    assert(calls(costs, 7).isEmpty && !costs.persists(fullest = 120, least = 100))
    assert(calls(costs, 8) == Seq(8))
  }

  test("younger batches have more weight, and the cost of a split without rows decreases") {
    val costs = new SplitCosts
    costs.learn(Seq("a" -> 1000L))
    assert(costs("a") == 1000 && costs("b") == 0)
    costs.learn(Seq("a" -> 2000L, "b" -> 10L))
    assert(costs("a") == 1200 && costs("b") == 10)
    costs.learn(Nil)
    assert(costs("a") == 960 && costs("b") == 8)
  }

  test("the cost of a removed split is removed") {
    val costs = new SplitCosts
    costs.learn(Seq("a" -> 1000L, "b" -> 1000L))
    costs.retain(_ == "a")
    assert(costs("a") == 1000 && costs("b") == 0)
  }
}
