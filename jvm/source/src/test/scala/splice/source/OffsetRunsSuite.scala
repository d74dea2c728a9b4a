// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/** The set of offsets against a plain one. */
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
    assert(runs.holes.toSeq == holes(offsets), clue)
    assert(runs.rows == offsets.size, clue)
    val several = offsets.groupBy(identity).collect { case (offset, all) if all.size > 1 => offset }
    assert(runs.repeated.flatMap { case (from, until) => from until until }.toSeq == several.toSeq.sorted, clue)
  }

  test("offsets in any order, more than once, with holes") {
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

  test("offsets beyond 32 bits, far apart") {
    val far = Seq(0L, 1L, (1L << 32) - 1, 1L << 32, (1L << 40) + 5, 1L << 52)
    check(far, of(far), "far")
    val run = ((1L << 33) - 3) until ((1L << 33) + 3)
    check(run, of(run), "run over a border")
    check(run ++ run ++ far, of(run ++ run ++ far), "runs that repeat over a border")
  }

  test("ranges of offsets, which may overlap") {
    val runs = new OffsetRuns
    Seq(0L -> 5L, 5L -> 7L, 20L -> 30L, 25L -> 26L, 4L -> 6L).foreach { case (from, until) => runs.add(from, until) }
    check((0L until 7L) ++ (20L until 30L) ++ Seq(25L, 4L, 5L), runs, "ranges")
  }

  test("a long run is small") {
    val runs = of(0L until 5000000L)
    assert(runs.count == 5000000L && runs.holes.isEmpty && runs.toBytes.length < 2000)
  }
}
