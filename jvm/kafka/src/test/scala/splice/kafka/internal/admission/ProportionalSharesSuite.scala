// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.admission

import scala.collection.immutable.SortedMap
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.SimulatedRun.t

final class ProportionalSharesSuite extends AnyFunSuite {

  test("each partition gets a share in proportion to its backlog") {
    assert(ProportionalShares(10, SortedMap(t(0) -> (0L, 10L), t(1) -> (5L, 35L))) == Map(t(0) -> 2L, t(1) -> 12L))
  }

  test("a small partition gets at least one row") {
    assert(ProportionalShares(10, SortedMap(t(0) -> (0L, 1L), t(1) -> (0L, 1000L))) == Map(t(0) -> 1L, t(1) -> 9L))
  }

  test("all rows are read if they are within the limit, and none for empty backlogs") {
    assert(ProportionalShares(40, SortedMap(t(0) -> (0L, 10L), t(1) -> (5L, 35L))) == Map(t(0) -> 10L, t(1) -> 35L))
    assert(ProportionalShares(3, SortedMap(t(0) -> (7L, 7L), t(1) -> (0L, 9L))) == Map(t(0) -> 7L, t(1) -> 3L))
  }

  test("offsets near the maximum do not overflow") {
    val far = Long.MaxValue
    assert(ProportionalShares(10, SortedMap(t(0) -> (0L, far), t(1) -> (far - 5, far)))(t(1)) == far - 4)
  }

  test("no partition exceeds its end, each backlog makes progress, and the total is near the limit") {
    val random = new Random(7)
    (1 to 500).foreach { seed =>
      val ranges = (0 until 1 + random.nextInt(20)).map(p => t(p) -> (0L, random.nextInt(1000).toLong)).toMap
      val rows   = 1L + random.nextInt(3000)
      val until  = ProportionalShares(rows, SortedMap.from(ranges))
      ranges.foreach { case (p, (_, end)) => assert(until(p) <= end && (end == 0 || until(p) > 0), s"case $seed") }
      assert(until.values.sum <= rows + ranges.size, s"case $seed")
    }
  }
}
