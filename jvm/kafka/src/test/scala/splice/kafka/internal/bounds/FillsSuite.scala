// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import scala.collection.immutable.SortedMap
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.bounds.Filled.Model
import splice.kafka.internal.enumerator.SimulatedRun.{at, t}
import splice.source.log.OffsetRuns
import splice.source.{LogPartition, OffsetRanges}

/** Tests of ranks of the offsets to read, and of limits that count only these offsets. */
final class FillsSuite extends AnyFunSuite {

  private val seeds = sys.env.get("SEED").map(s => Seq(s.toLong)).getOrElse(1L to 2000L)

  private def eachSeed(body: Random => Unit): Unit = seeds.foreach { seed =>
    withClue(s"SEED=$seed: ")(body(new Random(seed)))
  }

  private def some(random: Random): Model =
    Iterator.continually(Filled.random(random, 1L + random.nextInt(60), random.nextBoolean()))
      .find(_.ranges.fill.nonEmpty).get

  test("ranks, offsets and ranges equal the results of a naive count") {
    eachSeed { random =>
      val model  = some(random)
      val fill   = new PartitionFill(model.ranges)
      val wanted = model.wanted(model.cut + 10)
      assert(fill.cut == model.cut && fill.total == wanted.count(_ < model.cut))
      (0L to model.cut + 8).foreach { offset =>
        assert(fill.rank(offset) == wanted.count(_ < offset), s"the rank of $offset")
        assert(fill.next(offset) == wanted.find(_ >= offset).get, s"the next of $offset")
      }
      wanted.zipWithIndex.foreach { case (offset, i) =>
        assert(fill.offset(i + 1L) == offset + 1, s"the end of rank ${i + 1}")
      }
      (1 to 20).foreach { _ =>
        val (from, until) = (random.nextLong(model.cut + 3), random.nextLong(model.cut + 5))
        val own           = fill.within(from, until)
        assert(own.forall { case (a, b) => from <= a && a < b && b <= until && b <= model.cut })
        assert(own.zip(own.drop(1)).forall { case ((_, a), (b, _)) => a <= b })
        val held = fill.held(own)
        assert(held.forall(h => !h.isEmpty))
        val read = own.flatMap { case (a, b) => a until b }.filterNot(o => held.exists(_.contains(o)))
        assert(read == wanted.filter(o => from <= o && o < until && o < model.cut), s"within $from and $until")
        val all = fill.read(from, until)
        assert(all.ranges.flatMap { case (a, b) => a until b }.toSeq == wanted.filter(o => from <= o && o < until))
        assert(all.rows == all.count)
      }
    }
  }

  test("offsets of the history are not counted, even within a range") {
    val held = OffsetRuns.of(10L -> 1000000L, 2000000L -> 2000005L)
    val fill = new PartitionFill(OffsetRanges(3000000, Vector(5L -> 1000010L, 2000000L -> 2000010L), Some(held)))
    assert(fill.total == 20)
    assert(Seq(0L, 5L, 10L, 500000L, 1000000L, 1000010L, 2000005L, 3000000L, 3000007L).map(fill.rank) ==
      Seq(0, 0, 5, 5, 5, 15, 15, 20, 27))
    assert(Seq(1L, 5L, 6L, 15L, 16L, 20L, 21L).map(fill.offset) ==
      Seq(6, 10, 1000001, 1000010, 2000006, 2000010, 3000001))
    assert(Seq(0L, 10L, 999999L, 1000010L, 2000001L, 2000010L).map(fill.next) ==
      Seq(5, 1000000, 1000000, 2000005, 2000005, 3000000))
  }

  test("offsets beyond the range of an Int are distinguished") {
    val base = (1L << 32) - 3
    val fill =
      new PartitionFill(OffsetRanges(base + 20, Vector(base -> (base + 8)), Some(OffsetRuns.of((base + 2, base + 5)))))
    assert(fill.total == 5 && fill.rank(base + 5) == 2 && fill.offset(3) == base + 6 && fill.next(base + 2) == base + 5)
  }

  test("an unknown partition is read from its position, and each offset counts") {
    val fills = Fills(Map((t(0), 1) -> new PartitionFill(OffsetRanges(10, Vector(2L -> 4L)))))
    assert(fills.between(t(0), 0, 0, 12) == 12 && fills.between(t(0), 1, 0, 12) == 4 &&
      fills.between(t(1), 1, 0, 12) == 12)
    assert(fills.next(t(0), 0, 5) == 5 && fills.next(t(0), 1, 5) == 10)
    assert(fills.between(t(0), 1, 12, 3) == 0 && fills.between(t(1), 0, 12, 3) == 0)
  }

  /** Assigns rows one by one to random partitions with available offsets. */
  private def spread(random: Random, rows: Long)(
      ready: SortedMap[LogPartition, (Long, Long)]
  ): SortedMap[LogPartition, Long] = {
    assert(ready.forall { case (_, (from, until)) => from <= until }, ready)
    var left = rows
    val to   = random.shuffle(ready.toSeq).map { case (p, (from, until)) =>
      val some = math.min(left, math.min(until - from, 1L + random.nextInt(5)))
      left -= some
      p -> (from + some)
    }
    SortedMap.from(to)
  }

  test("a share counts only offsets to read, continues, and covers each offset once up to the end") {
    eachSeed { random =>
      val models = SortedMap.from((0 to random.nextInt(3)).map { i =>
        t(i) -> Filled.random(random, 1L + random.nextInt(40), random.nextBoolean())
      })
      val fills = Fills(models.iterator.filter(_._2.ranges.fill.nonEmpty).map { case (p, m) =>
        (p, 0) -> new PartitionFill(m.ranges)
      }.toMap)
      val ends = models.map { case (p, m) => p -> (m.cut + random.nextInt(10) - random.nextInt(3)).max(1) }
      def reads(p: LogPartition, o: Long) = models(p).ranges.fill.isEmpty && o >= 0 || models(p).reads(o)
      var at                              = models.map { case (p, m) => p -> m.ranges.fill.headOption.fold(0L)(_._1) }
      var steps                           = 0
      while (at.exists { case (p, offset) => offset < ends(p) }) {
        val ready = at.map { case (p, offset) => p -> (offset -> ends(p)) }
        val rows  = 1L + random.nextInt(8)
        val next  = fills.share(ready, (p: LogPartition) => p -> 0)(spread(random, rows))
        assert(next.keySet == at.keySet)
        next.foreach { case (p, offset) => assert(at(p) <= offset && offset <= math.max(at(p), ends(p))) }
        val read = next.iterator.map { case (p, offset) => (at(p) until offset).count(reads(p, _)) }.sum
        val open = at.iterator.map { case (p, offset) => (offset until ends(p)).count(reads(p, _)) }.sum
        assert(read <= rows && (open == 0 || read > 0))
        at = next
        steps += 1
        assert(steps < 1000)
      }
    }
  }

  test("without limits, each partition advances to its end, including a partition without remaining offsets") {
    val fill = Fills(Map((t(0), 0) -> new PartitionFill(OffsetRanges(100, Vector(10L -> 20L)))))
    def all(ready: SortedMap[LogPartition, (Long, Long)]) = ready.map { case (p, (_, until)) => p -> until }
    def share(from: Long, until: Long)                    =
      fill.share(SortedMap(t(0) -> (from -> until)), (p: LogPartition) => p -> 0)(all)(t(0))
    assert(share(10, 130) == 130 && share(20, 90) == 90 && share(20, 100) == 100 && share(15, 17) == 17)
    assert(share(20, 5) == 20, "an end before the position has no effect")
  }

  test("a partition without a share keeps its position, even before a hole") {
    val fill = Fills(Map((t(0), 0) -> new PartitionFill(OffsetRanges(100, Vector(10L -> 20L, 50L -> 60L)))))
    Seq(0L, 10L, 20L, 30L, 60L, 100L, 110L).foreach { from =>
      val share = fill.share(SortedMap(t(0) -> (from -> 130L)), (p: LogPartition) => p -> 0) { ready =>
        ready.map { case (p, (begin, _)) => p -> begin }
      }
      assert(share(t(0)) == from)
    }
  }

  test("holes belong to a generation of the topic, and unread partitions have no holes") {
    val holed  = OffsetRanges(40, Vector(5L -> 10L))
    val ranges = SortedMap(t(0) -> holed, t(1) -> OffsetRanges(7), t(2) -> holed)
    val fills  = Fills.of(at(0 -> 5, 1 -> 7).as("t", 3), ranges).all
    assert(fills.map { case (key, fill) => key -> fill.ranges } == Map((t(0), 3) -> holed))
  }
}
