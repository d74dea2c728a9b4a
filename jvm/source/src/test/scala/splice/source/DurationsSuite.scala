// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import java.time.Duration

import org.scalatest.funsuite.AnyFunSuite

final class DurationsSuite extends AnyFunSuite {

  test("numbers with units") {
    assert(Durations.parse("250ms").contains(Duration.ofMillis(250)))
    assert(Durations.parse("30s").contains(Duration.ofSeconds(30)))
    assert(Durations.parse("10 minutes").contains(Duration.ofMinutes(10)))
    assert(Durations.parse("INTERVAL 2 days").contains(Duration.ofDays(2)))
    assert(Durations.parse("1h 30m").contains(Duration.ofMinutes(90)))
  }

  test("anything else is refused") {
    Seq("", "30", "ten", "10 parsecs", "-5s", "5s later", "99999999999999999999s", "9000000000000000000 days")
      .foreach(text => assert(Durations.parse(text).isEmpty, text))
  }
}
