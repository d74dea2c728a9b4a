// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.reader

import java.time.{Clock, Duration}
import java.util.concurrent.TimeUnit

import scala.util.Try

import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.slf4j.LoggerFactory

import splice.kafka.dynamic.internal.cluster.ClusterHealth
import splice.kafka.dynamic.internal.split.DynamicSplitRange
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.split.KafkaSplitRange
import splice.source.errors.SpliceException
import splice.source.internal.{ConvertedRanges, SteadyClock}
import splice.source.runtime.Report
import splice.source.{Poll, SplitRange, SplitReader}

/** Reads the ranges of one cluster until their task ends, even during outages of the cluster. After an error of the
  * cluster the reader has no row, until a new client can continue at the position of the last client. The other
  * clusters of the task are not delayed.
  *
  * Only one thread uses a reader.
  *
  * @param make
  *   creates a reader of ranges
  */
final private[splice] class OpenClusterReader[T](
    cluster: String,
    ranges: IndexedSeq[DynamicSplitRange],
    clock: Clock = new SteadyClock(Clock.systemUTC())
)(make: IndexedSeq[DynamicSplitRange] => SplitReader[T])
    extends SplitReader[T] {

  private val streams   = ranges.map(range => range.splitId -> range.stream).toMap
  private val converted = new ConvertedRanges(range)

  private var inner   = Option.empty[SplitReader[T]]
  private var left    = ranges.toList
  private var health  = ClusterHealth()
  private var reports = Vector.empty[Report]
  private var skips   = Vector.empty[Report]

  override def poll(patience: Duration): Poll =
    if (inner.isEmpty && !health.maySend(clock.instant())) pause(patience)
    else
      try {
        val result = open().poll(patience)
        if ((result eq Poll.Found) && !health.isGood) health = health.succeeded
        result
      } catch {
        case e: SpliceException if KafkaErrors.isOfCluster(e) =>
          fail(e)
          pause(patience)
      }

  private def open(): SplitReader[T] = inner.getOrElse {
    val created = make(left.toIndexedSeq)
    inner = Some(created)
    created
  }

  private def fail(error: SpliceException): Unit = {
    if (health.error.isEmpty)
      OpenClusterReader.logger.warn(
        s"The task reads no rows of cluster $cluster until the cluster responds again: ${error.text}"
      )
    health = health.failed(clock.instant(), clock.instant(), error)
    left = unread
    inner.foreach { reader =>
      skips ++= reader.skipped
      reports ++= reader.report(ended = false)
      val _ = Try(reader.close())
    }
    inner = None
  }

  private def pause(patience: Duration): Poll = {
    TimeUnit.MILLISECONDS.sleep(Seq(patience, OpenClusterReader.Pause).min.toMillis)
    Poll.Pending
  }

  override def get(): T = open().get()

  override def time: Long = open().time

  override def isStale: Boolean = inner.exists(_.isStale)

  override def unread: List[DynamicSplitRange] = inner.fold(left)(reader => converted(reader.unread))

  private def range(of: SplitRange): DynamicSplitRange = of match {
    case range: KafkaSplitRange =>
      val split = DynamicSplitRange(cluster, "", range)
      split.copy(stream = streams(split.splitId))
    case other => throw new IllegalArgumentException(s"${other.getClass.getName} is a range of another source")
  }

  override def skipped: Seq[Report] = skips ++ inner.toSeq.flatMap(_.skipped)

  override def backlog: Seq[Report] = inner.toSeq.flatMap(_.backlog)

  override def report(ended: Boolean): Seq[Report] = reports ++ inner.toSeq.flatMap(_.report(ended))

  override def metrics: Array[CustomTaskMetric] = inner.fold(Array.empty[CustomTaskMetric])(_.metrics)

  override def close(): Unit = inner.foreach(_.close())
}

private object OpenClusterReader {

  private val logger = LoggerFactory.getLogger(classOf[OpenClusterReader[_]])

  // A caller that waits only for rows of this cluster polls again.
  private val Pause = Duration.ofMillis(100)
}
