// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.log

import scala.concurrent.duration._
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/** Compares [[OffsetRuns]] with plain collections of offsets. */
final class OffsetRunsSuite extends AnyFunSuite {

  private def of(offsets: Iterable[Long]): OffsetRuns = {
    val runs = new OffsetRuns
    offsets.foreach(runs.add(_))
    runs
  }

  private def holes(offsets: Iterable[Long]): Seq[(Long, Long)] =
    offsets.toSeq.distinct.sorted.sliding(2).collect { case Seq(a, b) if b > a + 1 => (a + 1, b) }.toSeq

  private def check(offsets: Seq[Long], runs: OffsetRuns, clue: String): Unit = {
    assert(runs.first == offsets.min, clue)
    assert(runs.last == offsets.max, clue)
    assert(runs.count == offsets.distinct.size, clue)
    assert(runs.holes(runs.first, runs.last + 1).toSeq == holes(offsets), clue)
    assert(
      runs.ranges.flatMap { case (from, until) => from until until }.take(300).toSeq ==
        offsets.distinct.sorted.take(300),
      clue
    )
    assert(offsets.forall(runs.contains) && !runs.contains(offsets.max + 1), clue)
    assert(runs.rows == offsets.size, clue)
    val several = offsets.groupBy(identity).collect { case (offset, all) if all.size > 1 => offset }
    assert(runs.repeated.flatMap { case (from, until) => from until until }.toSeq == several.toSeq.sorted, clue)
  }

  test("unordered offsets with duplicates and holes") {
    val random = new Random(3)
    (1 to 300).foreach { seed =>
      val width   = 1 + random.nextInt(200)
      val start   = if (random.nextBoolean()) 0L else (1L << 32) - 50
      val offsets = Seq.fill(1 + random.nextInt(150))(start + random.nextInt(width))
      val (a, b)  = offsets.splitAt(random.nextInt(offsets.size))
      val merged  = of(a)
      merged.addAll(OffsetRuns.fromBytes(of(b).toBytes))
      check(offsets, of(offsets), s"seed $seed")
      check(offsets, merged, s"seed $seed")
    }
  }

  test("offsets of more than 32 bits with large gaps") {
    val far = Seq(0L, 1L, (1L << 32) - 1, 1L << 32, (1L << 40) + 5, 1L << 52)
    check(far, of(far), "far")
    val run = ((1L << 33) - 3) until ((1L << 33) + 3)
    check(run, of(run), "run over a border")
    check(run ++ run ++ far, of(run ++ run ++ far), "runs that repeat over a border")
    // A defect would end in an endless loop.
    val greatest = Future {
      check(Seq(Long.MaxValue - 1), of(Seq(Long.MaxValue - 1)), "greatest")
      val last = (Long.MaxValue - 3) until Long.MaxValue
      check(far ++ last ++ last, of(far ++ last ++ last), "runs at the greatest offset")
    }(ExecutionContext.global)
    Await.result(greatest, 1.minute)
  }

  test("a hole that begins at a multiple of 2^32 and has more than 2^31 offsets") {
    Seq(Seq((1L << 32) - 1, (1L << 33) - 1), Seq((1L << 32) - 1, (1L << 33) - 1, (5L << 32) - 1)).foreach { far =>
      check(far, of(far), far.toString)
    }
  }

  test("overlapping ranges of offsets") {
    val runs = new OffsetRuns
    Seq(0L -> 5L, 5L -> 7L, 20L -> 30L, 25L -> 26L, 4L -> 6L).foreach { case (from, until) => runs.add(from, until) }
    check((0L until 7L) ++ (20L until 30L) ++ Seq(25L, 4L, 5L), runs, "ranges")
  }

  test("a long run has a small size") {
    val runs = of(0L until 5000000L)
    assert(runs.count == 5000000L && runs.holes(0, 5000000L).isEmpty && runs.toBytes.length < 2000)
  }

  test("holes, intersections and ranges are the same as for plain sets") {
    val random = new Random(5)
    (1 to 500).foreach { seed =>
      val start                                 = if (random.nextBoolean()) 0L else (1L << 32) - 30
      def some()                                = Seq.fill(random.nextInt(40))(start + random.nextInt(60))
      val (one, other)                          = (some(), some())
      val (from, until)                         = (start + random.nextInt(40), start + random.nextInt(70))
      val runs                                  = of(one)
      def plain(ranges: Iterator[(Long, Long)]) = ranges.flatMap { case (a, b) => a until b }.toSeq
      assert(plain(runs.holes(from, until)) == (from until until).filterNot(one.toSet), s"seed $seed")
      val both = runs.and(of(other))
      assert(plain(both.ranges) == one.toSet.intersect(other.toSet).toSeq.sorted, s"seed $seed")
      assert(both.rows == both.count, s"seed $seed")
      val ranged = new OffsetRuns
      ranged.addRange(from, until)
      other.foreach(ranged.add)
      assert(plain(ranged.ranges) == ((from until until) ++ other).distinct.sorted, s"seed $seed")
      assert(plain(runs.within(Seq(from -> until)).ranges) == one.distinct.filter(o => o >= from && o < until).sorted)
      assert(runs == OffsetRuns.fromBytes(runs.toBytes), s"seed $seed")
    }
  }
}
