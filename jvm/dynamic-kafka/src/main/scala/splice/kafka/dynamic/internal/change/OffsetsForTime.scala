// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.change

import java.time.Instant

import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition

/** Offsets for a time in the partitions of a topic, from a response of its cluster.
  *
  * @param sent
  *   the wall-clock time before the request was sent
  * @param generation
  *   generation of the topic
  */
final private[dynamic] case class OffsetsForTime(
    sent: Instant,
    generation: Int,
    partitions: Map[LogPartition, OffsetForTime]
) {

  def offsets: Map[LogPartition, Long] = partitions.map { case (p, place) => p -> place.offset }

  /** Returns the offsets as a position of the topic.
    *
    * @param fixed
    *   the offsets of earlier responses, which apply to the same generation of the topic
    */
  def position(topic: String, fixed: KafkaPosition = KafkaPosition.Empty): KafkaPosition =
    position(topic, fixed, offsets)

  /** Returns the offsets of the records at or after the time as a position of the topic. A later response may have such
    * a record in other partitions.
    */
  def firsts(topic: String, fixed: KafkaPosition): KafkaPosition =
    position(topic, fixed, partitions.flatMap { case (p, place) => place.first.map(p -> _) })

  private def position(topic: String, fixed: KafkaPosition, offsets: Map[LogPartition, Long]): KafkaPosition = {
    val now = KafkaPosition.of(offsets).as(topic, generation)
    if (fixed.generation(topic) == generation) now ++ fixed.offsets else now
  }
}

/** Offset for a time in one partition.
  *
  * @param first
  *   the first record at or after the time; None if no such record exists
  * @param end
  *   end of the log
  * @param begin
  *   the first offset of the log, if the offset is the start of a topic
  */
final private[dynamic] case class OffsetForTime(first: Option[Long], end: Long, begin: Option[Long] = None) {
  def offset: Long = first.getOrElse(end)

  /** Returns true if the log has no record before the time, so that retention may have removed later records too. */
  def mayLackRecords: Boolean = begin.exists(from => from > 0 && from >= offset)
}
