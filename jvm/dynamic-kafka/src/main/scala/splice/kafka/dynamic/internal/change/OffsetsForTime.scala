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

  /** Returns the offsets as a position of the topic. */
  def position(topic: String): KafkaPosition = KafkaPosition.of(offsets).as(topic, generation)
}

/** Offset for a time in one partition.
  *
  * @param first
  *   the first record at or after the time; None if no such record exists
  * @param end
  *   end of the log
  */
final private[dynamic] case class OffsetForTime(first: Option[Long], end: Long) {
  def offset: Long = first.getOrElse(end)
}
