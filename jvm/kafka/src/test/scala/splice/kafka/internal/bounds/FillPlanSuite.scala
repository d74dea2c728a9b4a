// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.KafkaPlan
import splice.kafka.internal.enumerator.SimulatedRun.{at, range, t}
import splice.kafka.internal.split.{Holes, KafkaSplitRange}
import splice.source.OffsetRanges
import splice.source.log.OffsetRuns

/** Tests of the ranges of batches that fill holes of a history. */
final class FillPlanSuite extends AnyFunSuite {

  private val seeds = sys.env.get("SEED").map(s => Seq(s.toLong)).getOrElse(1L to 2000L)

  private val ranges = OffsetRanges(40, Vector(5L -> 10L, 20L -> 30L), Some(OffsetRuns.of(22L -> 25L)))

  private val plan = KafkaPlan(fills = Fills(Map((t(0), 0) -> new PartitionFill(ranges))))

  private def filled(from: Long, until: Long)(holes: (Long, Long)*)(held: (Long, Long)*): KafkaSplitRange =
    KafkaSplitRange(
      t(0),
      from,
      until,
      Some(Holes(holes.toVector, Option.when(held.nonEmpty)(OffsetRuns.of(held: _*))))
    )(None)

  test("a batch has one range for the holes before the end of the history, and one range for later offsets") {
    assert(plan.splits(at(0 -> 5), at(0 -> 50)) ==
      Seq(filled(5, 30)(5L -> 10L, 20L -> 30L)(22L -> 25L), range(0, 40, 50)))
    assert(plan.splits(at(0 -> 5), at(0 -> 8)) == Seq(filled(5, 8)(5L -> 8L)()))
    assert(plan.splits(at(0 -> 8), at(0 -> 24)) == Seq(filled(8, 24)(8L -> 10L, 20L -> 24L)(22L -> 24L)))
    assert(plan.splits(at(0 -> 24), at(0 -> 41)) == Seq(filled(24, 30)(24L -> 30L)(24L -> 25L), range(0, 40, 41)))
    assert(plan.splits(at(0 -> 30), at(0 -> 50)) == Seq(range(0, 40, 50)))
    assert(plan.splits(at(0 -> 10), at(0 -> 20)).isEmpty && plan.splits(at(0 -> 30), at(0 -> 40)).isEmpty)
    assert(plan.splits(at(0 -> 45), at(0 -> 50)) == Seq(range(0, 45, 50)))
  }

  test("the weight of a range with holes is the number of offsets to read, and the range is not split") {
    val Seq(holes, live) = plan.splits(at(0 -> 5), at(0 -> 50)): @unchecked
    assert(holes.weight == 12 && !holes.cuttable && holes.slotted && holes.splitId == live.splitId)
    assert(live.weight == 10 && live.cuttable)
  }

  test("skipped offsets and offsets of the history are not read") {
    val skips = SkippedRanges().including(t(0), 0, SkippedRanges.Skip(5, 23))
    assert(plan.copy(skips = skips).splits(at(0 -> 5), at(0 -> 50)) ==
      Seq(filled(23, 30)(23L -> 30L)(23L -> 25L), range(0, 40, 50)))
    val all = SkippedRanges().including(t(0), 0, SkippedRanges.Skip(5, 45))
    assert(plan.copy(skips = all).splits(at(0 -> 5), at(0 -> 50)) == Seq(range(0, 45, 50)))
  }

  test("two consecutive batches have the same offsets as one large batch, for any cut") {
    seeds.foreach { seed =>
      val random = new Random(seed)
      val models = (0 to random.nextInt(3)).map { p =>
        t(p) -> Filled.random(random, 1L + random.nextInt(50), random.nextBoolean())
      }.toMap
      val own = KafkaPlan(fills = Fills(models.collect {
        case (p, m) if m.ranges.fill.nonEmpty => (p, 0) -> new PartitionFill(m.ranges)
      }))
      def cuts(p: Int) = {
        val cut = models(t(p)).cut
        Seq.fill(3)(random.nextLong(cut + 12)).sorted.updated(0, random.nextLong(2) * 3).sorted
      }
      val all                    = models.keys.toSeq.map(p => p.partition -> cuts(p.partition))
      val Seq(a, b, c)           = (0 to 2).map(i => at(all.map { case (p, own) => p -> own(i) }: _*)): @unchecked
      val (whole, first, second) =
        (Filled.read(own.splits(a, c)), Filled.read(own.splits(a, b)), Filled.read(own.splits(b, c)))
      models.foreach { case (p, model) =>
        def of(some: Map[splice.source.LogPartition, Seq[Long]]) = some.getOrElse(p, Nil)
        val (from, until)                                        = (a.offsets(p), c.offsets(p))
        val wanted = (from until until).filter(o => model.ranges.fill.isEmpty || model.reads(o))
        assert(of(whole) == wanted, s"SEED=$seed: $p from $from until $until")
        assert(of(first) ++ of(second) == wanted, s"SEED=$seed: $p cut at ${b.offsets(p)}")
      }
      assert(own.splits(a, c).forall(r => Filled.offsets(r).size == r.weight), s"SEED=$seed")
      assert(own.splits(a, c).groupBy(_.partition).forall(_._2.size <= 2), s"SEED=$seed")
    }
  }
}
