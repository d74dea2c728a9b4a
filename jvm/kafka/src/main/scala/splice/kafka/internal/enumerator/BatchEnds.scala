// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator

import scala.collection.immutable.SortedMap

import splice.kafka.internal.admission.{Admission, EventTimeAdmission, LimitShares, Quota, RecordSizes, RecordTimes}
import splice.kafka.internal.bounds.{Bounds, PartitionFill}
import splice.kafka.internal.cluster.{ClusterAccess, TimedOffset}
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.metrics.DelayNeeded
import splice.kafka.internal.options.KafkaSettings
import splice.kafka.internal.split.KafkaPosition
import splice.source.errors.SpliceException
import splice.source.{EnumeratorContext, Limits, LogPartition, ReadMode}

/** Computes the end of each batch of one cluster within the limits of the batch. Used by one thread. */
final private[enumerator] class BatchEnds(
    settings: KafkaSettings,
    context: EnumeratorContext,
    cluster: ClusterAccess,
    bounds: Bounds,
    sizes: RecordSizes,
    delay: DelayNeeded
) {

  private type Ranges = SortedMap[LogPartition, (Long, Long)]

  private val admission = new Admission(settings.admission, sizes)

  /** Present if batches end at one time. */
  val eventTime: Option[EventTimeAdmission] = settings.eventTime.filter(_ => BatchEnds.areTimed(settings, context))
    .map(new EventTimeAdmission(_, context.clock, context.steady, () => delay.delivered))

  /** The times of the records of the cluster. */
  val times: RecordTimes = new RecordTimes {
    override def at(millis: Long, partitions: Set[LogPartition]): Option[Map[LogPartition, TimedOffset]] =
      cluster.unavailable.atTime(millis, partitions)

    override def next(ranges: Map[LogPartition, (Long, Long)]): Map[LogPartition, Option[TimedOffset]] =
      try {
        val found = cluster.client.nextRecords(ranges)
        ranges.keysIterator.map(p => p -> found.get(p)).toMap
      } catch { case e: SpliceException if KafkaErrors.isUnreachable(e) => Map.empty }
  }

  /** The end of a batch that begins at `from`; None if fewer rows are available than the minimum of a batch, or if a
    * batch by time waits for a partition that does not respond.
    */
  def apply(from: KafkaPosition, ends: Map[LogPartition, Long], limits: Limits): Option[KafkaPosition] = {
    // In an idle query, most partitions have no new records.
    val ready = from.offsets.collect { case (p, at) if ends.get(p).exists(_ != at) => p -> (at -> ends(p)) }
    val rows  = ready.iterator.map { case (p, (at, end)) => between(from)(p, at, end) }.sum
    if (limits.minRows.exists(rows < _)) None
    else
      eventTime match {
        case None                                     => Some(from ++ shared(from, ready)(admission(limits, _)))
        case Some(_) if cluster.unavailable.hasSilent => None
        case Some(byTime)                             => aligned(byTime, from, ready, Quota.of(limits)).map(from ++ _)
      }
  }

  /** The ends of a batch that ends at one time. Holes of a history are read without regard to their times. */
  private def aligned(byTime: EventTimeAdmission, from: KafkaPosition, ready: Ranges, quota: Quota) = {
    val holes =
      if (bounds.fills.isEmpty) SortedMap.empty[LogPartition, (Long, Long)]
      else PartitionFill.holes(ready)(p => bounds.fills.find(p, from.generation(p.topic)))
    val shares = new LimitShares(sizes, quota)(shared(from, _)(admission.within(quota, _)), between(from))
    // A log that was truncated ends before the position.
    val lowered = ready.collect { case (p, (at, end)) if end < at => p -> end }
    byTime(PartitionFill.after(ready, holes), holes, shares, times, isFinal = settings.ending.nonEmpty).map(_ ++
      lowered)
  }

  private def shared(from: KafkaPosition, ready: Ranges)(
      share: Ranges => SortedMap[LogPartition, Long]
  ): SortedMap[LogPartition, Long] =
    bounds.fills.share(ready, (p: LogPartition) => p -> from.generation(p.topic))(share)

  private def between(from: KafkaPosition)(p: LogPartition, at: Long, end: Long): Long =
    bounds.fills.between(p, from.generation(p.topic), at, end)
}

private[enumerator] object BatchEnds {

  /** True if batches end at one time, and have no rows while a partition does not respond. A batch query reads all rows
    * in one batch.
    */
  def areTimed(settings: KafkaSettings, context: EnumeratorContext): Boolean =
    settings.eventTime.nonEmpty && context.mode == ReadMode.Stream
}
