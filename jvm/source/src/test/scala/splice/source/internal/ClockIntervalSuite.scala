// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal

import java.time.Duration

import org.scalatest.funsuite.AnyFunSuite

final class ClockIntervalSuite extends AnyFunSuite {

  test("an interval ends after its length, and when the clock is set back before its start") {
    val interval = new ClockInterval(Duration.ofMillis(50), start = 1000)
    assert(Seq(999L, 1000L, 1049L, 1050L).map(interval.hasEnded) == Seq(true, false, false, true))
    assert(Seq(999L, 1000L, 1049L, 2000L).map(interval.left) == Seq(50L, 50L, 1L, 1L))
    interval.restart(500)
    assert(Seq(499L, 500L, 549L, 550L).map(interval.hasEnded) == Seq(true, false, false, true))
  }
}
