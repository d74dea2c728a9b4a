// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import scala.collection.immutable.SortedMap
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.MemorySideLog
import splice.kafka.enumerator.SimulatedRun.{at, t}
import splice.source._
import splice.testkit.ReadOnlySideLog

/** The holes of a history in the side log. */
final class FillLogSuite extends AnyFunSuite {

  private val holes = SortedMap(
    t(0)  -> OffsetRanges(30, Vector(2L -> 5L, 9L -> 20L), Some(OffsetRuns.of(10L -> 12L, 15L -> 16L))),
    t(1)  -> OffsetRanges(7),
    t(12) -> OffsetRanges(1L << 40, Vector(0L -> (1L << 33)))
  )

  private val start = at(0 -> 2, 1 -> 7, 12 -> 0)

  private def ranges(log: FillLog): Map[(LogPartition, Int), OffsetRanges] =
    log.known.all.map { case (key, fill) => key -> fill.ranges }

  test("what is stored is what a later run reads, without partitions that have no hole") {
    val side = new MemorySideLog
    val log  = new FillLog(side)
    assert(log.known.isEmpty && side.keys("fill-").isEmpty)
    log.begin(start, holes)
    val wanted = Map((t(0), 0) -> holes(t(0)), (t(12), 0) -> holes(t(12)))
    assert(ranges(log) == wanted)
    assert(ranges(new FillLog(new ReadOnlySideLog(side))) == wanted)
    assert(side.keys("fill-") == Seq("fill-00000000"))
  }

  test("random histories come back as they were") {
    (1 to 300).foreach { seed =>
      val random = new Random(seed.toLong)
      val all    = SortedMap.from((0 to random.nextInt(4)).map { p =>
        t(p) -> Filled.random(random, 1L + random.nextInt(300), random.nextBoolean()).ranges
      })
      val side = new MemorySideLog
      new FillLog(side).begin(at(all.keys.toSeq.map(_.partition -> 0L): _*), all)
      assert(ranges(new FillLog(side)) == all.collect { case (p, of) if of.fill.nonEmpty => (p, 0) -> of }.toMap)
    }
  }

  test("runs that are killed before they store the switch leave one entry") {
    val side = new MemorySideLog
    (1 to 5).foreach(_ => new FillLog(side).begin(start, holes))
    assert(side.keys("fill-") == Seq("fill-00000000"))
  }

  test("a start that names no offsets leaves no entry") {
    val side = new MemorySideLog
    assert(new FillLog(side).begin(start, SortedMap.empty) == start)
    assert(side.keys("").isEmpty)
  }

  private val other = SortedMap(t(0) -> OffsetRanges(30, Vector(11L -> 20L)))

  test(
    "of two drivers, the second has the start and the holes that the first has stored; a later start replaces both"
  ) {
    val side            = new MemorySideLog
    val (first, second) = (new FillLog(side), new FillLog(side))
    assert(first.begin(start, holes) == start)
    assert(second.begin(at(0 -> 11, 1 -> 7, 12 -> 0), other) == start)
    assert(ranges(second) == ranges(first) && ranges(new FillLog(side)) == ranges(first))
    val later = at(0 -> 11, 1 -> 8, 12 -> 0)
    assert(new FillLog(side).begin(later, other) == later)
    assert(ranges(new FillLog(side)) == Map((t(0), 0) -> other(t(0))))
    assert(side.keys("fill-").size == 2)
  }

  test("of two drivers, the second has no holes if the first has found none") {
    val side            = new MemorySideLog
    val (first, second) = (new FillLog(side), new FillLog(side))
    val none            = at(0 -> 30)
    assert(first.begin(none, SortedMap(t(0) -> OffsetRanges(30))) == none)
    assert(second.begin(at(0 -> 11), other) == none)
    assert(second.known.isEmpty && new FillLog(side).known.isEmpty)
  }

  test("the last start holds, also one without holes") {
    val side = new MemorySideLog
    val log  = new FillLog(side)
    log.begin(start, holes)
    val other = SortedMap(t(1) -> OffsetRanges(7, Vector(3L -> 4L)))
    log.begin(start, other)
    val wanted = Map((t(1), 0) -> other(t(1)))
    assert(ranges(log) == wanted && ranges(new FillLog(side)) == wanted)
    assert(new FillLog(side).begin(start, SortedMap.empty) == start)
    assert(new FillLog(side).known.isEmpty)
    assert(side.keys("fill-").sorted == Seq("fill-00000000", "fill-00000001", "fill-00000002"))
  }

  test("the eleventh start follows the tenth") {
    val side = new MemorySideLog
    (1 to 12).foreach { i =>
      new FillLog(side).begin(start, SortedMap(t(0) -> OffsetRanges(100, Vector(0L -> i.toLong))))
    }
    assert(ranges(new FillLog(side)) == Map((t(0), 0) -> OffsetRanges(100, Vector(0L -> 12L))))
  }

  test("holes belong to a generation of the topic, and partitions that are not read have none") {
    val side = new MemorySideLog
    new FillLog(side).begin(at(0 -> 2).as("t", 3), holes)
    assert(ranges(new FillLog(side)) == Map((t(0), 3) -> holes(t(0))))
  }

  test("two enumerators that begin at the same time read the same holes, and so does the next run") {
    val history = Filled.model(40, ((0L until 5L) ++ (10L until 20L) ++ (30L until 40L)).toSet)
    val run     = new SimulatedRun()
    run.log.create("t", 1)
    run.log.fill("t", 0, 45)
    def begin(ranges: OffsetRanges) = StartPosition.Offsets(SortedMap(t(0) -> ranges))
    val (first, second)             = (run.start(), run.start())
    val from                        = first.start(begin(history.ranges))
    run.log.expire("t", 0, 7)
    assert(second.start(begin(OffsetRanges(40, Vector(7L -> 10L, 20L -> 30L)))) == from)
    Seq(first, second, run.start()).foreach { e =>
      assert(Filled.read(e.splits(from, at(0 -> 45))) == Map(t(0) -> history.wanted(45)))
    }
  }

  private def failure(lines: String*): SpliceException = {
    val side = new MemorySideLog
    side.getOrCreate("fill-00000000")(lines)
    intercept[SpliceException](new FillLog(side))
  }

  test("an entry of a newer version is refused, and a damaged one named") {
    val newer = failure("""{"v":2}""")
    assert(newer.getCondition == "SPLICE_CHECKPOINT.NEWER_VERSION" && newer.getMessage.contains("fill-00000000"), newer)
    Seq(
      """["t",0,0,30]""",
      """["t",0,0,30,[]]""",
      """["t",0,0,30,[[2]]]""",
      """["t",0,0,30,[[2,5,7]]]""",
      """["t",0,0,30,[[5,2]]]""",
      """["t",0,0,30,[[2,5],[4,6]]]""",
      """["t",0,0,30,[[2,31]]]""",
      """["t",0,0,"30",[[2,5]]]""",
      """["t",0,0,30,[["2",5]]]""",
      """[7,0,0,30,[[2,5]]]""",
      """["t","0",0,30,[[2,5]]]""",
      """["t",0,0,30,[[2,5]],"%"]""",
      """["t",0,0,30,[[2,5]],"AAAA"]""",
      """["t",0,0,30,[[2,5]],7]""",
      """{"t":0}""",
      """nothing"""
    ).foreach { line =>
      val damaged = failure("""{"v":1}""", start.json, line)
      assert(damaged.getCondition == "SPLICE_CHECKPOINT.CORRUPT", s"$line: $damaged")
      assert(damaged.getMessage.contains("fill-00000000"), damaged)
    }
    assert(failure("""{"v":1}""").getCondition == "SPLICE_CHECKPOINT.CORRUPT")
  }
}
