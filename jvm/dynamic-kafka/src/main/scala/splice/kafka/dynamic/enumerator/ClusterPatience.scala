// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import java.time.{Clock, Duration, Instant}
import java.util.concurrent.TimeoutException

import scala.collection.immutable.SortedMap

import splice.kafka.dynamic.DynamicErrors

/** Fails a query once clusters that it needs have not responded for a time. */
final private[enumerator] class ClusterPatience(
    driver: ChangeDriver,
    discovery: MetadataDiscovery,
    workers: ClusterWorkers,
    timeout: Duration,
    clock: Clock
) {

  private var waitingSince = Option.empty[Instant]

  /** Whether a change waits for clusters.
    *
    * @throws splice.source.SpliceException
    *   when it has waited for the timeout
    */
  def waits(): Boolean = {
    val silent = driver.waitsFor.filter(discovery.isActive)
    waitingSince = if (silent.isEmpty) None else waitingSince.orElse(Some(clock.instant()))
    for (since <- waitingSince if isOver(since)) throw DynamicErrors.unavailable(silent.min, since, noAnswer)
    silent.nonEmpty
  }

  /** Checks how long clusters have not responded.
    *
    * @param fails
    *   whether the query fails after the timeout
    */
  def check(silent: Set[String], fails: Boolean): Unit =
    for {
      name   <- silent
      health <- workers.find(name).map(_.health)
      since  <- health.since if fails && isOver(since)
    } throw DynamicErrors.unavailable(name, since, health.error.getOrElse(noAnswer))

  /** Checks how long single partitions of clusters that respond have not responded.
    *
    * @param fails
    *   whether the query fails after the timeout
    */
  def check(found: SortedMap[String, Reach], fails: Boolean): Unit =
    for {
      (name, reach) <- found
      partition     <- reach.silent.valuesIterator if fails && isOver(partition.since)
    } throw DynamicErrors.unavailable(name, partition.since, partition.error)

  private def isOver(since: Instant): Boolean = !clock.instant().isBefore(since.plus(timeout))

  private def noAnswer = new TimeoutException("no answer")
}
