// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.options.NewPartitions
import splice.source.{LogPartition, LogRecord, SpliceException}

/** What the driver asks a cluster. The enumerator knows Kafka by this only, so that a simulated log can stand in for it.
  *
  * Every method may wait, and ends with `InterruptedException` when it is interrupted. Every method fails with a
  * [[splice.source.SpliceException]] when the cluster cannot be reached in time or refuses. Answers leave out what is not there.
  */
private[splice] trait LogMetadata extends AutoCloseable {

  /** The topics and partitions that are subscribed to. Called from the discovery thread too. */
  def describe(): LogDescription

  /** The first offset that the log holds. */
  def earliest(partitions: Set[LogPartition]): Map[LogPartition, Long]

  /** Where partitions begin that are new to a query. */
  final def starts(policy: NewPartitions, partitions: Set[LogPartition]): Map[LogPartition, Long] = policy match {
    case NewPartitions.Earliest => earliest(partitions)
    case NewPartitions.Latest   => ends(partitions)
  }

  /** One past the last offset that a reader of the configured isolation level may see. One round trip a broker. */
  def ends(partitions: Set[LogPartition]): Map[LogPartition, Long]

  /** The [[ends]] of the partitions that respond soon, so that one without a leader does not delay the others. */
  def endsSoon(partitions: Set[LogPartition]): LogOffsets = LogOffsets(ends(partitions))

  /** The [[earliest]] offsets of the partitions that respond soon. */
  def earliestSoon(partitions: Set[LogPartition]): LogOffsets = LogOffsets(earliest(partitions))

  /** One past the last offset that was written, including records of open transactions, which readers may see later. */
  def written(partitions: Set[LogPartition]): Map[LogPartition, Long] = ends(partitions)

  /** The first record at or after a time in milliseconds, for the partitions that have one. */
  def atTime(millis: Map[LogPartition, Long]): Map[LogPartition, TimedOffset]

  /** The first record in ranges of offsets (from included, until excluded) that a reader of the configured isolation level gets,
    * for the partitions that have one. Transaction markers, aborted records and compacted offsets are not records.
    */
  def firstRecords(ranges: Map[LogPartition, (Long, Long)]): Map[LogPartition, Long]

  /** The records at offsets, for the partitions that have one there that a reader of the configured isolation level gets. */
  def records(at: Map[LogPartition, Long]): Map[LogPartition, LogRecord]

  /** What the configured consumer group has committed. */
  def committed(partitions: Set[LogPartition]): Map[LogPartition, Long]

  /** Checks that the records of topics may be read, if the brokers return access rights.
    *
    * @throws splice.source.SpliceException
    *   when access is denied
    */
  def checkReadable(topics: Set[String]): Unit = ()

  /** The ids and the numbers of partitions that topics have now; a topic that does not exist is left out. The topics need not be
    * subscribed to.
    *
    * @return
    *   waits for the response; the request is sent before
    */
  def topicStates(topics: Set[String]): () => Map[String, TopicState] = { () =>
    val seen = describe()
    seen.partitions.groupBy(_.topic).collect {
      case (topic, own) if topics(topic) => topic -> TopicState(seen.topicIds.get(topic), own.last.partition + 1)
    }
  }

  /** Commits offsets to the configured consumer group: later, and only the last ones if many are given in between. An error
    * is a warning. [[close]] waits for a short time until the last ones are committed.
    */
  def commit(offsets: Map[LogPartition, Long]): Unit = ()

  /** Waits for a short time until the offsets of [[commit]] are committed; false if they are not. */
  def flushCommits(): Boolean = true
}

/** A cluster as it was seen at one time.
  *
  * @param clusterId
  *   None when the brokers do not tell
  * @param topicIds
  *   ids of the topics in `partitions`, as far as the brokers tell
  * @param missing
  *   topics that are subscribed to by name and do not exist
  */
final private[splice] case class LogDescription(
    clusterId: Option[String],
    topicIds: SortedMap[String, String],
    partitions: SortedSet[LogPartition],
    missing: SortedSet[String]
)

/** A topic at one time.
  *
  * @param id
  *   None when the brokers return none
  * @param partitions
  *   the number of its partitions, subscribed to or not
  */
final private[splice] case class TopicState(id: Option[String], partitions: Int)

/** Offsets of the partitions that responded soon.
  *
  * @param silent
  *   the other partitions, each with the error that a request for it alone fails with
  */
final private[splice] case class LogOffsets(
    found: Map[LogPartition, Long],
    silent: Map[LogPartition, SpliceException] = Map.empty
)

/** A record's offset and timestamp. */
final private[splice] case class TimedOffset(offset: Long, millis: Long)
