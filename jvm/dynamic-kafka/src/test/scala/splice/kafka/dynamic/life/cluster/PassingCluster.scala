// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life.cluster

import java.time.Duration

import scala.collection.immutable.{SortedMap, SortedSet}

import org.apache.spark.sql.types.StructType

import splice.kafka.Place
import splice.kafka.internal.admission.RecordTimes
import splice.kafka.internal.cluster.{TimedOffset, UnavailablePartition}
import splice.kafka.internal.enumerator.{ClusterEnumerator, KafkaPlan}
import splice.kafka.internal.split.KafkaPosition
import splice.source.log.{Coverage, LogRange, Outlook}
import splice.source.runtime.Report
import splice.source.{Evidence, Limits, LogPartition, SplitRange, SplitReaderFactory, StartPosition}

/** Forwards every call to the enumerator of a cluster. A planted fault overrides some methods. */
private[life] class PassingCluster(inner: ClusterEnumerator) extends ClusterEnumerator {
  override def start(at: StartPosition, of: Map[String, Place]): KafkaPosition         = inner.start(at, of)
  override def limits(at: KafkaPosition): Limits.Limited                               = inner.limits(at)
  override def advance(from: KafkaPosition, limits: Limits): KafkaPosition             = inner.advance(from, limits)
  override def replay(from: KafkaPosition, until: KafkaPosition): Unit                 = inner.replay(from, until)
  override private[splice] def begun(ranges: Seq[SplitRange]): Unit                    = inner.begun(ranges)
  override def plan: KafkaPlan                                                         = inner.plan
  override def settle(from: KafkaPosition): KafkaPosition                              = inner.settle(from)
  override def open(settled: KafkaPosition): Seq[SplitRange]                           = inner.open(settled)
  override def reached(settled: KafkaPosition, unread: Seq[SplitRange]): KafkaPosition = inner.reached(settled, unread)
  override def isStale: Boolean                                                        = inner.isStale
  override def staleInterval: Option[Duration]                                         = inner.staleInterval
  override def expect(starts: KafkaPosition): Unit                                     = inner.expect(starts)
  override def limit(ends: KafkaPosition, unread: Set[String]): Unit                   = inner.limit(ends, unread)
  override def end: Option[KafkaPosition]                                              = inner.end
  override def storeUnread(at: KafkaPosition): Unit                                    = inner.storeUnread(at)
  override def refresh(): Unit                                                         = inner.refresh()
  override def written(partitions: Set[LogPartition]): Map[LogPartition, Long]         = inner.written(partitions)
  override def lowered(ends: Map[LogPartition, Long]): Map[LogPartition, Long]         = inner.lowered(ends)
  override def newStarts(of: Set[LogPartition], start: Option[Place]): Map[LogPartition, Long] =
    inner.newStarts(of, start)
  override def silent: SortedMap[LogPartition, UnavailablePartition]                     = inner.silent
  override def missing: SortedSet[String]                                                = inner.missing
  override def ofTopics: SortedMap[String, Seq[(String, Long)]]                          = inner.ofTopics
  override def clusterId: Option[String]                                                 = inner.clusterId
  override def atTime(millis: Map[LogPartition, Long]): Map[LogPartition, TimedOffset]   = inner.atTime(millis)
  override def times: RecordTimes                                                        = inner.times
  override def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory =
    inner.readers(columns, ranges)
  override def logRanges(history: SortedMap[LogPartition, Long]): SortedMap[LogPartition, LogRange] =
    inner.logRanges(history)
  override def outlook(): Outlook                                               = inner.outlook()
  override def freeze(): Unit                                                   = inner.freeze()
  override def cost(range: SplitRange): Long                                    = inner.cost(range)
  override def isMember(at: KafkaPosition): String => Boolean                   = inner.isMember(at)
  override def evidence(at: KafkaPosition): Option[Evidence]                    = inner.evidence(at)
  override def remaining(at: KafkaPosition, covered: Coverage): Seq[SplitRange] = inner.remaining(at, covered)
  override def reported(reports: Seq[Report]): Unit                             = inner.reported(reports)
  override def committed(until: KafkaPosition): Unit                            = inner.committed(until)
  override def commitEnd(at: KafkaPosition): Boolean                            = inner.commitEnd(at)
  override def retain(oldest: KafkaPosition): Unit                              = inner.retain(oldest)
  override def stopped(last: => Option[KafkaPosition]): Unit                    = inner.stopped(last)
  override def figures(at: KafkaPosition): SortedMap[String, String]            = inner.figures(at)
  override def gauges(at: KafkaPosition): Iterable[(String, Long)]              = inner.gauges(at)
  override def close(): Unit                                                    = inner.close()
}
