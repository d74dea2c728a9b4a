// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.cluster

import java.time.{Clock, Duration}

import splice.source.internal.polling.{BackgroundPoller, PollHealth}

/** Finds topics and partitions, so that a trigger without new records requests only ends. */
private[splice] trait Discovery extends AutoCloseable {

  /** Requests topics and partitions, and waits for the response. */
  def now(): LogDescription

  /** Returns the last result that was not returned before. */
  def news(): Option[LogDescription]

  /** Returns the result that [[news]] would return. Any thread may call it. */
  def pending: Option[LogDescription]

  /** Returns the state of the requests. */
  def health: PollHealth
}

/** Discovery on a separate thread. A failed request is logged as a warning. If the cluster is unavailable, the next
  * request for ends reports the error. The query fails if the cluster remains unavailable for too long.
  */
final private[splice] class BackgroundDiscovery(log: ClusterClient, interval: Duration, clock: Clock, run: String)
    extends Discovery {

  private val poller = new BackgroundPoller(
    s"splice-kafka-discovery-$run",
    interval,
    clock,
    "The discovery of new partitions failed"
  )(log.describe())

  override def now(): LogDescription = {
    val description = poller.now()
    poller.begin()
    description
  }

  override def news(): Option[LogDescription] = poller.news()

  override def pending: Option[LogDescription] = poller.pending

  override def health: PollHealth = poller.health

  override def close(): Unit = poller.close()
}
