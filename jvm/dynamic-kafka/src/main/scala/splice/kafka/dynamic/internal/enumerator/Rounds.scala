// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import java.time.Instant

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.dynamic.internal.cluster.{ClusterResponse, ClusterWorkers, MissingTopics, SameClusters}
import splice.kafka.dynamic.internal.settings.DynamicSettings
import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicPosition}
import splice.kafka.dynamic.internal.state.AppliedMetadata
import splice.kafka.internal.cluster.UnavailablePartition

/** Applies changes that need no response, sends requests to all active clusters, and applies the changes that the
  * responses allow.
  */
final private[splice] class Rounds(
    settings: DynamicSettings,
    driver: MetadataApplier,
    workers: ClusterWorkers,
    same: SameClusters,
    missing: MissingTopics
) {

  /** Executes one round.
    *
    * @param frozen
    *   true if the run reads only the records that exist at its start
    * @param patient
    *   true if the round waits for unavailable clusters
    * @param isOpen
    *   true if topics are read without an end
    */
  def apply(at: DynamicPosition, frozen: Boolean, patient: Boolean, isOpen: Boolean): Round = {
    val (begun, before) = driver.settle(at, frozen, workers.availability)
    workers.all.foreach { case (name, worker) => if (!before.isActive(name)) worker.rest(at.of(name)) }
    workers.follow(driver.reached(before), at)
    val requests = SortedMap.from(before.read.keysIterator.filter(before.isActive).map(name =>
      name -> driver.request(before, name, begun.of(name)).copy(isOpen = isOpen)
    ))
    val responses = workers.advance(requests, settings.clusterWait, patient)
    val checked   = same.checked(before, begun, responses)
    import checked.{responses => open}
    missing.update(before, open)
    // A held cluster has responded. Only another document releases the cluster, so no change waits for its response.
    val held           = responses.keySet -- open.keySet
    val (now, applied) = driver.respond(begun, open, requests.keySet -- held, checked.unread)
    Round(
      now,
      applied,
      if (applied eq before) open
      else open.map { case (name, reach) =>
        name -> reach.after(applied.read.getOrElse(name, SortedSet.empty[String]), now.of(name))
      },
      requests.keySet -- responses.keySet,
      checked.held
    )
  }
}

/** Result of a round.
  *
  * @param at
  *   the position with all changes
  * @param applied
  *   the state after these changes
  * @param responses
  *   the responses, adjusted to the changes that they caused
  * @param silent
  *   clusters that did not respond
  * @param held
  *   topics that wait for another document
  */
final private[splice] case class Round(
    at: DynamicPosition,
    applied: AppliedMetadata,
    responses: SortedMap[String, ClusterResponse],
    silent: collection.Set[String],
    held: Set[ClusterTopic]
) {

  /** Returns the names of the clusters and partitions without a response to a request of this round. The ends of an
    * earlier request may be before rows that were readable when the round began.
    */
  def unheard(began: Instant): Set[String] = silent.toSet ++
    responses.collect { case (name, reach) if reach.request.time.isBefore(began) => name } ++
    responses.iterator.flatMap { case (name, reach) => reach.silent.keysIterator.map(p => s"$name/$p") }

  /** Returns the partitions that do not respond, of clusters that respond. */
  def silentPartitions: Seq[(String, UnavailablePartition)] =
    responses.toSeq.flatMap { case (name, reach) => reach.silent.values.map(name -> _) }
}
