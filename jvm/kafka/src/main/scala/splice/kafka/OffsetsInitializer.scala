// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka

import java.time.Instant
import java.util.{Map => JMap}

import scala.collection.immutable.{ListMap, SortedMap}
import scala.jdk.CollectionConverters._

import splice.kafka.options.{KafkaOptions, PartitionJson}
import splice.source.{LogPartition, OptionErrors}

/** Where a Kafka source starts or ends; made by the methods of the companion.
  *
  * The words are those of Flink's OffsetsInitializer (FLIP-27). Whatever is said here is turned into fixed offsets once, when
  * the query first starts, and remembered in its checkpoint.
  */
final class OffsetsInitializer private (
    private[kafka] val starting: ListMap[String, String],
    private[kafka] val ending: Option[ListMap[String, String]]
)

object OffsetsInitializer {

  private val Start     = KafkaOptions.Starting.key
  private val StartTime = KafkaOptions.StartingTimestamp.key
  private val End       = KafkaOptions.Ending.key
  private val EndTime   = KafkaOptions.EndingTimestamp.key

  /** Starts at the first record that Kafka still holds. */
  def earliest(): OffsetsInitializer = new OffsetsInitializer(ListMap(Start -> "earliest"), None)

  /** Starts, or ends, at the end of each partition as it is when the query first starts. */
  def latest(): OffsetsInitializer =
    new OffsetsInitializer(ListMap(Start -> "latest"), Some(ListMap(End -> "latest")))

  /** Starts, or ends, at the first record whose timestamp is not before this one, in milliseconds since 1970-01-01T00:00:00Z. */
  def timestamp(millis: Long): OffsetsInitializer =
    new OffsetsInitializer(ListMap(StartTime -> millis.toString), Some(ListMap(EndTime -> millis.toString)))

  /** Starts, or ends, at the first record whose timestamp is not before this one. */
  def timestamp(at: Instant): OffsetsInitializer = timestamp(at.toEpochMilli)

  /** Starts, or ends, at an offset for each partition of each topic; as an end it is excluded. -1 means latest, and -2
    * earliest (as a start only).
    */
  def offsets(offsets: Map[String, Map[Int, Long]]): OffsetsInitializer = {
    val json = PartitionJson.write(
      SortedMap.from(offsets.flatMap { case (topic, of) => of.map { case (p, o) => LogPartition(topic, p) -> o } })
    )
    new OffsetsInitializer(ListMap(Start -> json), Some(ListMap(End -> json)))
  }

  /** The same for Java. */
  def offsets(of: JMap[String, JMap[Integer, java.lang.Long]]): OffsetsInitializer =
    offsets(of.asScala.map { case (topic, ps) =>
      topic -> ps.asScala.map { case (p, o) => p.toInt -> o.toLong }.toMap
    }.toMap)

  /** Starts at the offsets that the group of the option `kafka.group.id` has committed; a partition without one fails. */
  def committed(): OffsetsInitializer = committed("fail")

  /** Starts at the offsets that the group of the option `kafka.group.id` has committed.
    *
    * @param onNoCommittedOffset
    *   where a partition without a committed offset starts: `earliest`, `latest`, or `fail`, which stops the query
    * @throws splice.source.SpliceOptionException
    *   when it is another word
    */
  def committed(onNoCommittedOffset: String): OffsetsInitializer = {
    val option = KafkaOptions.Reset
    if (option.kind.parse(onNoCommittedOffset).isEmpty)
      throw OptionErrors.invalidValue(option.key, onNoCommittedOffset, option.kind.allowed, option.doc)
    new OffsetsInitializer(ListMap(Start -> "committed", option.key -> onNoCommittedOffset), None)
  }
}
