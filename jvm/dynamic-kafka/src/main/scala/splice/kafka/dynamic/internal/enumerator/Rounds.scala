// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.dynamic.internal.cluster.{ClusterResponse, ClusterWorkers, MissingTopics, SameClusters}
import splice.kafka.dynamic.internal.settings.DynamicSettings
import splice.kafka.dynamic.internal.split.DynamicPosition
import splice.kafka.dynamic.internal.state.AppliedMetadata
import splice.kafka.internal.cluster.UnavailablePartition

/** Changes that need no response, requests to all active clusters, and changes that their responses allow. */
final private[splice] class Rounds(
    settings: DynamicSettings,
    driver: MetadataApplier,
    workers: ClusterWorkers,
    same: SameClusters,
    missing: MissingTopics
) {

  /** One round.
    *
    * @param frozen
    *   whether the run reads the records that exist at its start
    * @param patient
    *   whether to wait for clusters that are known to be unavailable
    * @param isOpen
    *   whether topics are read without an end
    */
  def apply(at: DynamicPosition, frozen: Boolean, patient: Boolean, isOpen: Boolean): Round = {
    val (begun, before) = driver.settle(at, frozen, workers.availability)
    workers.all.foreach { case (name, worker) => if (!before.isActive(name)) worker.rest() }
    workers.follow(driver.reached(before), at)
    val requests = SortedMap.from(before.read.keysIterator.filter(before.isActive).map(name =>
      name -> driver.request(before, name, begun.of(name)).copy(isOpen = isOpen)
    ))
    val responses = workers.advance(requests, settings.clusterWait, patient)
    val found     = same.checked(before, begun, responses)
    missing.update(before, found)
    val (now, here) = driver.respond(begun, found, requests.keySet)
    Round(
      now,
      here,
      if (here eq before) found
      else found.map { case (name, reach) =>
        name -> reach.after(here.read.getOrElse(name, SortedSet.empty[String]), now.of(name))
      },
      // A paused stream needs no response.
      (requests.keySet -- found.keySet).filterNot(here.readsOnlyPaused)
    )
  }
}

/** The outcome of a round.
  *
  * @param at
  *   the position with all changes
  * @param here
  *   the state then
  * @param found
  *   the responses, after changes that they led to
  * @param silent
  *   clusters that did not respond
  */
final private[splice] case class Round(
    at: DynamicPosition,
    here: AppliedMetadata,
    found: SortedMap[String, ClusterResponse],
    silent: collection.Set[String]
) {

  /** Partitions that do not respond, of clusters that do. */
  def silentPartitions: Seq[(String, UnavailablePartition)] =
    found.toSeq.flatMap { case (name, reach) => reach.silentOf(here, name).map(name -> _) }
}
