// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.reader

import java.util.concurrent.TimeUnit

import org.apache.kafka.common.TopicPartition
import org.apache.spark.sql.connector.metric.CustomTaskMetric

import splice.kafka.internal.consumer.OpenRange
import splice.kafka.internal.metrics.{KafkaMetrics, TaskReads}
import splice.kafka.internal.split.TopicPartitions
import splice.source.LogPartition

/** The figures of one reader. Only the reading thread writes these figures.
  *
  * @param reused
  *   true if its consumer was open before
  */
final private[splice] class ReadCounts(reused: Boolean) {

  var rows        = 0L
  var bytes       = 0L
  var pollNanos   = 0L
  var fetchMillis = 0L

  /** The metrics for Spark's UI, with current values. */
  val metrics: Array[CustomTaskMetric] = Array(
    new KafkaMetrics.Live(KafkaMetrics.Records, () => rows),
    new KafkaMetrics.Live(KafkaMetrics.Bytes, () => bytes),
    new KafkaMetrics.Live(KafkaMetrics.PollMs, () => TimeUnit.NANOSECONDS.toMillis(pollNanos)),
    new KafkaMetrics.Live(KafkaMetrics.FetchMs, () => fetchMillis),
    new KafkaMetrics.Live(KafkaMetrics.ReadersReused, () => if (reused) 1L else 0L)
  )

  /** The report for the driver.
    *
    * @param skipped
    *   the number of offsets that policies skipped
    * @param end
    *   the end of a partition; None if the end is not available
    */
  def of(ranges: Seq[OpenRange], skipped: Long)(end: TopicPartition => Option[Long]): TaskReads = {
    val read   = ranges.flatMap(range => range.read.map(TopicPartitions.toLog(range.partition) -> _)).toMap
    val filled = ranges.iterator.filter(_.holes.nonEmpty).flatMap(_.read).map(_.rows).sum
    TaskReads(read, filled = filled, skipped = skipped, ends = ReadCounts.ends(ranges)(end)) ++
      TaskReads.ofReader(pollNanos, fetchMillis, reused)
  }
}

private[splice] object ReadCounts {

  /** The backlog of ranges without an end: the time of the last record, and the available ends. Has no counts, so that
    * the driver may receive it several times.
    */
  def backlog(ranges: Iterable[OpenRange])(end: TopicPartition => Option[Long]): TaskReads = {
    val open = ranges.filter(_.isOpen)
    val read =
      open.flatMap(range => range.read.map(TopicPartitions.toLog(range.partition) -> _.copy(rows = 0, bytes = 0)))
    TaskReads(read.toMap, ends = ends(open)(end))
  }

  // The driver has the ends of the other ranges.
  private def ends(ranges: Iterable[OpenRange])(end: TopicPartition => Option[Long]): Map[LogPartition, Long] =
    ranges.filter(_.isOpen).flatMap { range =>
      end(range.partition).map(TopicPartitions.toLog(range.partition) -> _)
    }.toMap
}
