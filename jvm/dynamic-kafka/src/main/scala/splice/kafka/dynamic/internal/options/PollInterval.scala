// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.options

import java.time.Duration
import java.util.SplittableRandom

/** The interval at which one query polls its metadata service.
  *
  * Queries that start together would otherwise send all requests at the same times. Each run has an interval of its
  * own, at most 10 % shorter or longer than `discoveryInterval`.
  */
private[dynamic] object PollInterval {

  private val Spread = 0.1

  def apply(interval: Duration, run: String): Duration = {
    val factor = 1 + Spread * (2 * new SplittableRandom(run.hashCode.toLong).nextDouble() - 1)
    Duration.ofNanos((interval.toNanos * factor).toLong)
  }
}
