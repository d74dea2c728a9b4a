// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.legs

import scala.collection.immutable.SortedMap

import org.scalatest.funsuite.AnyFunSuite

final class RunTotalsSuite extends AnyFunSuite {

  private def sums(totals: RunTotals)(parts: (String, Int)*): SortedMap[String, String] =
    totals(parts.map { case (part, count) => part -> Seq("readTotal" -> count.toString, "behind" -> "7") })

  test("totals are the sum of all parts, without other figures") {
    val totals = new RunTotals
    assert(sums(totals)("east" -> 2, "west" -> 3) == SortedMap("readTotal" -> "5"))
    assert(sums(totals)("east" -> 4, "west" -> 3) == SortedMap("readTotal" -> "7"))
  }

  test("a part that ends, or begins again at 0, lowers no total") {
    val totals = new RunTotals
    assert(sums(totals)("east" -> 2, "west" -> 3)("readTotal") == "5")
    assert(sums(totals)("west" -> 3)("readTotal") == "5")
    assert(sums(totals)("east" -> 1, "west" -> 3)("readTotal") == "6")
    assert(sums(totals)("east" -> 1, "west" -> 1)("readTotal") == "7")
    assert(sums(totals)()("readTotal") == "7")
  }
}
