// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

import org.scalatest.funsuite.AnyFunSuite

import splice.testkit.internal.simulation.SeedBudget

final class SeedBudgetSuite extends AnyFunSuite {

  test("successive commits run all seeds, and each commit runs the fixed seeds") {
    val fixed   = Seq(1, 2, 3, 50)
    val budgets = (1210 to 1218).map(n => SeedBudget(1 to 100, fixed, window = 10, commits = Some(n)))
    budgets.foreach(budget => assert(budget.seeds.take(4) == fixed && (14 to 15).contains(budget.seeds.size)))
    assert(budgets.flatMap(_.seeds.drop(4)).sorted == (1 to 100).diff(fixed))
    assert(budgets.head.text.contains("window 5 of 9 by 1210 commits: 11 other seeds from 46 to 57"))
    assert(SeedBudget(1 to 100, fixed, 10, None).seeds == SeedBudget(1 to 100, fixed, 10, Some(9)).seeds)
  }

  test("each pair of properties has the first seeds with the pair") {
    val chosen = SeedBudget.byPairs(1 to 100, first = 2, least = 3) { seed =>
      Seq("ten" -> 10, "even" -> 2, "three" -> 3).collect { case (name, n) if seed % n == 0 => name }
    }
    assert(chosen == Seq(1, 2, 6, 10, 12, 18, 20, 30, 60, 90))
  }
}
