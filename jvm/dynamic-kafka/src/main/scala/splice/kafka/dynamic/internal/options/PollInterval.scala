// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.options

import java.time.Duration
import java.util.SplittableRandom

/** Computes the interval at which one query polls its metadata service.
  *
  * The interval of each run differs from `discoveryInterval` by at most 10 %. Otherwise queries that start together
  * would send all requests at the same time.
  */
private[dynamic] object PollInterval {

  private val Spread = 0.1

  def apply(interval: Duration, run: String): Duration = {
    val factor = 1 + Spread * (2 * new SplittableRandom(run.hashCode.toLong).nextDouble() - 1)
    Duration.ofNanos((interval.toNanos * factor).toLong)
  }
}
