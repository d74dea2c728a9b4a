// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import splice.kafka.internal.errors.MissingRange
import splice.kafka.internal.identity.Identities
import splice.kafka.internal.split.{KafkaPosition, KafkaSplitRange}
import splice.source.LogPartition
import splice.source.log.OffsetRuns

/** Skipped ranges, by partition and generation of its topic. Immutable. */
final private[splice] case class SkippedRanges(
    all: Map[(LogPartition, Int), Vector[SkippedRanges.Skip]] = Map.empty
) {

  import SkippedRanges.Skip

  /** True if no range was skipped. */
  def isEmpty: Boolean = all.isEmpty

  /** The first offset to read in a range from `from` to `until`; `from` if no skip overlaps the range.
    *
    * All records before the end of a skip are lost. A range that overlaps a skip therefore begins at the end of the
    * skip, in every batch that contains the range.
    */
  def start(partition: LogPartition, generation: Int, from: Long, until: Long): Long =
    all.get((partition, generation)).fold(from) { skips =>
      skips.filter(skip => skip.from < until && from < skip.until).map(_.until).maxOption.fold(from)(math.max(from, _))
    }

  /** All skips of a partition. */
  def of(partition: LogPartition, generation: Int): Vector[Skip] = all.getOrElse((partition, generation), Vector.empty)

  /** The offset at which a partition continues after `from`. */
  def next(partition: LogPartition, generation: Int, from: Long): Long =
    all.get((partition, generation)).fold(from)(_.foldLeft(from) { (at, skip) =>
      if (skip.from <= at && at < skip.until) skip.until else at
    })

  def including(partition: LogPartition, generation: Int, skip: Skip): SkippedRanges = {
    val key = (partition, generation)
    SkippedRanges(all.updated(key, all.getOrElse(key, Vector.empty) :+ skip))
  }

  /** The offsets, also for the generations that continue their generation. */
  def continued(identities: Identities): SkippedRanges =
    identities.continued(all).foldLeft(this) { case (ranges, (key, skips)) =>
      ranges ++ SkippedRanges(Map(key -> skips))
    }

  /** The offsets without the offsets of `other`. */
  def --(other: SkippedRanges): SkippedRanges = SkippedRanges(all.map { case (key, skips) =>
    val removed = OffsetRuns.of(other.all.getOrElse(key, Vector.empty).map(skip => skip.from -> skip.until): _*)
    key -> skips.flatMap(skip => removed.holes(skip.from, skip.until).map { case (from, until) => Skip(from, until) })
  }.filter(_._2.nonEmpty))

  /** The offsets of both, with one skip for adjacent offsets. */
  def ++(other: SkippedRanges): SkippedRanges = SkippedRanges((all.keySet ++ other.all.keySet).iterator.map { key =>
    val skips = Seq(this, other).flatMap(_.all.getOrElse(key, Vector.empty)).map(skip => skip.from -> skip.until)
    key -> OffsetRuns.of(skips: _*).ranges.map { case (from, until) => Skip(from, until) }.toVector
  }.toMap)
}

private[splice] object SkippedRanges {

  /** A range from an offset (inclusive) to another (exclusive). */
  final case class Skip(from: Long, until: Long)

  def of(ranges: Iterable[KafkaSplitRange]): SkippedRanges = ranges.foldLeft(SkippedRanges()) { (all, range) =>
    all.including(range.partition, range.generation, Skip(range.from, range.until))
  }

  /** The ranges that have an end.
    *
    * @param at
    *   a position with the generations of their topics
    */
  def of(ranges: Iterable[MissingRange], at: KafkaPosition): SkippedRanges =
    ranges.foldLeft(SkippedRanges()) { (all, range) =>
      val generation = at.generation(range.partition.topic)
      range.until.fold(all)(end => all.including(range.partition, generation, Skip(range.from, end)))
    }
}
