// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.cluster

import java.time.{Clock, Duration}

import splice.source.internal.polling.PollHealth

/** Sends a request when a caller needs the topics and the interval has passed. The behaviour depends only on the clock,
  * as simulations require.
  */
final class ClockedDiscovery(log: ClusterClient, interval: Duration, clock: Clock) extends Discovery {

  private var next    = clock.instant().plus(interval)
  private var current = PollHealth()

  override def now(): LogDescription = {
    next = clock.instant().plus(interval)
    val description = log.describe()
    current = current.succeeded(clock.instant())
    description
  }

  override def news(): Option[LogDescription] = if (clock.instant().isBefore(next)) None else Some(now())

  override def pending: Option[LogDescription] = if (clock.instant().isBefore(next)) None else Some(log.describe())

  override def health: PollHealth = current

  override def close(): Unit = ()
}
