// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import java.time.{Clock, Duration}

/** Looks on a thread of its own. A look that fails is a warning: if the cluster is gone, the next question about ends says so, and if
  * it stays so for too long the query fails with it.
  */
final private[splice] class BackgroundDiscovery(log: LogMetadata, interval: Duration, clock: Clock, run: String)
    extends Discovery {

  private val looks = new BackgroundLooks(
    s"splice-kafka-discovery-$run",
    interval,
    clock,
    "Looking for new partitions failed"
  )(log.describe())

  override def now(): LogDescription = {
    val found = looks.now()
    looks.begin
    found
  }

  override def news(): Option[LogDescription] = looks.news()

  override def pending: Option[LogDescription] = looks.pending

  override def health: DiscoveryHealth = looks.health

  override def close(): Unit = looks.close()
}
