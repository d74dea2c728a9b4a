// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.legs

import scala.collection.immutable.SortedMap

import org.scalatest.funsuite.AnyFunSuite

final class RunTotalsSuite extends AnyFunSuite {

  private def sums(totals: RunTotals)(parts: (String, Int)*): SortedMap[String, String] =
    totals(parts.map { case (part, count) => part -> Seq("readTotal" -> count.toString, "behind" -> "7") })

  test("totals are the sums over all parts, and other figures are ignored") {
    val totals = new RunTotals
    assert(sums(totals)("east" -> 2, "west" -> 3) == SortedMap("readTotal" -> "5"))
    assert(sums(totals)("east" -> 4, "west" -> 3) == SortedMap("readTotal" -> "7"))
  }

  test("totals never decrease, even if a part ends or restarts at 0") {
    val totals = new RunTotals
    assert(sums(totals)("east" -> 2, "west" -> 3)("readTotal") == "5")
    assert(sums(totals)("west" -> 3)("readTotal") == "5")
    assert(sums(totals)("east" -> 1, "west" -> 3)("readTotal") == "6")
    assert(sums(totals)("east" -> 1, "west" -> 1)("readTotal") == "7")
    assert(sums(totals)()("readTotal") == "7")
  }
}
