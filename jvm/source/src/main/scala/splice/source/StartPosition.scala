// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import scala.collection.immutable.SortedMap

import splice.source.log.OffsetRuns
import splice.source.options.FailOrWarn

/** Requested start of an enumerator. */
sealed trait StartPosition

object StartPosition {

  /** Start that the options of the source define. */
  case object Configured extends StartPosition

  /** Exact offsets per log partition. A partition that is not in `starts` begins at its earliest record.
    *
    * The caller has compared the offsets with [[LogPartitions.logRanges]].
    */
  final case class Offsets(starts: SortedMap[LogPartition, OffsetRanges]) extends StartPosition

  /** First record at or after a time, in milliseconds since 1970. */
  final case class Time(millis: Long, onGap: FailOrWarn) extends StartPosition

  /** Position that a custom hand-over rule returned, in the format that the source documents. The enumerator checks the
    * text, and uses it unchanged ([[Source.beginsByPosition]]).
    */
  final case class Exact(json: String) extends StartPosition
}

/** Offsets of a log partition that a source must read: the ranges `fill`, then all offsets starting at `from`.
  *
  * @param from
  *   one past the greatest offset of the history
  * @param fill
  *   disjoint, non-empty ranges before `from`, lowest first. Each pair is the start (included) and the end (excluded)
  *   of a range
  * @param held
  *   offsets within `fill` that the history contains and that the source does not read again. Present if holes were
  *   merged into fewer ranges
  */
final case class OffsetRanges(
    from: Long,
    fill: Vector[(Long, Long)] = Vector.empty,
    held: Option[OffsetRuns] = None
)

/** One partition of a log, such as a partition of a Kafka topic. */
final case class LogPartition(topic: String, partition: Int) {
  override def toString: String = s"$topic-$partition"
}

object LogPartition {
  // Allocates no tuples, because Splice compares partitions tens of thousands of times per batch.
  implicit val ordering: Ordering[LogPartition] = (a: LogPartition, b: LogPartition) => {
    val byTopic = if (a.topic eq b.topic) 0 else a.topic.compareTo(b.topic)
    if (byTopic != 0) byTopic else Integer.compare(a.partition, b.partition)
  }
}
