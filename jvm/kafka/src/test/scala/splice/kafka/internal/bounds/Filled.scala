// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import scala.util.Random

import splice.kafka.internal.split.KafkaSplitRange
import splice.source.log.OffsetRuns
import splice.source.{LogPartition, OffsetRanges, SplitRange}

/** What the suites about holes of a history share. */
object Filled {

  /** A history of one partition as a set, and what is to be read beside it.
    *
    * @param cut
    *   one past the greatest offset of the history
    */
  final case class Model(cut: Long, held: Set[Long], ranges: OffsetRanges) {

    def reads(offset: Long): Boolean = offset >= cut || !held(offset)

    /** The offsets that are to be read until another (excluded). */
    def wanted(until: Long): Seq[Long] = (0L until until).filter(reads)
  }

  /** @param merged
    *   whether some holes become one range, so that offsets within it are held
    */
  def random(random: Random, cut: Long, merged: Boolean): Model = {
    val runs = Iterator.unfold(0L) { at =>
      Option.when(at < cut) {
        val end = math.min(cut, at + 1 + random.nextInt(if (random.nextInt(4) == 0) 20 else 3))
        (at -> end, end)
      }
    }.toVector
    val odd     = random.nextInt(2)
    val history = runs.zipWithIndex.collect { case ((a, b), i) if i % 2 == odd => a until b }.flatten.toSet + (cut - 1)
    model(cut, history, if (merged) random.nextInt(6).toLong else 1L)
  }

  /** Holes of which those that are nearer than `nearest` become one range. */
  def model(cut: Long, history: Set[Long], nearest: Long = 1): Model = {
    val holes = (0L until cut).filterNot(history).foldLeft(Vector.empty[(Long, Long)]) {
      case (before :+ ((from, until)), offset) if offset - until < nearest => before :+ (from   -> (offset + 1))
      case (before, offset)                                                => before :+ (offset -> (offset + 1))
    }
    val within = holes.flatMap { case (from, until) => from until until }.filter(history)
    val held   = Option.when(within.nonEmpty)(OffsetRuns.of(within.map(o => o -> (o + 1)): _*))
    Model(cut, history, OffsetRanges(cut, holes, held))
  }

  /** The offsets that a reader hands over of a range, if each has a record. */
  def offsets(range: KafkaSplitRange): Seq[Long] = range.holes.fold[Seq[Long]](range.from until range.until) { holes =>
    holes.ranges.flatMap { case (from, until) =>
      assert(range.from <= from && from < until && until <= range.until, range)
      (from until until).filterNot(offset => holes.held.exists(_.contains(offset)))
    }
  }

  /** All offsets of a batch, in the order of the ranges. */
  def read(ranges: Seq[SplitRange]): Map[LogPartition, Seq[Long]] =
    ranges.collect { case own: KafkaSplitRange => own }.groupMap(_.partition)(offsets).map { case (p, own) =>
      p -> own.flatten
    }
}
