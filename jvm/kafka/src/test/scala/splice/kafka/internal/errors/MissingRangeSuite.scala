// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.errors

import org.scalatest.funsuite.AnyFunSuite

import splice.source.LogPartition

final class MissingRangeSuite extends AnyFunSuite {

  private def range(i: Int) = MissingRange(LogPartition("t", 0), i * 10L, Some(i * 10L + 3))

  test("an error lists 50 ranges and the number of other ranges") {
    assert(MissingRange.listed((0 until 2).map(range)) == "t-0 [0, 3), t-0 [10, 13)")
    val many = MissingRange.listed((0 until 10000).map(range))
    assert(many.endsWith("t-0 [490, 493), and 9950 other ranges with 29850 records"))
    val fails = KafkaErrors.dataLoss("it was deleted", (0 until 10000).map(range))
    assert(fails.getMessage.length < 2000)
  }
}
