// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.cluster

import java.time.Instant

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.Place
import splice.source.LogPartition
import splice.source.errors.SpliceException

/** Requests of the driver to a cluster. The enumerator accesses Kafka only through this interface, so a simulation can
  * replace Kafka.
  *
  * Every method may block, and throws `InterruptedException` if its thread is interrupted. Every method throws a
  * [[splice.source.errors.SpliceException]] if the cluster does not respond in time or rejects the request. Results omit
  * topics, partitions and records that do not exist.
  */
private[splice] trait ClusterClient extends AutoCloseable {

  /** The topics and partitions of the subscription. The discovery thread calls this method, too. */
  def describe(): LogDescription

  /** The first offset of partitions in the log. */
  def earliest(partitions: Set[LogPartition]): Map[LogPartition, Long]

  /** The starts of partitions that are new to a query. */
  final def starts(at: Place, partitions: Set[LogPartition]): Map[LogPartition, Long] =
    if (at == Place.Earliest) earliest(partitions) else ends(partitions)

  /** The offset after the last record that a reader with the configured isolation level can read. Needs one round trip
    * per broker.
    */
  def ends(partitions: Set[LogPartition]): Map[LogPartition, Long]

  /** The [[ends]] of the partitions that respond soon. A partition without a leader does not delay other partitions. */
  def endsSoon(partitions: Set[LogPartition]): OffsetAnswers[Long] = OffsetAnswers(ends(partitions))

  /** The [[earliest]] offsets of the partitions that respond soon. */
  def earliestSoon(partitions: Set[LogPartition]): OffsetAnswers[Long] = OffsetAnswers(earliest(partitions))

  /** The offset after the last record, including records of open transactions, which readers may receive later. */
  def written(partitions: Set[LogPartition]): Map[LogPartition, Long] = ends(partitions)

  /** The first record at or after a time in milliseconds, for the partitions that have such a record. */
  def atTime(millis: Map[LogPartition, Long]): Map[LogPartition, TimedOffset]

  /** The first record at or after a time in milliseconds of the partitions that respond soon. A partition without such a
    * record is in neither part of the result.
    */
  def atTimeSoon(millis: Long, partitions: Set[LogPartition]): OffsetAnswers[TimedOffset] =
    OffsetAnswers(atTime(partitions.iterator.map(_ -> millis).toMap))

  /** The first record that a reader with the configured isolation level receives in a range of offsets.
    *
    * A range begins at its first number and ends before its second number. The result omits ranges without a record.
    * Transaction markers, aborted records and compacted offsets are not records.
    */
  def firstRecords(ranges: Map[LogPartition, (Long, Long)]): Map[LogPartition, Long]

  /** Like [[firstRecords]], with the times of the records. A range that is no longer in the log has no record. */
  def nextRecords(ranges: Map[LogPartition, (Long, Long)]): Map[LogPartition, TimedOffset] = {
    val first = firstRecords(ranges)
    val found = times(first)
    first.collect { case (p, offset) if found.contains(p) => p -> TimedOffset(offset, found(p)) }
  }

  /** The times of the records at offsets in milliseconds, including records of open and aborted transactions. */
  def times(at: Map[LogPartition, Long]): Map[LogPartition, Long]

  /** The committed offsets of the configured consumer group. */
  def committed(partitions: Set[LogPartition]): Map[LogPartition, Long]

  /** Checks that the user may read the records of topics, if the brokers return access rights.
    *
    * @throws splice.source.errors.SpliceException
    *   when access is denied
    */
  def checkReadable(topics: Set[String]): Unit = ()

  /** The ids and the numbers of partitions of topics. The result omits topics that do not exist. The topics need not be
    * subscribed to.
    *
    * @return
    *   a function that waits for the response; the request is sent before this method returns
    */
  def topicStates(topics: Set[String]): () => Map[String, DescribedTopic] = { () =>
    val seen = describe()
    seen.partitions.groupBy(_.topic).collect {
      case (topic, partitions) if topics(topic) =>
        topic -> DescribedTopic(seen.topicIds.get(topic), partitions.last.partition + 1)
    }
  }

  /** Commits offsets to the configured consumer group in the background. While a commit is running, only the last
    * requested offsets are kept. An error is logged as a warning. [[close]] waits for a short time until the last
    * offsets are committed.
    */
  def commit(offsets: Map[LogPartition, Long]): Unit = ()

  /** Waits for a short time until the offsets of [[commit]] are committed. Returns false after this time. */
  def flushCommits(): Boolean = true
}

/** The topics and partitions of a cluster at one time.
  *
  * @param clusterId
  *   None if the brokers return no cluster id
  * @param topicIds
  *   the ids of the topics in `partitions`, if the brokers return ids
  * @param missing
  *   topics that are subscribed to by name and do not exist
  */
final private[splice] case class LogDescription(
    clusterId: Option[String],
    topicIds: SortedMap[String, String],
    partitions: SortedSet[LogPartition],
    missing: SortedSet[String]
)

/** The state of a topic at one time.
  *
  * @param id
  *   None if the brokers return no id
  * @param partitions
  *   the number of its partitions, subscribed to or not
  */
final private[splice] case class DescribedTopic(id: Option[String], partitions: Int)

/** Offsets of the partitions that responded soon.
  *
  * @param silent
  *   the other partitions, each with the error of a request for this partition alone
  */
final private[splice] case class OffsetAnswers[A](
    found: Map[LogPartition, A],
    silent: Map[LogPartition, SpliceException] = Map.empty
)

/** The offset and the timestamp of a record. */
final private[splice] case class TimedOffset(offset: Long, millis: Long) {
  def time: Instant = Instant.ofEpochMilli(millis)
}
