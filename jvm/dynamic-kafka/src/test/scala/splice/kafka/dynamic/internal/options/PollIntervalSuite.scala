// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.options

import java.time.Duration

import org.scalatest.funsuite.AnyFunSuite

/** Tests of the poll interval of the metadata service. */
final class PollIntervalSuite extends AnyFunSuite {

  test("runs have different intervals within 10 percent, with the given mean") {
    val interval  = Duration.ofSeconds(10)
    val intervals = (0 until 1000).map(i => PollInterval(interval, s"run-$i").toMillis)
    assert(intervals.forall(millis => millis >= 9000 && millis <= 11000))
    assert(intervals.distinct.size > 500 && intervals.min < 9100 && intervals.max > 10900)
    assert(math.abs(intervals.sum / intervals.size - 10000) < 100)
    assert(PollInterval(interval, "run") == PollInterval(interval, "run"))
  }
}
