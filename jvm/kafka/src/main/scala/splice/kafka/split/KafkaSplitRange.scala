// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.split

import org.apache.kafka.common.TopicPartition

import splice.source.{LogPartition, SplitRange}

/** A partition from an offset (included) until another (excluded).
  *
  * @param topicId
  *   of the topic that the offsets belong to, if it is known; it goes along with them and is no part of what the range is
  */
final private[splice] case class KafkaSplitRange(partition: LogPartition, from: Long, until: Long)(
    val topicId: Option[String]
) extends SplitRange {

  @transient override lazy val splitId: String = partition.toString

  override def weight: Long = until - from

  override def slotted: Boolean = true

  override def cuttable: Boolean = true

  override def pieces(weights: Seq[Long]): Seq[SplitRange] =
    weights.scanLeft(from)(_ + _).zip(weights).map { case (begin, rows) =>
      KafkaSplitRange(partition, begin, begin + rows)(topicId)
    }

  override def toString: String = s"$partition [$from, $until)"
}

private[splice] object KafkaSplitRange {

  /** The ids of the topics of ranges, as far as they are known. */
  def topicIds(ranges: Iterable[KafkaSplitRange]): Map[String, String] =
    ranges.iterator.flatMap(range => range.topicId.map(range.partition.topic -> _)).toMap
}

/** Kafka's own word for a [[LogPartition]]. */
private[splice] object TopicPartitions {

  def of(partition: LogPartition): TopicPartition = new TopicPartition(partition.topic, partition.partition)

  def toLog(partition: TopicPartition): LogPartition = LogPartition(partition.topic, partition.partition)
}
