// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka

import java.time.Instant
import java.util.{Map => JMap}

import scala.collection.immutable.{ListMap, SortedMap}
import scala.jdk.CollectionConverters._

import splice.kafka.internal.options.KafkaOptions
import splice.kafka.internal.split.PartitionJson
import splice.source.LogPartition
import splice.source.errors.OptionErrors

/** The start or the end of a Kafka source. The methods of the companion create instances.
  *
  * The names follow Flink's OffsetsInitializer (FLIP-27). When the query first starts, Splice resolves the start and
  * the end to offsets, and stores the offsets in the checkpoint.
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

  /** Starts at the first record that Kafka retains. */
  def earliest(): OffsetsInitializer = new OffsetsInitializer(ListMap(Start -> "earliest"), None)

  /** Starts, or ends, at the end of each partition at the time when the query first starts. */
  def latest(): OffsetsInitializer =
    new OffsetsInitializer(ListMap(Start -> "latest"), Some(ListMap(End -> "latest")))

  /** Starts, or ends, at the first record with this timestamp or a later timestamp. Unit: milliseconds since
    * 1970-01-01T00:00:00Z.
    */
  def timestamp(millis: Long): OffsetsInitializer =
    new OffsetsInitializer(ListMap(StartTime -> millis.toString), Some(ListMap(EndTime -> millis.toString)))

  /** Starts, or ends, at the first record with this timestamp or a later timestamp. */
  def timestamp(at: Instant): OffsetsInitializer = timestamp(at.toEpochMilli)

  /** Starts, or ends, at an offset per partition of each topic. An end offset is exclusive. -1 means latest. -2 means
    * earliest and can only be a start.
    */
  def offsets(offsets: Map[String, Map[Int, Long]]): OffsetsInitializer = {
    val json = PartitionJson.write(
      SortedMap.from(offsets.flatMap { case (topic, of) => of.map { case (p, o) => LogPartition(topic, p) -> o } })
    )
    new OffsetsInitializer(ListMap(Start -> json), Some(ListMap(End -> json)))
  }

  /** Starts, or ends, at an offset per partition of each topic, for Java. */
  def offsets(of: JMap[String, JMap[Integer, java.lang.Long]]): OffsetsInitializer =
    offsets(of.asScala.map { case (topic, ps) =>
      topic -> ps.asScala.map { case (p, o) => p.toInt -> o.toLong }.toMap
    }.toMap)

  /** Starts at the committed offsets of the consumer group in the option `kafka.group.id`. A partition without a
    * committed offset stops the query.
    */
  def committed(): OffsetsInitializer = committed("fail")

  /** Starts at the committed offsets of the consumer group in the option `kafka.group.id`.
    *
    * @param onNoCommittedOffset
    *   the start of a partition without a committed offset: `earliest`, `latest`, or `fail`, which stops the query
    * @throws splice.source.errors.SpliceOptionException
    *   when `onNoCommittedOffset` has another value
    */
  def committed(onNoCommittedOffset: String): OffsetsInitializer = {
    val option = KafkaOptions.Reset
    if (option.kind.parse(onNoCommittedOffset).isEmpty)
      throw OptionErrors.invalidValue(option.key, onNoCommittedOffset, option.kind.allowed, option.doc)
    new OffsetsInitializer(ListMap(Start -> "committed", option.key -> onNoCommittedOffset), None)
  }
}
