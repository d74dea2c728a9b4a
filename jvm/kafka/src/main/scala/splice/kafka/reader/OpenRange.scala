// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.reader

import java.util.{List => JList}

import org.apache.kafka.clients.consumer.ConsumerRecord
import org.apache.kafka.common.TopicPartition
import org.apache.spark.unsafe.types.UTF8String

import splice.kafka.split.{KafkaSplitRange, TopicPartitions}

/** A range that is not read to its end yet. */
final private[reader] class OpenRange(range: KafkaSplitRange) {
  val partition: TopicPartition = TopicPartitions.of(range.partition)
  val topic: UTF8String         = UTF8String.fromString(range.partition.topic)
  val from: Long                = range.from
  val until: Long               = range.until
  var position: Long            = range.from

  /** Whether the consumer has moved on since this was last asked. */
  def moved(at: TopicPartition => Long): Boolean = {
    val now  = at(partition)
    val done = now != position
    position = now
    done
  }
}

/** Records of one partition, from an index on. */
final private[reader] case class Chunk(
    range: OpenRange,
    records: JList[ConsumerRecord[Array[Byte], Array[Byte]]],
    index: Int
)
