// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.cost

import java.util.concurrent.atomic.AtomicInteger

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.internal.cluster.{ClusterClient, LogDescription, OffsetAnswers, TimedOffset}
import splice.source.LogPartition

/** Cluster in memory that responds immediately. Calls of `grow` add records to its partitions. */
final class GrowingLog(clusterId: String, all: Seq[LogPartition]) extends ClusterClient {

  @volatile private var now: Map[LogPartition, Long] = all.map(_ -> 10L).toMap

  private val description = LogDescription(Some(clusterId), SortedMap.empty, SortedSet.from(all), SortedSet.empty)

  /** Number of requests so far. */
  val requests = new AtomicInteger

  /** Adds ten records to each partition whose number is a multiple of `every`. */
  def grow(every: Int): Unit = now = now.map { case (p, end) => p -> (if (p.partition % every == 0) end + 10 else end) }

  override def describe(): LogDescription = requested(description)

  override def earliest(partitions: Set[LogPartition]): Map[LogPartition, Long] =
    requested(partitions.iterator.map(_ -> 0L).toMap)

  override def ends(partitions: Set[LogPartition]): Map[LogPartition, Long] = requested(now)

  override def atTime(millis: Map[LogPartition, Long]): Map[LogPartition, TimedOffset] = requested(Map.empty)

  // The records of a partition have a distance of one second. Partitions begin at different times.
  override def atTimeSoon(millis: Long, partitions: Set[LogPartition]): OffsetAnswers[TimedOffset] = {
    val ends = now
    requested(OffsetAnswers(partitions.iterator.flatMap { p =>
      val first  = GrowingLog.Start + p.hashCode % 5000
      val offset = math.max(-Math.floorDiv(first - millis, 1000L), 0L)
      Option.when(offset < ends(p))(p -> TimedOffset(offset, first + offset * 1000))
    }.toMap))
  }

  override def times(at: Map[LogPartition, Long]): Map[LogPartition, Long]                    = requested(Map.empty)
  override def firstRecords(ranges: Map[LogPartition, (Long, Long)]): Map[LogPartition, Long] = requested(Map.empty)

  override def committed(partitions: Set[LogPartition]): Map[LogPartition, Long] = requested(Map.empty)

  override def close(): Unit = ()

  private def requested[A](response: A): A = {
    requests.incrementAndGet()
    response
  }
}

private object GrowingLog {
  private val Start = 1700000000000L
}
