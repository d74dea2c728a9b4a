// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.Place
import splice.kafka.internal.admission.RecordTimes
import splice.kafka.internal.cluster.{TimedOffset, UnavailablePartition}
import splice.kafka.internal.split.KafkaPosition
import splice.source.log.LogPartitions
import splice.source.runtime.OpenEnded
import splice.source.{LogPartition, SplitEnumerator, SplitRange, StartPosition}

/** The enumerator of one cluster, for use in a source of several clusters. */
private[splice] trait ClusterEnumerator extends SplitEnumerator[KafkaPosition] with LogPartitions
    with OpenEnded[KafkaPosition] {

  override def start(at: StartPosition): KafkaPosition = start(at, Map.empty)

  /** Resolves the start.
    *
    * @param of
    *   starts of single topics, which replace the start in the options
    */
  def start(at: StartPosition, of: Map[String, Place]): KafkaPosition

  final override def splits(from: KafkaPosition, until: KafkaPosition): Seq[SplitRange] = plan.splits(from, until)

  /** The plan with the entries that are durable now. */
  def plan: KafkaPlan

  /** Sets the starts of partitions whose logs may end before the start. Replaces the starts of earlier calls. */
  def expect(starts: KafkaPosition): Unit

  /** Sets the offsets up to which topics are read. Later records are not lost if they are no longer in the log. Replaces
    * the values of earlier calls.
    *
    * @param unread
    *   topics whose start is determined later, so that no record of the topics is lost before
    */
  def limit(ends: KafkaPosition, unread: Set[String]): Unit

  /** Makes the next `advance` request topics and partitions from the brokers, so that the result includes the latest
    * partitions.
    */
  def refresh(): Unit

  /** The end of a bounded source, if an end is stored. */
  def end: Option[KafkaPosition] = None

  /** The offset after the last record of partitions, including records of open transactions. */
  def written(partitions: Set[LogPartition]): Map[LogPartition, Long]

  /** The logs that end before an offset, each with its end. Like [[written]], an end includes records of open
    * transactions. A lower end is requested again, because a broker with outdated metadata may have sent the response.
    *
    * @param ends
    *   the offset of each partition; each log has contained all offsets before it
    */
  def lowered(ends: Map[LogPartition, Long]): Map[LogPartition, Long] = Map.empty

  /** The starts of partitions that are new to the query. Without `start`, the option `newPartitionsStartAt` applies. */
  def newStarts(of: Set[LogPartition], start: Option[Place] = None): Map[LogPartition, Long]

  /** Notes that tasks read ranges. Any thread may call this method. */
  override private[splice] def begun(ranges: Seq[SplitRange]): Unit = ()

  /** Stores the ranges before a position that readers have reported as skipped. */
  def storeUnread(at: KafkaPosition): Unit = ()

  /** Partitions that did not respond to the requests of the last `advance` although other partitions did. */
  def silent: SortedMap[LogPartition, UnavailablePartition] = SortedMap.empty

  /** Topics that are subscribed to by name and did not exist at the last request for topics. */
  def missing: SortedSet[String] = SortedSet.empty

  /** The figures of each topic, as of the last call of [[figures]]. */
  def ofTopics: SortedMap[String, Seq[(String, Long)]] = SortedMap.empty

  /** The id of the cluster, if its brokers have returned an id. */
  def clusterId: Option[String]

  /** The first record at or after a time in milliseconds, for the partitions that have such a record. */
  def atTime(millis: Map[LogPartition, Long]): Map[LogPartition, TimedOffset]

  /** The times of records; None of a result means that a partition did not respond soon. */
  def times: RecordTimes
}
