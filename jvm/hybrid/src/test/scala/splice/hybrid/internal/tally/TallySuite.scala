// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.tally

import java.time.{Duration, Instant}

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.hybrid.LogColumns
import splice.hybrid.internal.counting.{CountedColumns, LegCounts}
import splice.source.errors.SpliceException
import splice.source.internal.entries.VersionedEntry
import splice.source.log.{Extent, OffsetRuns}
import splice.source.{LogPartition, OffsetColumns, OffsetSummary, Position, SplitRange, TimeRange}
import splice.testkit.simulation.SimulatedClock

final class TallySuite extends AnyFunSuite {

  private val columns = CountedColumns(Some(LogColumns.Named(OffsetColumns("t", "p", "o"))), Some("at"))
  private val p0      = LogPartition("orders", 0)
  private val p1      = LogPartition("orders", 1)

  private def instant(second: Long) = Instant.ofEpochSecond(second)

  private def counts(extent: Extent, second: Long, offsets: (LogPartition, Seq[Long])*): LegCounts = LegCounts(
    "history",
    Seq(extent),
    offsets.map { case (of, all) =>
      val runs = new OffsetRuns
      all.foreach(runs.add(_))
      of -> runs.toBytes
    },
    Seq(0L, 1L, 0L),
    Some(TimeRange(instant(second), instant(second + 1)))
  )

  private def entry(lines: String*): VersionedEntry = VersionedEntry.read("tally-00000000", lines)

  private object At extends Position {
    override def json: String                       = """{"files":2,"v":1}"""
    override def precedes(later: Position): Boolean = true
  }

  private def example: Tally = {
    val tally = new Tally(columns)
    assert(tally.add(counts(Extent.whole(0), 10, p0 -> Seq(0L, 1L, 2L, 2L), p1 -> Seq(5L))))
    assert(tally.add(counts(Extent(1, 0, 100), 7, p0 -> Seq(4L))))
    tally
  }

  private def check(tally: Tally): Unit = {
    assert(tally.offsets.map(_.partition) == Seq(p0, p1))
    assert(tally.offsets.map(s => (s.from, s.until, s.offsets.count, s.offsets.rows)) ==
      Seq((0, 5, 4, 5), (5, 6, 1, 1)))
    assert(tally.offsets.head.offsets.ranges.toSeq == Seq(0L -> 3L, 4L -> 5L))
    assert(tally.offsets.head.offsets.repeated.toSeq == Seq(2L -> 3L))
    assert(tally.invalid == Seq(0, 2, 0))
    assert(tally.times.contains(TimeRange(instant(7), instant(11))))
  }

  test("a rule that needs fewer columns uses the existing counts of its columns") {
    val named = LogColumns.Named(OffsetColumns("t", "p", "o"))
    val both  = CountedColumns(Some(named), Some("at"))
    val tally = new Tally(both)
    assert(tally.add(counts(Extent.whole(0), 10, p0 -> Seq(0L, 1L, 2L))))
    tally.finish(At)
    def of(offsets: LogColumns.Named, time: Option[String]) = tally.of(CountedColumns(Some(offsets), time))

    assert(tally.of(both).exists(_ eq tally))
    val fewer = of(named, None).get
    assert(fewer.times.isEmpty && fewer.end.contains(At.json))
    assert(fewer.offsets.map(_.offsets.count) == Seq(3L) && fewer.invalid == Seq(0, 1, 0))
    assert(!fewer.add(counts(Extent.whole(0), 10, p0 -> Seq(0L))), "the file is counted")

    assert(of(named, Some("later")).isEmpty)
    assert(of(named.copy(offsets = OffsetColumns("t", "p", "n")), None).isEmpty)
    assert(new Tally(CountedColumns(Some(named), None)).of(both).isEmpty)
  }

  test("the counts of tasks are added, and are equal after a write and a read") {
    check(example)
    val read = TallyFormat.read(entry(example.lines: _*))
    check(read)
    assert(read.columns == columns && read.end.isEmpty && read.lines == example.lines)
    read.finish(At)
    assert(TallyFormat.read(entry(read.lines: _*)).end.contains(At.json))
  }

  test("the compared columns and records of an earlier version are ignored") {
    val now    = example.lines
    val before = now.head.replace(""""offset":"o"""", """"key":"k","offset":"o","timestamp":"at"""") +:
      now.tail.map(_.replace(""""offsets":""", """"last":{"offset":4,"time":[7,8]},"offsets":"""))
    assert(before.zip(now).forall { case (a, b) => a != b })
    assert(TallyFormat.read(entry(before: _*)).lines == now)
  }

  test("a range is counted once, even if it is reported again in other parts") {
    val tally = TallyFormat.read(entry(example.lines: _*))
    assert(!tally.add(counts(Extent(0, 0, 50), 0, p0 -> Seq(0L))))
    assert(!tally.add(counts(Extent(1, 50, 200), 0, p0 -> Seq(9L))))
    check(tally)
    assert(tally.add(counts(Extent(1, 100, 200), 8, p0 -> Seq(3L))))
    assert(tally.offsets.head.offsets.ranges.toSeq == Seq(0L -> 5L))
  }

  test("the offsets of a log are ranges, which may be empty") {
    val ranges = Seq(OffsetSummary.ofLog(p0, 0, 100), OffsetSummary.ofLog(p1, 7, 7))
    val tally  = Tally.ofLog(columns, ranges.reverse)
    assert(tally.offsets == ranges && TallyFormat.read(entry(tally.lines: _*)).offsets == ranges)
  }

  test("a corrupt or newer tally is rejected") {
    val lines                     = example.lines
    def condition(lines: String*) = intercept[SpliceException](TallyFormat.read(entry(lines: _*))).getCondition
    assert(condition("""{"v":2}""") == "SPLICE_CHECKPOINT.VERSION_NOT_SUPPORTED")
    assert(condition() == "SPLICE_CHECKPOINT.CORRUPT")
    assert(condition(lines.head, """["orders",0,1]""") == "SPLICE_CHECKPOINT.CORRUPT")
    assert(condition(lines.head, """{"offsets":"?","partition":0,"topic":"t"}""") == "SPLICE_CHECKPOINT.CORRUPT")
    assert(condition("""{"columns":["t"],"covered":{},"invalid":[],"v":1}""") == "SPLICE_CHECKPOINT.CORRUPT")
    assert(condition("""{"columns":{"topic":"t"},"covered":{},"invalid":[],"v":1}""") == "SPLICE_CHECKPOINT.CORRUPT")
    assert(condition("""{"covered":[],"invalid":[],"v":1}""") == "SPLICE_CHECKPOINT.CORRUPT")
    assert(condition("""{"covered":{},"invalid":[],"times":["x"],"v":1}""") == "SPLICE_CHECKPOINT.CORRUPT")
  }

  private class World {
    val log   = new MemorySideLog
    val clock = new SimulatedClock(instant(0))

    def run(of: CountedColumns = columns) = new LegTally(of, log, clock)
    def keys: Seq[String]                 = log.keys("tally-")
  }

  test("a tally is stored every minute and replaces the previous tally") {
    new World {
      val own = run()
      assert(own.advanced().isEmpty)
      own.add(counts(Extent.whole(0), 1, p0 -> Seq(0L)))
      clock.advance(Duration.ofSeconds(59))
      assert(own.advanced().isEmpty && keys.isEmpty)
      clock.advance(Duration.ofSeconds(1))
      assert(own.advanced().exists(_.offsets.map(_.offsets.count) == Seq(1)))
      assert(keys == Seq("tally-00000000"))
      clock.advance(Duration.ofMinutes(2))
      assert(own.advanced().isEmpty, "without news")
      own.add(counts(Extent.whole(0), 1, p0 -> Seq(0L)))
      assert(own.hasNews && own.advanced().isEmpty && !own.hasNews, "counted before")
      own.add(counts(Extent.whole(1), 1, p0 -> Seq(1L)))
      assert(own.advanced().exists(_.offsets.map(_.offsets.count) == Seq(2)))
      assert(keys == Seq("tally-00000001"))
    }
  }

  test("a tally is stored every 64 batches") {
    new World {
      val own = run()
      (1 to 63).foreach { n =>
        own.add(counts(Extent.whole(n), 1, p0 -> Seq(n.toLong)))
        assert(own.advanced().isEmpty)
      }
      own.add(counts(Extent.whole(64), 1, p0 -> Seq(64L)))
      assert(own.advanced().exists(_.offsets.map(_.offsets.count) == Seq(64)))
    }
  }

  test("after a stored tally, the next tally is stored after 64 more batches or one more minute") {
    new World {
      val own                    = run()
      def batch(n: Int): Boolean = {
        own.add(counts(Extent.whole(n), 1, p0 -> Seq(n.toLong)))
        own.advanced().nonEmpty
      }
      assert((1 to 130).filter(batch) == Seq(64, 128))
      clock.advance(Duration.ofMinutes(1))
      assert(batch(131) && !batch(132))
      clock.advance(Duration.ofSeconds(59))
      assert(!batch(133))
      clock.advance(Duration.ofSeconds(1))
      assert(batch(134) && !batch(135))
      own.stopped(all = true)
      assert(!batch(136) && keys == Seq("tally-00000004"))
      own.stopped(all = true)
      (1 to 100).foreach(_ => assert(own.advanced().isEmpty))
      assert(!batch(137), "batches without rows of the leg do not count")
    }
  }

  test("a restart continues with the last tally and counts the missing ranges") {
    new World {
      val first = run()
      first.add(counts(Extent.whole(0), 1, p0 -> Seq(0L)))
      assert(first.advanced().isEmpty)
      first.add(counts(Extent.whole(1), 1, p0 -> Seq(1L)))
      first.stopped(all = false)
      val again = run()
      assert(again.finished(At).isEmpty)
      val created = again.finish(At) { tally =>
        assert(tally.remaining(covered => (0 to 1).flatMap(covered.missing(_, 0, 9)).map(TallySuite.Part(_))).map(
          _.splitId
        ) == Seq("1"))
        Seq(counts(Extent.whole(1), 1, p0 -> Seq(1L)))
      }
      assert(created.offsets.map(_.offsets.rows) == Seq(2) && run().finished(At).exists(_.offsets == created.offsets))
      assert(
        run(columns.copy(time = None)).stored.nonEmpty && run(columns.copy(time = Some("x"))).stored.isEmpty,
        "other rules"
      )
      assert(keys == Seq("tally-00000001"))
    }
  }

  test("the final tally has all counts although another driver has stored some of the counts first") {
    new World {
      val before = run()
      before.add(counts(Extent.whole(0), 1, p0 -> Seq(0L)))
      before.stopped(all = true)
      val (own, other) = (run(), run())
      own.add(counts(Extent.whole(1), 1, p0 -> Seq(1L)))
      assert(own.advanced().isEmpty)
      other.add(counts(Extent.whole(1), 1, p0 -> Seq(1L)))
      other.stopped(all = true)
      own.add(counts(Extent.whole(2), 1, p0 -> Seq(2L)))
      assert(own.finish(At)(_ => Nil).offsets.map(_.offsets.count) == Seq(3L))
      assert(run().finished(At).exists(_.offsets.map(_.offsets.count) == Seq(3L)))
      assert(keys == Seq("tally-00000002"))
    }
  }

  test("a stop stores the counts of committed batches") {
    new World {
      val first = run()
      first.stopped(all = true)
      assert(keys.isEmpty)
      first.add(counts(Extent.whole(0), 1, p0 -> Seq(0L)))
      first.stopped(all = false)
      assert(keys.isEmpty)
      first.stopped(all = true)
      assert(run().stored.exists(_.offsets.map(_.offsets.rows) == Seq(1)))
    }
  }
}

object TallySuite {
  final private case class Part(extent: Extent) extends SplitRange {
    override def splitId: String = extent.unit.toString
  }
}
