// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import scala.util.Random

import splice.kafka.internal.split.KafkaSplitRange
import splice.source.log.OffsetRuns
import splice.source.{LogPartition, OffsetRanges, SplitRange}

/** Helpers for suites about holes of a history. */
object Filled {

  /** History of one partition as a set, with the ranges to read in addition.
    *
    * @param cut
    *   greatest offset of the history plus one
    */
  final case class Model(cut: Long, held: Set[Long], ranges: OffsetRanges) {

    def reads(offset: Long): Boolean = offset >= cut || !held(offset)

    /** Offsets to read before `until`. */
    def wanted(until: Long): Seq[Long] = (0L until until).filter(reads)
  }

  /** @param merged
    *   true if some holes are merged into one range, which then includes offsets of the history
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

  /** Creates a model. Holes with a distance below `nearest` are merged into one range. */
  def model(cut: Long, history: Set[Long], nearest: Long = 1): Model = {
    val holes = (0L until cut).filterNot(history).foldLeft(Vector.empty[(Long, Long)]) {
      case (before :+ ((from, until)), offset) if offset - until < nearest => before :+ (from   -> (offset + 1))
      case (before, offset)                                                => before :+ (offset -> (offset + 1))
    }
    val within = holes.flatMap { case (from, until) => from until until }.filter(history)
    val held   = Option.when(within.nonEmpty)(OffsetRuns.of(within.map(o => o -> (o + 1)): _*))
    Model(cut, history, OffsetRanges(cut, holes, held))
  }

  /** Offsets that a reader returns of a range, if each offset has a record. */
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
