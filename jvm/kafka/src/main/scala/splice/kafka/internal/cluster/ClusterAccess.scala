// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.cluster

import java.time.Clock

import splice.kafka.internal.options.LogPolicies
import splice.source.LogPartition

/** The access of an enumerator to one cluster: the client, discovery, and the policies for brokers that do not respond.
  * Used by one thread.
  *
  * @param recheck
  *   repeats requests whose responses contradict earlier responses
  * @param clock
  *   measures the duration of outages
  * @param holds
  *   true if batches have no rows while a partition does not respond
  */
final private[splice] class ClusterAccess(
    val client: ClusterClient,
    val discovery: Discovery,
    val recheck: Recheck,
    policies: LogPolicies,
    clock: Clock,
    holds: Boolean = false
) extends AutoCloseable {

  /** The partitions that do not respond although other partitions do. */
  val unavailable = new UnavailablePartitions(client, policies.partitionPatience, clock, holds)

  private val outage = new OutageTolerance(policies.patience, clock, () => recheck.waitForNext())

  /** Throws the last error of discovery if discovery has failed for too long. */
  def checkDiscovery(): Unit = discovery.health.over(policies.discoveryPatience.getOrElse(policies.patience)).foreach {
    case (_, error) => throw error
  }

  /** Returns the response, or `otherwise` if the cluster does not respond. */
  def idle[A](otherwise: => A)(request: => A): A = outage.idle(otherwise)(request)

  /** Returns the response. Repeats the request while the cluster does not respond. */
  def await[A](request: => A): A = outage.wait(() => request)

  /** The first offsets of the partitions that respond. */
  def earliest(partitions: Set[LogPartition]): Map[LogPartition, Long] = unavailable.earliest(partitions)

  /** The starts of partitions that are new to the query and respond, by the option `newPartitionsStartAt`. */
  def starts(partitions: Set[LogPartition]): Map[LogPartition, Long] =
    unavailable.starts(policies.newPartitions, partitions)

  /** Closes discovery and the client. */
  override def close(): Unit =
    try discovery.close()
    finally client.close()
}
