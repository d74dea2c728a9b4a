// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.cluster

import java.time.{Clock, Duration}

/** Discovery on a separate thread. A failed request is logged as a warning. If the cluster is unavailable, the next
  * request for ends reports the error. The query fails if the cluster remains unavailable for too long.
  */
final private[splice] class BackgroundDiscovery(log: LogMetadata, interval: Duration, clock: Clock, run: String)
    extends Discovery {

  private val looks = new BackgroundLooks(
    s"splice-kafka-discovery-$run",
    interval,
    clock,
    "The discovery of new partitions failed"
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
