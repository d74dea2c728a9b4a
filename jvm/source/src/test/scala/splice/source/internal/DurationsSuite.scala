// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal

import java.time.Duration

import org.scalatest.funsuite.AnyFunSuite

final class DurationsSuite extends AnyFunSuite {

  test("a short form and an interval are parsed") {
    assert(Durations.parse("250ms").contains(Duration.ofMillis(250)))
    assert(Durations.parse(" 30s ").contains(Duration.ofSeconds(30)))
    assert(Durations.parse("10m").contains(Duration.ofMinutes(10)))
    assert(Durations.parse("1h").contains(Duration.ofHours(1)))
    assert(Durations.parse("2d").contains(Duration.ofDays(2)))
    assert(Durations.parse("0s").contains(Duration.ZERO))
    assert(Durations.parse("10 minutes").contains(Duration.ofMinutes(10)))
    assert(Durations.parse("1 hour 30 minutes").contains(Duration.ofMinutes(90)))
    assert(Durations.parse("INTERVAL 2 days").contains(Duration.ofDays(2)))
  }

  test("a text without a unit, a negative time, a month and any other text are rejected") {
    Seq(
      "",
      "30",
      "ten",
      "soon",
      "10 parsecs",
      "-5s",
      "-1 minute",
      "1 month",
      "5s later",
      "1h 30m",
      "99999999999999999999s"
    )
      .++(Seq("9000000000000000000 days", "9000000000000000000d"))
      .foreach(text => assert(Durations.parse(text).isEmpty, text))
  }

  test("a number without a unit is in milliseconds for an option of Spark's Kafka source") {
    assert(Durations.parseMillis("1500").contains(Duration.ofMillis(1500)))
    assert(Durations.parseMillis("15m").contains(Duration.ofMinutes(15)))
    assert(Durations.parseMillis("-1").isEmpty)
  }
}
