// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.split

import org.apache.kafka.common.TopicPartition

import splice.source.{LogPartition, OffsetRuns, SplitRange}

/** A partition from an offset (included) until another (excluded).
  *
  * @param until
  *   the greatest number if the range has no end
  * @param holes
  *   the only offsets of the range that are read, if it fills holes of a history; records of committed transactions only
  * @param topicId
  *   of the topic that the offsets belong to, if it is known; it goes along with them and is no part of what the range is
  */
final private[splice] case class KafkaSplitRange(
    partition: LogPartition,
    from: Long,
    until: Long,
    holes: Option[Holes] = None
)(
    val topicId: Option[String]
) extends SplitRange {

  @transient override lazy val splitId: String = partition.toString

  override def isOpen: Boolean = until == Long.MaxValue

  override def weight: Long = if (isOpen) 1L else holes.fold(until - from)(_.offsets)

  override def slotted: Boolean = true

  override def cuttable: Boolean = holes.isEmpty && !isOpen

  override def pieces(weights: Seq[Long]): Seq[SplitRange] =
    weights.scanLeft(from)(_ + _).zip(weights).map { case (begin, rows) =>
      KafkaSplitRange(partition, begin, begin + rows)(topicId)
    }

  override def toString: String = s"$partition [$from, ${if (isOpen) "∞" else until.toString})" +
    holes.fold("")(h => s" in ${h.ranges.size} ranges")
}

/** Holes of a history within a range.
  *
  * @param ranges
  *   disjoint, lowest first, from (included) until (excluded)
  * @param held
  *   offsets within the ranges that the history has
  */
final private[splice] case class Holes(ranges: Vector[(Long, Long)], held: Option[OffsetRuns] = None) {

  /** How many offsets are read. */
  def offsets: Long = ranges.iterator.map { case (from, until) => until - from }.sum - held.fold(0L)(_.count)
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
