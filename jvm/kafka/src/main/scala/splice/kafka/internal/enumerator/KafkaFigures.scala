// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator

import scala.collection.immutable.SortedMap

import splice.kafka.internal.admission.{EventTimeAdmission, RecordSizes}
import splice.kafka.internal.bounds.{Bounds, EndOffsets}
import splice.kafka.internal.cluster.ClusterAccess
import splice.kafka.internal.errors.SkippedRows
import splice.kafka.internal.metrics.{Lag, LagTracker, ReadReports, TaskReads}
import splice.kafka.internal.split.KafkaPosition
import splice.source.runtime.ProgressMetric
import splice.source.{EnumeratorContext, LogPartition}

/** The figures of one cluster for the query progress.
  *
  * @param lastEnds
  *   the last ends of partitions
  * @param isRead
  *   true if a partition of a position is still read: the subscription covers the partition, and its topic exists
  * @param skipped
  *   the number of offsets that policies of the driver have skipped in this run; the figures of tasks are added
  * @param eventTime
  *   for batches that end at one time in all partitions
  */
final private[splice] class KafkaFigures(
    sizes: RecordSizes,
    reports: ReadReports,
    bounds: Bounds,
    lastEnds: EndOffsets,
    cluster: ClusterAccess,
    context: EnumeratorContext,
    isRead: LogPartition => Boolean,
    skipped: SkippedRows,
    eventTime: Option[EventTimeAdmission]
) {

  private val lag = new LagTracker

  private var seen                           = Option.empty[Lag]
  private var shownAt: Option[KafkaPosition] = None
  private var filled                         = 0L
  private var total                          = TaskReads()

  // The ends from batches without an end. For these batches, the driver requests no ends.
  private var reported = Map.empty[LogPartition, Long]

  def apply(at: KafkaPosition): SortedMap[String, String] = {
    val tasks = reports.take()
    tasks.partitions.foreach { case (p, read) => sizes.learn(p.topic, read.rows, read.bytes) }
    val topics = tasks.partitions.keySet.map(_.topic)
    shownAt.filter(_ ne at).foreach { before =>
      at.topics.filter(t => !topics(t) && before.of(t) != at.of(t)).foreach(sizes.foundNone)
    }
    shownAt = Some(at)
    filled += tasks.filled
    total = total ++ tasks.copy(partitions = Map.empty, ends = Map.empty)
    skipped.add(tasks.skipped)
    reported ++= tasks.ends
    def toFill = at.offsets.iterator.map { case (p, offset) =>
      bounds.fills.find(p, at.generation(p.topic)).fold(0L)(fill => math.max(fill.total - fill.rank(offset), 0L))
    }.sum
    val fill = if (bounds.fills.isEmpty) Nil
    else Seq(ProgressMetric.RowsFilled -> filled.toString, ProgressMetric.OffsetsToFill -> toFill.toString)
    val read =
      if (at.offsets.keysIterator.forall(isRead)) at
      else at.copy(offsets = at.offsets.filter { case (p, _) => isRead(p) })
    val now = lag.update(unfilled(read), end, tasks, context.clock.instant())
    seen = Some(now)
    val times = eventTime.map(ProgressMetric.RowsHeld -> _.rowsHeld.toString) ++
      reports.delay.millis.map(ProgressMetric.DelayNeeded -> _.toString)
    now.report ++ total.report ++ fill ++ times ++ Seq(
      ProgressMetric.Position          -> at.summary,
      ProgressMetric.RowsSkipped       -> skipped.total.toString,
      ProgressMetric.Splits            -> read.offsets.size.toString,
      ProgressMetric.DiscoveryFailures -> cluster.discovery.health.total.toString
    ) ++ cluster.discovery.health.age(context.steady.instant()).map(ProgressMetric.DiscoveryAge -> _.toMillis.toString)
  }

  /** The figures of each topic, as of the last call. */
  def ofTopics: SortedMap[String, Seq[(String, Long)]] =
    seen.fold(SortedMap.empty[String, Seq[(String, Long)]])(_.ofTopics)

  private def end(p: LogPartition): Option[Long] = reported.get(p).orElse(lastEnds.last(p))

  /** Offsets whose distance from the end is the number of offsets to read. */
  private def unfilled(at: KafkaPosition): SortedMap[LogPartition, Long] =
    if (bounds.fills.isEmpty) at.offsets
    else
      at.offsets.map { case (p, offset) =>
        val last = end(p).getOrElse(offset)
        p -> (last - bounds.fills.between(p, at.generation(p.topic), offset, last))
      }
}
