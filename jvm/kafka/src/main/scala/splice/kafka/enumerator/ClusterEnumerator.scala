// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.options.StartingOffsets
import splice.kafka.split.KafkaPosition
import splice.source.{LogPartition, LogPartitions, OpenEnded, SplitEnumerator, SplitRange, StartPosition}

/** The enumerator of one cluster, as one of several uses it. */
private[splice] trait ClusterEnumerator extends SplitEnumerator[KafkaPosition] with LogPartitions
    with OpenEnded[KafkaPosition] {

  override def start(at: StartPosition): KafkaPosition = start(at, Map.empty)

  /** The start of topics, some of which begin elsewhere than the others where the options say the start. */
  def start(at: StartPosition, of: Map[String, StartingOffsets]): KafkaPosition

  final override def splits(from: KafkaPosition, until: KafkaPosition): Seq[SplitRange] = plan.splits(from, until)

  /** The plan by the entries that are durable now. */
  def plan: KafkaPlan

  /** Takes where partitions begin, of which the log may not have come so far yet; in place of those that were taken before. */
  def expect(starts: KafkaPosition): Unit

  /** Makes the next `advance` request topics and partitions from the brokers, so that it includes the latest partitions. */
  def refresh(): Unit

  /** One past the last offset that was written, including records of open transactions. */
  def written(partitions: Set[LogPartition]): Map[LogPartition, Long]

  /** Starts of partitions that are new to the query, by the option `newPartitionsStartAt` if no start is set. */
  def newStarts(of: Set[LogPartition], start: Option[StartingOffsets] = None): Map[LogPartition, Long]

  /** Partitions that did not respond to the requests of the last `advance`, while others did. */
  def silent: SortedMap[LogPartition, SilentPartition] = SortedMap.empty

  /** Topics that are subscribed to by name and did not exist when topics were last requested. */
  def missing: SortedSet[String] = SortedSet.empty

  /** The figures of each topic, as of the last call of [[figures]]. */
  def ofTopics: SortedMap[String, Seq[(String, Long)]] = SortedMap.empty

  /** The cluster's own id, as far as its brokers have told it. */
  def clusterId: Option[String]

  /** The first record at or after a time in milliseconds, for the partitions that have one. */
  def atTime(millis: Map[LogPartition, Long]): Map[LogPartition, TimedOffset]
}
