// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.cluster

import java.time.{Clock, Duration, Instant}

import scala.collection.immutable.SortedMap

import org.slf4j.LoggerFactory

import splice.kafka.Place
import splice.kafka.internal.errors.KafkaErrors
import splice.source.LogPartition
import splice.source.errors.SpliceException

/** Partitions that do not respond although other partitions of the cluster do, such as partitions without a leader.
  * Such a partition gets no rows until the partition responds. A warning lists these partitions each time that their
  * set changes. Used by one thread.
  *
  * @param patience
  *   how long a partition may not respond before the query fails; None if the caller decides
  * @param holds
  *   true if batches have no rows while a partition does not respond
  */
final private[kafka] class UnavailablePartitions(
    log: ClusterClient,
    patience: Option[Duration],
    clock: Clock,
    holds: Boolean = false
) {

  import UnavailablePartitions._

  private var known: SortedMap[LogPartition, UnavailablePartition] = SortedMap.empty
  private var failed: SortedMap[LogPartition, SpliceException]     = SortedMap.empty

  // The partitions in the last description of the cluster, and the time of the description.
  private var described: Option[(Instant, collection.Set[LogPartition])] = None

  /** The partitions that did not respond in the last round. */
  def all: SortedMap[LogPartition, UnavailablePartition] = known

  /** Runs the requests of one trigger. If the requests fail as a whole, the result of the previous trigger remains. */
  def round[A](requests: => A): A = {
    failed = SortedMap.empty
    val result = requests
    val now    = clock.instant()
    val silent = failed.map { case (p, error) => p -> UnavailablePartition(known.get(p).fold(now)(_.since), error) }
    warn(silent)
    known = silent
    if (silent.isEmpty) described = None
    result
  }

  /** True if a partition did not respond in this round. */
  def isSilent(partition: LogPartition): Boolean = failed.contains(partition)

  /** The ends of the partitions that respond.
    *
    * @throws splice.source.errors.SpliceException
    *   when no partition responds
    */
  def ends(partitions: Set[LogPartition]): Map[LogPartition, Long] = {
    val offsets = received(log.endsSoon(partitions))
    if (offsets.isEmpty) partitions.iterator.flatMap(failed.get).nextOption().foreach(throw _)
    offsets
  }

  /** The first offsets of the partitions that respond. */
  def earliest(partitions: Set[LogPartition]): Map[LogPartition, Long] = received(log.earliestSoon(partitions))

  /** The starts of responsive partitions that are new to the query. */
  def starts(at: Place, partitions: Set[LogPartition]): Map[LogPartition, Long] =
    if (at == Place.Earliest) earliest(partitions) else received(log.endsSoon(partitions))

  /** True if any partition did not respond in this round. */
  def hasSilent: Boolean = failed.nonEmpty

  /** The first record at or after a time of each partition that has one; None if a partition does not respond. */
  def atTime(millis: Long, partitions: Set[LogPartition]): Option[Map[LogPartition, TimedOffset]] = {
    val offsets = log.atTimeSoon(millis, partitions)
    failed ++= offsets.silent
    Option.when(offsets.silent.isEmpty)(offsets.found)
  }

  /** True if partitions did not respond in this round, and a recent description of the cluster contains all these
    * partitions.
    */
  def isKnown: Boolean = failed.nonEmpty && described.exists { case (at, existing) =>
    failed.keySet.subsetOf(existing) && clock.instant().isBefore(at.plus(Interval))
  }

  /** True if partitions did not respond in this round, and their topics may have been deleted. */
  def isDoubtful: Boolean = failed.nonEmpty && !isKnown

  /** Sets the existing partitions.
    *
    * @throws splice.source.errors.SpliceException
    *   when brokers reject the request for an existing partition
    */
  def describe(existing: collection.Set[LogPartition]): Unit = {
    failed = failed.filter { case (p, _) => existing(p) }
    failed.valuesIterator.find(!KafkaErrors.isUnreachable(_)).foreach(throw _)
    described = Some(clock.instant() -> failed.keySet)
  }

  /** Throws an error if an unresponsive partition must be read before a run can end.
    *
    * @param isNeeded
    *   true if a partition has records to read
    */
  def require(isNeeded: LogPartition => Boolean): Unit =
    known.collectFirst { case (p, silent) if isNeeded(p) => silent.error }.foreach(throw _)

  /** Throws an error if a partition has not responded for the patience. */
  def check(): Unit = for {
    limit  <- patience
    silent <- known.valuesIterator.find(partition => !clock.instant().isBefore(partition.since.plus(limit)))
  } throw silent.error

  private def received(offsets: OffsetAnswers[Long]): Map[LogPartition, Long] = {
    failed ++= offsets.silent
    offsets.found
  }

  private def warn(silent: SortedMap[LogPartition, UnavailablePartition]): Unit = if (silent.keySet != known.keySet) {
    val back = known.keySet -- silent.keySet
    if (back.nonEmpty) logger.info(s"Partitions respond again, or no longer exist: ${back.mkString(", ")}.")
    silent.headOption.foreach { case (_, UnavailablePartition(_, error)) =>
      val effect =
        if (holds) "Because of 'admission=eventTime', batches have no rows until these partitions respond"
        else "Batches continue without new records of these partitions"
      val limit = patience.fold("")(time => s" If the outage lasts for ${time.toSeconds} s, the query fails.")
      val more  = if (silent.sizeIs > Shown) s" and ${silent.size - Shown} other partitions" else ""
      logger.warn(
        s"The brokers do not respond for ${silent.keysIterator.take(Shown).mkString(", ")}$more. $effect, and Splice " +
          s"skips no records.$limit ${error.text}"
      )
    }
  }
}

private[kafka] object UnavailablePartitions {

  private val logger = LoggerFactory.getLogger(classOf[UnavailablePartitions])

  private val Shown = 50

  // A topic may be deleted while its partitions have no leader.
  private val Interval = Duration.ofSeconds(10)
}

/** A partition that does not respond.
  *
  * @param since
  *   the time when the first request without a response ended
  * @param error
  *   the error of the last request
  */
final private[splice] case class UnavailablePartition(since: Instant, error: SpliceException)
