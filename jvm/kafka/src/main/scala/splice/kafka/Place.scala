// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka

import java.time.{Duration, Instant}

import scala.collection.immutable.SortedMap

import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition
import splice.source.options.SourceOptions.fold

/** A place in the logs of topics, before Splice resolves the place to offsets: a start, an end, a stop, or the place at
  * which a stream moves from removed topics to new topics.
  *
  * Options and metadata set places. A stop and an end cannot be [[Place.Earliest]]. A move is [[Place.At]] or
  * [[Place.Offsets]], and all its topics contain the same records.
  *
  * Example: `stream.copy(start = Some(Place.At(Instant.parse("2026-01-01T00:00:00Z"))))`
  */
sealed trait Place extends Product with Serializable

object Place {

  /** Default lateness of records. */
  val Lateness: Duration = Duration.ofMinutes(1)

  /** The first record of each partition. */
  case object Earliest extends Place

  /** The end of each partition when the place takes effect. */
  case object Latest extends Place

  /** The committed offsets of the consumer group.
    *
    * @param otherwise
    *   the place of a partition without a committed offset; None = an error
    */
  final private[splice] case class Committed(otherwise: Option[Place]) extends Place

  /** The first record of each partition whose timestamp is not before a time.
    *
    * @param lateness
    *   how long after `time` a stop or a move waits for such a record of a partition, before it uses the end of the
    *   partition instead. A start and an end do not wait
    * @param otherwise
    *   the start of a partition without such a record; None = an error
    */
  final case class At(time: Instant, lateness: Duration = Lateness, otherwise: Option[Place] = Some(Latest))
      extends Place {

    // Timestamps of records have a precision of one millisecond.
    private[splice] def millis: Long = time.plusNanos(999999L).toEpochMilli
  }

  /** As [[At]], with a time in milliseconds since 1970 per partition. */
  final private[splice] case class AtTimes(
      millis: SortedMap[LogPartition, Long],
      otherwise: Option[Place] = Some(Latest)
  ) extends Place

  /** An offset per partition: a start begins at this offset, and any other place ends before this offset.
    *
    * @param clusters
    *   offsets by the name of the cluster
    */
  final case class Offsets(clusters: SortedMap[String, SortedMap[LogPartition, Long]]) extends Place {

    private[splice] def of(cluster: String, topic: String): KafkaPosition =
      KafkaPosition(clusters.getOrElse(cluster, SortedMap.empty[LogPartition, Long])).only(topic)
  }

  /** An offset per partition of one cluster, in an option; -1 means latest and -2 earliest.
    *
    * @param isWhole
    *   true if a partition without an offset is an error; otherwise it starts like a new partition
    */
  final private[splice] case class Exact(offsets: SortedMap[LogPartition, Long], isWhole: Boolean = true) extends Place

  /** Returns the place of a word, ignoring case; None for any other text. */
  private[splice] def ofWord(text: String): Option[Place] = fold(text.trim) match {
    case "earliest"  => Some(Earliest)
    case "latest"    => Some(Latest)
    case "committed" => Some(Committed(None))
    case _           => None
  }
}
