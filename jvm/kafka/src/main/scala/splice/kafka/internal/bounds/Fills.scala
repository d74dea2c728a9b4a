// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import java.util.Arrays

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap

import splice.kafka.internal.identity.Identities
import splice.kafka.internal.split.KafkaPosition
import splice.source.log.OffsetRuns
import splice.source.{LogPartition, OffsetRanges, StoredStart}

/** The partitions that begin with holes of a history, by partition and generation of its topic. Immutable. */
final private[splice] case class Fills(all: Map[(LogPartition, Int), PartitionFill] = Map.empty) {

  def isEmpty: Boolean = all.isEmpty

  /** The holes, also for the generations that continue their generation. */
  def continued(identities: Identities): Fills =
    if (isEmpty || identities.later.isEmpty) this else Fills(all ++ identities.continued(all))

  def find(partition: LogPartition, generation: Int): Option[PartitionFill] =
    if (isEmpty) None else all.get((partition, generation))

  /** The number of offsets to read in a range from an offset (inclusive) to another (exclusive). */
  def between(partition: LogPartition, generation: Int, from: Long, until: Long): Long =
    find(partition, generation).fold(math.max(until - from, 0L))(fill =>
      math.max(fill.rank(until) - fill.rank(from), 0L)
    )

  /** The offsets to read in a range from an offset (inclusive) to another (exclusive). */
  def read(partition: LogPartition, generation: Int, from: Long, until: Long): OffsetRuns =
    find(partition, generation).fold(OffsetRuns.of(from -> until))(_.read(from, until))

  /** The first offset to read at or after `from`. */
  def next(partition: LogPartition, generation: Int, from: Long): Long =
    find(partition, generation).fold(from)(_.next(from))

  /** Shares a batch by the number of offsets to read. Offsets of the history do not count.
    *
    * @param ready
    *   the start and the end of each available range
    * @param key
    *   the partition and the generation of its topic
    * @param share
    *   computes the end of each partition in the batch
    */
  def share[K](ready: SortedMap[K, (Long, Long)], key: K => (LogPartition, Int))(
      share: SortedMap[K, (Long, Long)] => SortedMap[K, Long]
  ): SortedMap[K, Long] =
    if (isEmpty) share(ready)
    else {
      val fills  = ready.keysIterator.flatMap(k => all.get(key(k)).map(k -> _)).toMap
      val ranked = ready.transform { case (k, (from, until)) =>
        fills.get(k).fold(from -> until)(fill => fill.rank(from) -> math.max(fill.rank(until), fill.rank(from)))
      }
      share(ranked).transform { (k, rank) =>
        val (from, until) = ready(k)
        fills.get(k).fold(rank) { fill =>
          // The offsets after the last offset to read are in the history, so the batch skips these offsets.
          if (rank >= fill.rank(until)) math.max(from, until)
          else if (rank == fill.rank(from)) from else fill.offset(rank)
        }
      }
    }
}

private[splice] object Fills {

  /** The holes that the query reads from a log with this start. */
  def of(start: KafkaPosition, ranges: SortedMap[LogPartition, OffsetRanges]): Fills = Fills(ranges.collect {
    case (p, offsets) if offsets.fill.nonEmpty && start.get(p).nonEmpty =>
      (p, start.generation(p.topic)) -> new PartitionFill(offsets)
  }.toMap)

  /** The holes of a stored start, if a start is stored. */
  def of(start: Option[StoredStart]): Fills =
    start.filter(_.fill.nonEmpty).fold(Fills())(stored => of(KafkaPosition.read(stored.position), stored.fill))
}

/** Holes at the start of a partition. The rank of an offset is its number in the order of reading.
  *
  * @param ranges
  *   the holes before `ranges.from`; not empty
  */
final private[splice] class PartitionFill(val ranges: OffsetRanges) {

  private val begins = ranges.fill.iterator.map(_._1).toArray
  private val ends   = ranges.fill.iterator.map(_._2).toArray
  private val before = begins.indices.iterator.map(i => count(begins(i), ends(i))).scanLeft(0L)(_ + _).toArray

  /** The offset after the greatest offset of the history. */
  def cut: Long = ranges.from

  /** The number of offsets to read before the cut. */
  def total: Long = before.last

  /** The number of offsets to read before this offset. */
  def rank(offset: Long): Long =
    if (offset >= cut) total + (offset - cut)
    else {
      val i = lastBegin(offset)
      if (i < 0) 0L else if (offset >= ends(i)) before(i + 1) else before(i) + count(begins(i), offset)
    }

  /** The offset after the offset of rank `rank - 1`. `rank` is greater than 0. */
  def offset(rank: Long): Long =
    if (rank > total) cut + (rank - total)
    else {
      val i    = PartitionFill.least(0L, begins.length - 1L)(i => before(i.toInt + 1) >= rank).toInt
      val left = rank - before(i)
      if (ranges.held.isEmpty) begins(i) + left
      else PartitionFill.least(begins(i) + left, ends(i))(count(begins(i), _) >= left)
    }

  /** The first offset to read at or after this offset. */
  @tailrec def next(offset: Long): Long = {
    val i = lastBegin(offset)
    if (offset >= cut) offset
    else if (i >= 0 && offset < ends(i)) missing(offset, ends(i)).nextOption() match {
      case Some((first, _)) => first
      case None             => next(ends(i))
    }
    else if (i + 1 < begins.length) next(begins(i + 1))
    else cut
  }

  /** The holes before the cut, limited to the range from an offset (inclusive) to another (exclusive). */
  def within(from: Long, until: Long): Vector[(Long, Long)] = {
    val first = math.max(lastBegin(from), 0)
    (first until begins.length).iterator
      .takeWhile(i => begins(i) < until)
      .map(i => math.max(begins(i), from) -> math.min(ends(i), until))
      .filter { case (a, b) => a < b }
      .toVector
  }

  /** The offsets of ranges that the history contains. */
  def held(of: Vector[(Long, Long)]): Option[OffsetRuns] = ranges.held.map(_.within(of)).filterNot(_.isEmpty)

  /** The offsets to read in the range from an offset (inclusive) to another (exclusive). */
  def read(from: Long, until: Long): OffsetRuns = {
    val unread = within(from, until).flatMap { case (a, b) => missing(a, b) } :+ (math.max(from, cut) -> until)
    OffsetRuns.of(unread: _*)
  }

  /** The number of offsets to read in a hole or in a part of a hole. */
  private def count(from: Long, until: Long): Long =
    until - from - ranges.held.fold(0L)(_.within(Seq(from -> until)).count)

  /** The offsets to read in a hole or in a part of a hole. */
  private def missing(from: Long, until: Long): Iterator[(Long, Long)] =
    ranges.held.fold(Iterator.single(from -> until))(_.within(Seq(from -> until)).holes(from, until))

  // The index of the last hole that begins at or before the offset; -1 if no hole does.
  private def lastBegin(offset: Long): Int = {
    val index = Arrays.binarySearch(begins, offset)
    if (index >= 0) index else -index - 2
  }
}

private[splice] object PartitionFill {

  /** The part of each range that consists of holes of a history. */
  def holes[K: Ordering](ranges: SortedMap[K, (Long, Long)])(
      fill: K => Option[PartitionFill]
  ): SortedMap[K, (Long, Long)] = ranges.flatMap { case (key, (from, until)) =>
    fill(key).filter(from < _.cut).map(own => key -> (from -> math.min(until, own.cut)))
  }

  /** The part of each range after its holes. */
  def after[K: Ordering](
      ranges: SortedMap[K, (Long, Long)],
      holes: SortedMap[K, (Long, Long)]
  ): SortedMap[K, (Long, Long)] = ranges.transform { case (key, (from, until)) =>
    holes.get(key).fold(from -> until) { case (_, cut) => cut -> math.max(cut, until) }
  }

  /** Binary search: the least number for which a condition is true. The condition must be monotonic, and true for the
    * last number.
    */
  @tailrec private def least(first: Long, last: Long)(holds: Long => Boolean): Long =
    if (first >= last) last
    else {
      val middle = first + (last - first) / 2
      if (holds(middle)) least(first, middle)(holds) else least(middle + 1, last)(holds)
    }
}
