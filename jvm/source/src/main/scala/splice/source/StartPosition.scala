// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import scala.collection.immutable.SortedMap

import splice.source.log.OffsetRuns

/** Where an enumerator is asked to begin. */
sealed trait StartPosition

object StartPosition {

  /** What the source's own options say. */
  case object Configured extends StartPosition

  /** Exact offsets per log partition; a partition that is not named begins at its earliest record.
    *
    * The caller has compared them with [[LogPartitions.logRanges]].
    */
  final case class Offsets(starts: SortedMap[LogPartition, OffsetRanges]) extends StartPosition

  /** The first record at or after a time, in milliseconds since the epoch. */
  final case class Time(millis: Long, onGap: OnGap) extends StartPosition
}

/** The offsets of a log partition that a source is to read: some ranges, then all offsets from `from` on.
  *
  * @param from
  *   one past the greatest offset of the history
  * @param fill
  *   disjoint ranges before `from` that are not empty, lowest first, from (included) until (excluded)
  * @param held
  *   offsets within `fill` that the history has, and that are not read again; present if holes were merged into fewer ranges
  */
final case class OffsetRanges(
    from: Long,
    fill: Vector[(Long, Long)] = Vector.empty,
    held: Option[OffsetRuns] = None
)

/** One partition of a log, such as a Kafka topic's. */
final case class LogPartition(topic: String, partition: Int) {
  override def toString: String = s"$topic-$partition"
}

object LogPartition {
  // Compared tens of thousands of times a batch, so it makes no pairs.
  implicit val ordering: Ordering[LogPartition] = (a: LogPartition, b: LogPartition) => {
    val byTopic = if (a.topic eq b.topic) 0 else a.topic.compareTo(b.topic)
    if (byTopic != 0) byTopic else Integer.compare(a.partition, b.partition)
  }
}

/** What happens when a hand-over would skip records, for example because a log no longer holds the wanted start. */
sealed trait OnGap extends Product with Serializable

object OnGap {

  /** The query fails and names the missing ranges (default). */
  case object Fail extends OnGap

  /** The missing ranges are logged as a warning, and reading begins at the first record that follows them. */
  case object Warn extends OnGap
}
