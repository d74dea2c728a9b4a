// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.split

import org.apache.kafka.common.TopicPartition

import splice.source.log.OffsetRuns
import splice.source.{LogPartition, SplitRange}

/** A range of offsets of a partition.
  *
  * @param from
  *   the first offset
  * @param until
  *   the offset after the last offset of the range; `Long.MaxValue` if the range has no end
  * @param holes
  *   the only offsets of the range that are read, if the range fills holes of a history; these are offsets of committed
  *   transactions
  * @param topicId
  *   the id of the topic to which the offsets belong, if the id is available; does not count for equality
  * @param generation
  *   the generation of the topic in the position; does not count for equality
  */
final private[splice] case class KafkaSplitRange(
    partition: LogPartition,
    from: Long,
    until: Long,
    holes: Option[Holes] = None
)(
    val topicId: Option[String],
    val generation: Int = 0
) extends SplitRange {

  @transient override lazy val splitId: String = partition.toString

  override def isOpen: Boolean = until == Long.MaxValue

  override def weight: Long = if (isOpen) 1L else holes.fold(until - from)(_.offsets)

  override def slotted: Boolean = true

  override def cuttable: Boolean = holes.isEmpty && !isOpen

  override def pieces(weights: Seq[Long]): Seq[SplitRange] =
    weights.scanLeft(from)(_ + _).zip(weights).map { case (begin, rows) =>
      KafkaSplitRange(partition, begin, begin + rows)(topicId, generation)
    }

  override def toString: String = s"$partition [$from, ${if (isOpen) "∞" else until.toString})" +
    holes.fold("")(h => s" in ${h.ranges.size} ranges")
}

/** Holes of a history within a range.
  *
  * @param ranges
  *   disjoint ranges in ascending order, each from an offset (inclusive) to another (exclusive)
  * @param held
  *   offsets within the ranges that the history has
  */
final private[splice] case class Holes(ranges: Vector[(Long, Long)], held: Option[OffsetRuns] = None) {

  /** The number of offsets that are read. */
  def offsets: Long = ranges.iterator.map { case (from, until) => until - from }.sum - held.fold(0L)(_.count)
}

private[splice] object KafkaSplitRange {

  /** The ids of the topics of ranges, for topics whose id is available. */
  def topicIds(ranges: Iterable[KafkaSplitRange]): Map[String, String] =
    ranges.iterator.flatMap(range => range.topicId.map(range.partition.topic -> _)).toMap
}

/** Converts between [[LogPartition]] and the class of the Kafka client. */
private[splice] object TopicPartitions {

  def of(partition: LogPartition): TopicPartition = new TopicPartition(partition.topic, partition.partition)

  def toLog(partition: TopicPartition): LogPartition = LogPartition(partition.topic, partition.partition)
}
