// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.chain

import scala.collection.immutable.SortedMap
import scala.collection.mutable

import splice.source.log.OffsetRuns
import splice.source.{LogPartition, OffsetRanges}

/** Builds the ranges that a log supplies to fill holes of a history. All partitions together have at most `max`
  * ranges, which limits the size of entries and plans. Nearby holes are merged into one range, and the offsets
  * between these holes are listed as held.
  *
  * A history may have millions of holes, so this class iterates over the holes and never collects the holes.
  */
final private[hybrid] class Fill(max: Int = Fill.MaxRanges) {

  /** @param wanted
    *   per partition: the offset from which the log is read completely, the holes before that offset, and the offsets
    *   of the history
    */
  def apply(wanted: SortedMap[LogPartition, Fill.Wanted]): SortedMap[LogPartition, OffsetRanges] = {
    val nearest = leastDistance(wanted.values)
    wanted.map { case (p, Fill.Wanted(from, holes, held)) =>
      val ranges = merged(holes(), nearest)
      val within = ranges.iterator.map { case (a, b) => b - a }.sum
      val lacks  = holes().map { case (a, b) => b - a }.sum
      p -> OffsetRanges(from, ranges, Option.when(within > lacks)(held.within(ranges)))
    }
  }

  /** Minimum distance, in offsets, of two holes that are not merged. */
  private def leastDistance(wanted: Iterable[Fill.Wanted]): Long = {
    val count = wanted.iterator.map(_.holes().size).sum
    if (count <= max) 1L
    else {
      // Every partition with holes has at least one range.
      val room     = max - wanted.count(_.holes().hasNext)
      val greatest = mutable.PriorityQueue.empty[Long](Ordering[Long].reverse)
      wanted.foreach { partition =>
        distances(partition.holes()).foreach { distance =>
          greatest.enqueue(distance)
          if (greatest.size > math.max(room, 0)) { val _ = greatest.dequeue() }
        }
      }
      // Holes at equal distances may exceed the limit together.
      greatest.headOption.fold(Long.MaxValue)(_ + 1)
    }
  }

  private def distances(holes: Iterator[(Long, Long)]): Iterator[Long] =
    holes.sliding(2).collect { case Seq((_, end), (begin, _)) => begin - end }

  private def merged(holes: Iterator[(Long, Long)], nearest: Long): Vector[(Long, Long)] =
    holes.foldLeft(Vector.empty[(Long, Long)]) {
      case (before :+ ((from, until)), (begin, end)) if begin - until < nearest => before :+ (from -> end)
      case (before, hole)                                                       => before :+ hole
    }
}

private[hybrid] object Fill {

  val MaxRanges = 10000

  /** Offsets of a partition to read from the log.
    *
    * @param from
    *   first offset from which the log is read completely
    * @param holes
    *   ranges before `from` to read, in rising order
    * @param held
    *   the offsets of the history
    */
  final case class Wanted(from: Long, holes: () => Iterator[(Long, Long)], held: OffsetRuns)
}

/** Policy for holes at an exact hand-over. A hole is an offset before the end of the history that no previous leg
  * has.
  */
sealed private[splice] trait OnHoles extends Product with Serializable

private[splice] object OnHoles {

  /** Read these offsets from the log first (default). */
  case object Fill extends OnHoles

  /** Fail the query with an error that lists the holes. */
  case object Fail extends OnHoles

  /** Ignore holes. A compacted or transactional topic has no record at some offsets. */
  case object Ignore extends OnHoles
}
