// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import splice.source.LogPartition

/** Ranges that are passed over, by partition and generation of its topic. Immutable. */
final private[splice] case class SkippedRanges(
    all: Map[(LogPartition, Int), Vector[SkippedRanges.Skip]] = Map.empty
) {

  import SkippedRanges.Skip

  /** Whether no range was ever passed over. */
  def isEmpty: Boolean = all.isEmpty

  /** The first offset that is read of a range that is planned from `from` until `until`; `from` if none is passed over.
    *
    * Everything before the end of a skip is lost. So a range that begins before a skip and reaches into it begins at its end, in
    * whatever batches the range is read again.
    */
  def start(partition: LogPartition, generation: Int, from: Long, until: Long): Long =
    all.get((partition, generation)).fold(from) { skips =>
      skips.filter(skip => skip.from < until && from < skip.until).map(_.until).maxOption.fold(from)(math.max(from, _))
    }

  /** All skips of a partition. */
  def of(partition: LogPartition, generation: Int): Vector[Skip] = all.getOrElse((partition, generation), Vector.empty)

  /** The offset at which a partition continues that is at `from`. */
  def next(partition: LogPartition, generation: Int, from: Long): Long =
    all.get((partition, generation)).fold(from)(_.foldLeft(from) { (at, skip) =>
      if (skip.from <= at && at < skip.until) skip.until else at
    })

  def including(partition: LogPartition, generation: Int, skip: Skip): SkippedRanges = {
    val key = (partition, generation)
    SkippedRanges(all.updated(key, all.getOrElse(key, Vector.empty) :+ skip))
  }
}

private[splice] object SkippedRanges {

  /** From an offset (included) until another (excluded). */
  final case class Skip(from: Long, until: Long)
}
