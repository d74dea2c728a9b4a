// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.chain

import scala.collection.immutable.SortedMap
import scala.collection.mutable

import splice.source.log.OffsetRuns
import splice.source.{LogPartition, OffsetRanges}

/** Makes the ranges that a log supplies. There are at most `max` of all partitions, so that entries and plans are of a limited size:
  * holes that are near each other become one range, and the offsets between them are listed as held.
  *
  * Holes are iterated and not collected, because there may be millions.
  */
final private[hybrid] class Fill(max: Int = Fill.MaxRanges) {

  /** @param wanted
    *   for each partition the offset from which the log is read completely, its holes before that offset, and the offsets that the history has
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

  /** The least number of offsets between two ranges for which they stay apart. */
  private def leastDistance(wanted: Iterable[Fill.Wanted]): Long = {
    val count = wanted.iterator.map(_.holes().size).sum
    if (count <= max) 1L
    else {
      // One range of each partition is there in any case.
      val room     = max - wanted.count(_.holes().hasNext)
      val greatest = mutable.PriorityQueue.empty[Long](Ordering[Long].reverse)
      wanted.foreach { one =>
        distances(one.holes()).foreach { distance =>
          greatest.enqueue(distance)
          if (greatest.size > math.max(room, 0)) { val _ = greatest.dequeue() }
        }
      }
      // Of equal distances not all may have room.
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

  /** What a partition needs of the log.
    *
    * @param from
    *   everything from here on
    * @param holes
    *   and these ranges before it, lowest first
    * @param held
    *   the offsets of the history
    */
  final case class Wanted(from: Long, holes: () => Iterator[(Long, Long)], held: OffsetRuns)
}
