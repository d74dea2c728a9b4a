// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.handover

import java.time.{Duration, Instant}

import scala.collection.immutable.SortedMap

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.hybrid.handover.FixedLog
import splice.hybrid.internal.chain.{Leg, OnHoles}
import splice.hybrid.internal.history.LegOffsets
import splice.hybrid.{HandOver, Legs, OfLog}
import splice.source.StartPosition.{Configured, Exact, Offsets, Time}
import splice.source._
import splice.source.errors.SpliceException
import splice.source.internal.entries.{Json, VersionedEntry}
import splice.source.log.{LogPartitions, LogRange, OffsetRuns}
import splice.source.options.FailOrWarn
import splice.testkit.internal.memory.MemoryPosition

final class HandOverDecisionSuite extends AnyFunSuite {

  private val now    = Instant.parse("2026-03-01T00:00:00Z")
  private val source = Legs.source(Legs.history(Legs.log()))

  private def leg(name: String, rule: Option[HandOver]) =
    Leg(name, source, None, rule, FailOrWarn.Warn, s"$name.select")

  private object End {
    def apply(times: Option[TimeRange] = None, modified: Option[TimeRange] = None): Evidence =
      Evidence(MemoryPosition("x", SortedMap.empty), () => modified, () => times, () => Nil)
  }

  private def noLog: LogPartitions = fail("no log is needed")

  private def decide(rule: HandOver, end: Evidence): HandOverDecision =
    HandOverDecision.decide(leg("history", None), leg("live", Some(rule)), end, now)(
      fail("offsets are not needed"),
      noLog
    )

  private def refused(rule: HandOver, end: Evidence): SpliceException = intercept[SpliceException](decide(rule, end))

  private def held(p: LogPartition, first: Long, last: Long, holes: (Long, Long)*): OffsetSummary =
    OffsetSummary(p, OffsetRuns.of(OffsetRuns.of(holes: _*).holes(first, last + 1).toSeq: _*))

  /** Log with all records up to offset 1,000. */
  private def whole: SortedMap[LogPartition, LogRange] = SortedMap(p0 -> LogRange(0, 1000), p1 -> LogRange(0, 1000))

  private def exact(live: Leg, log: SortedMap[LogPartition, LogRange] = whole)(
      history: (Leg, Seq[OffsetSummary])*
  ): HandOverDecision =
    HandOverDecision.decide(leg("history", None), live, End(), now)(
      history.map { case (l, h) => LegOffsets(l, h) },
      new FixedLog(log)
    )

  private def legs(history: Seq[OffsetSummary]*): Seq[(Leg, Seq[OffsetSummary])] =
    history.zip(Seq("old", "new", "newest")).map { case (own, name) => leg(name, None) -> own }

  private def exact(history: Seq[OffsetSummary]*): HandOverDecision = exact(filling)(legs(history: _*): _*)

  private def starts(created: HandOverDecision): Map[LogPartition, OffsetRanges] = created.start match {
    case Offsets(starts) => starts
    case other           => fail(s"$other")
  }

  private def rejection(live: Leg, log: SortedMap[LogPartition, LogRange] = whole)(
      history: Seq[OffsetSummary]*
  ): SpliceException = intercept[SpliceException](exact(live, log)(legs(history: _*): _*))

  private def range(first: String, last: String) = Some(TimeRange(Instant.parse(first), Instant.parse(last)))

  private val p0 = LogPartition("orders", 0)
  private val p1 = LogPartition("orders", 1)

  test("without a rule, the options of the leg set the start") {
    val live = leg("live", None)
    assert(HandOverDecision.decide(leg("history", None), live, End(), now)(Nil, noLog).start == Configured)
  }

  test("afterVersion: the stream begins after the version, and a removed version is a gap") {
    val table = TableVersion("lake.orders", "iceberg", Some("7"), now)
    def after(found: StartAfterVersion, onGap: FailOrWarn = FailOrWarn.Fail) = {
      val live = leg("live", Some(HandOver.afterVersion())).copy(onGap = onGap)
      val end  = End().copy(table = Some(table), after = () => Some(found))
      HandOverDecision.decide(leg("history", None), live, end, now)(fail("offsets are not needed"), noLog)
    }
    assert(after(StartAfterVersion("{}", hasGap = false)).start == Exact("{}"))
    assert(after(StartAfterVersion("{}", hasGap = true), FailOrWarn.Warn).start == Exact("{}"))
    val error = intercept[SpliceException](after(StartAfterVersion("{}", hasGap = true)))
    assert(error.getCondition == "SPLICE_HAND_OVER_DATA.VERSION_EXPIRED")
    assert(error.getMessage.contains("lake.orders") && error.getMessage.contains("the version 7"), error.getMessage)
    Seq(End(), End().copy(table = Some(table))).foreach { end =>
      assert(refused(HandOver.afterVersion(), end).getCondition == "SPLICE_HAND_OVER.VERSION_NOT_SUPPORTED")
    }
  }

  private lazy val filling  = leg("live", Some(HandOver.offsets())).copy(onGap = FailOrWarn.Fail)
  private lazy val failing  = filling.copy(onHoles = OnHoles.Fail)
  private lazy val ignoring = filling.copy(onHoles = OnHoles.Ignore)

  private def from(offset: Long, fill: (Long, Long)*): OffsetRanges = OffsetRanges(offset, fill.toVector)

  test("offsets: the log supplies the missing offsets of the history, then all offsets after its end") {
    val created = exact(Seq(held(p1, 5, 9), held(p0, 0, 41, 10L -> 20L)))
    assert(starts(created) == Map(p0 -> from(42, 10L -> 20L), p1 -> from(10, 0L -> 5L)))
    val rows = created.proof.map(Json.read(_).get)
    assert(rows.map(_.path("start").asLong) == Seq(42, 10))
    assert(rows.head.path("fill").path("offsets").asLong == 10 &&
      rows.head.path("unavailable").path("offsets").asLong == 0)
    assert(rows.head.path("history").path(0).path("rows").asLong == 32)
    assert(rows.head.path("log").path(1).asLong == 1000)
  }

  test("offsets: a partition that no archive has is read from the log completely") {
    assert(starts(exact(Seq(held(p0, 0, 9)))) == Map(p0 -> from(10), p1 -> from(0)))
  }

  test("offsets: a history without rows is rejected") {
    val error = rejection(filling)(Nil)
    assert(error.getCondition == "SPLICE_HAND_OVER.NO_ROWS" && error.getSqlState == "42616")
    assert(error.getMessage.contains("'live'") && error.getMessage.contains("'old'"))
  }

  test("errors of a hand-over name each option with its leg") {
    def names(error: SpliceException, options: String*) =
      options.foreach(option => assert(error.getMessage.contains(s"'$option'"), error.getMessage))
    val none    = rejection(filling)(Nil, Nil)
    val columns = Seq("topic", "partition", "offset").map(column => s"live.handOver.$column")
    names(none, columns ++ Seq("old.logColumns", "new.logColumns"): _*)
    val archive = leg("old", None)
    val log     = archive.copy(name = "log", source = new OfLog(source))
    val mixed   = intercept[SpliceException](exact(filling)(log -> Nil, archive -> Nil))
    assert(mixed.getMessage.contains("(or of 'old.logColumns')"), mixed.getMessage)
    val other = rejection(filling, SortedMap(p1 -> LogRange(0, 9)))(Seq(held(p0, 0, 9)))
    names(other, "live.kafka.bootstrap.servers")
    val ahead = rejection(filling, SortedMap(p0 -> LogRange(0, 9)))(Seq(held(p0, 0, 9)))
    names(ahead, "live.kafka.bootstrap.servers")
    val future = End(modified = range("2026-01-01T00:00:00Z", "2099-01-01T00:00:00Z"))
    names(refused(HandOver.modificationTime(Duration.ZERO), future), "history.modifiedBefore")
  }

  test("offsets: onHoles=fail reports holes, and onHoles=ignore skips holes") {
    val one   = Seq(held(p0, 0, 200, 50L -> 100L), held(p1, 0, 3))
    val error = rejection(failing)(one)
    assert(error.getCondition == "SPLICE_HAND_OVER_DATA.HOLES" && error.getSqlState == "22000")
    assert(error.getMessage.contains("orders-0 lacks 50 (50 to 99)"), error.getMessage)
    assert(error.getMessage.contains("'live.onHoles'") && !error.getMessage.contains("orders-1"))
    assert(starts(exact(ignoring)(legs(one): _*)) == Map(p0 -> from(201), p1 -> from(4)))
  }

  test("offsets: onGap applies to holes before the start of the log, and other holes are filled") {
    val log     = SortedMap(p0 -> LogRange(60, 300), p1 -> LogRange(10, 20))
    val history = Seq(held(p0, 5, 200, 50L -> 100L))
    val error   = rejection(filling, log)(history)
    assert(error.getCondition == "SPLICE_HAND_OVER_DATA.GAP")
    assert(error.getMessage.contains("orders-0 0 to 4, 50 to 59; orders-1 0 to 9"), error.getMessage)
    assert(error.getMessage.contains("'live.onGap'") && error.getMessage.contains("'live.onHoles'"))
    val warned = exact(filling.copy(onGap = FailOrWarn.Warn), log)(legs(history): _*)
    assert(starts(warned) == Map(p0 -> from(201, 60L -> 100L), p1 -> from(10)))
    // Lost records of a partition without an archive do not count as holes.
    val other = rejection(ignoring, log)(history)
    assert(other.getMessage.contains("orders-1 0 to 9") && !other.getMessage.contains("orders-0"), other.getMessage)
  }

  test("offsets: a log that begins after the end of the history has a gap, independent of onHoles") {
    val log = SortedMap(p0 -> LogRange(60, 300))
    Seq(filling, failing, ignoring).foreach { live =>
      val error = rejection(live, log)(Seq(held(p0, 0, 49)))
      assert(error.getCondition == "SPLICE_HAND_OVER_DATA.GAP" && error.getMessage.contains("orders-0 50 to 59"))
    }
    assert(starts(exact(filling.copy(onGap = FailOrWarn.Warn), log)(legs(Seq(held(p0, 0, 49))): _*)) ==
      Map(p0 -> from(60)))
  }

  test("offsets: a history with a later end or with other partitions belongs to another log") {
    val ahead = rejection(filling, SortedMap(p0 -> LogRange(0, 9)))(Seq(held(p0, 0, 9)))
    assert(ahead.getCondition == "SPLICE_HAND_OVER_DATA.HISTORY_BEYOND_LOG")
    assert(ahead.getMessage.contains("orders-0 ends at 10 in the history and at 9 in the log"))
    val other = rejection(filling, SortedMap(p1 -> LogRange(0, 9)))(Seq(held(p0, 0, 9)))
    assert(other.getCondition == "SPLICE_HAND_OVER.PARTITION_NOT_FOUND" && other.getMessage.contains("orders-0"))
  }

  test("offsets of several legs: the greatest offset per partition over all legs") {
    val created = exact(Seq(held(p0, 0, 9), held(p1, 0, 4)), Seq(held(p0, 10, 19)), Seq(held(p0, 20, 20)))
    assert(starts(created) == Map(p0 -> from(21), p1 -> from(5)))
    val legs = Json.items(Json.read(created.proof.head).get.path("history"))
    assert(legs.map(_.path("leg").asText) == Seq("old", "new", "newest"))
  }

  test("offsets of several legs: legs in any order, with a leg that fills a hole of another leg") {
    val created = exact(Seq(held(p0, 50, 59)), Seq(held(p0, 0, 99, 20L -> 30L, 50L -> 60L)), Seq(held(p0, 20, 29)))
    assert(starts(created)(p0) == from(100))
  }

  test("offsets of several legs: the log supplies offsets between two legs") {
    val gap = Seq(Seq(held(p0, 0, 49)), Seq(held(p0, 60, 99)))
    assert(starts(exact(gap: _*))(p0) == from(100, 50L -> 60L))
    val error = rejection(failing)(gap: _*)
    assert(error.getCondition == "SPLICE_HAND_OVER_DATA.HOLES" &&
      error.getMessage.contains("orders-0 lacks 10 (50 to 59)"))
    assert(error.getMessage.contains("'old' and 'new'"))
  }

  test("offsets of several legs: an overlap is an error with legs and ranges, or a warning") {
    val overlap = Seq(Seq(held(p0, 0, 59), held(p1, 0, 4)), Seq(held(p0, 50, 54)))
    val error   = rejection(filling)(overlap: _*)
    assert(error.getCondition == "SPLICE_HAND_OVER_DATA.DUPLICATES")
    assert(error.getMessage.contains("orders-0 has 5 offsets in both 'old' and 'new' (50 to 54)"), error.getMessage)
    assert(error.getMessage.contains("'live.onDuplicates'") && !error.getMessage.contains("orders-1"))
    val warned = filling.copy(onDuplicates = FailOrWarn.Warn)
    assert(starts(exact(warned)(legs(overlap: _*): _*)) == Map(p0 -> from(60), p1 -> from(5)))
  }

  test("offsets: duplicate rows in one leg are an error with offsets and counts") {
    val offsets = OffsetRuns.of(0L -> 100L)
    ((20L until 25L) ++ (30L until 35L)).foreach(offsets.add)
    val error = rejection(filling)(Seq(OffsetSummary(p0, offsets)))
    assert(error.getCondition == "SPLICE_HAND_OVER_DATA.DUPLICATES")
    assert(
      error.getMessage.contains("orders-0 has 110 rows of 100 offsets in 'old' (20 to 24, 30 to 34 several times)"),
      error.getMessage
    )
  }

  test("offsets: no offsets before the configured start of a log leg are expected") {
    val log = leg("log", None).copy(source =
      Legs.source(Map(
        "source"                  -> "kafka",
        "subscribe"               -> "orders",
        "kafka.bootstrap.servers" -> "broker:9092",
        "startingOffsets"         -> "latest",
        "endingOffsets"           -> "latest"
      ))
    )
    val read  = OffsetSummary.ofLog(p0, 5, 10)
    val empty = OffsetSummary.ofLog(p1, 7, 7)
    assert(starts(exact(filling)(log -> Seq(read, empty))) == Map(p0 -> from(10), p1 -> from(7)))
    val newer = leg("new", None)
    val after = exact(filling)(log -> Seq(read, empty), newer -> Seq(held(p0, 10, 12), held(p1, 7, 8)))
    assert(starts(after) == Map(p0 -> from(13), p1 -> from(9)))
    val gap = exact(filling)(log -> Seq(empty), newer -> Seq(held(p1, 9, 9)))
    assert(starts(gap)(p1) == from(10, 7L -> 9L))
    val both = intercept[SpliceException](exact(filling)(log -> Seq(read), newer -> Seq(held(p0, 9, 12))))
    assert(both.getMessage.contains("orders-0 has up to 1 offsets in both 'log' and 'new' (9)"), both.getMessage)
  }

  test("an error names only the first partitions") {
    val many  = (0 until 100).map(LogPartition("orders", _))
    val log   = SortedMap.from(many.map(_ -> LogRange(5, 10)))
    val error = rejection(filling, log)(many.map(held(_, 5, 6)))
    assert(error.getMessage.contains("orders-0 0 to 4; orders-1 0 to 4") && error.getMessage.contains("and 80 more"))
  }

  test("event time: the start is the greatest time minus the overlap") {
    val rule    = HandOver.eventTime("ts", Duration.ofMinutes(10))
    val created = decide(rule, End(times = range("2026-01-01T00:00:00Z", "2026-02-01T12:00:00.123456Z")))
    assert(created.start == Time(Instant.parse("2026-02-01T11:50:00.123Z").toEpochMilli, FailOrWarn.Warn))
    assert(created.proof == Seq("""{"found":"2026-02-01T12:00:00.123456Z","what":"ts"}"""))
    val old = decide(rule, End(times = range("1960-01-01T00:00:00Z", "1969-01-01T00:00:00Z")))
    assert(old.start == Time(0, FailOrWarn.Warn))
  }

  test("event time: an end after now or a missing end is rejected") {
    val rule  = HandOver.eventTime("ts", Duration.ofDays(400000))
    val error = refused(rule, End(times = range("2026-01-01T00:00:00Z", "2099-01-01T00:00:00Z")))
    assert(error.getCondition == "SPLICE_HAND_OVER_DATA.END_IN_FUTURE")
    assert(error.getMessage.contains("the greatest 'ts' is 2099-01-01T00:00:00Z"))
    assert(error.getMessage.contains("2026-03-01T00:00:00Z"))
    val none = refused(rule, End())
    assert(none.getCondition == "SPLICE_HAND_OVER.NO_EVENT_TIME" && none.getMessage.contains("column 'ts'"))
  }

  test("modification time: the same rules apply to the times of files") {
    val rule    = HandOver.modificationTime(Duration.ofHours(1))
    val created = decide(rule, End(modified = range("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z")))
    assert(created.start == Time(Instant.parse("2026-01-31T23:00:00Z").toEpochMilli, FailOrWarn.Warn))
    assert(refused(
      rule,
      End(modified = range("2026-01-01T00:00:00Z", "2026-03-01T00:05:00.001Z"))
    ).getCondition.endsWith("FUTURE"))
    assert(refused(rule, End()).getCondition == "SPLICE_HAND_OVER.NO_FILES")
  }

  test("a writer's clock that is up to 5 minutes ahead never results in a start after now") {
    val byEvent  = HandOver.eventTime("ts", Duration.ofMinutes(1))
    val byFile   = HandOver.modificationTime(Duration.ofMinutes(1))
    val expected = Time(Instant.parse("2026-02-28T23:59:00Z").toEpochMilli, FailOrWarn.Warn)
    Seq("2026-03-01T00:00:00Z", "2026-03-01T00:00:01Z", "2026-03-01T00:05:00Z").foreach { last =>
      val found = range("2026-01-01T00:00:00Z", last)
      assert(decide(byEvent, End(times = found)).start == expected)
      assert(decide(byFile, End(modified = found)).start == expected)
      assert(decide(byEvent, End(times = found)).proof.head.contains(last), "the found time")
    }
    val late = range("2026-01-01T00:00:00Z", "2026-03-01T00:05:00.001Z")
    Seq(refused(byEvent, End(times = late)), refused(byFile, End(modified = late))).foreach { error =>
      assert(error.getCondition == "SPLICE_HAND_OVER_DATA.END_IN_FUTURE")
      assert(error.getMessage.contains("more than 5 minutes after the present time"), error.getMessage)
    }
  }

  test("now minus: the start is independent of the history") {
    val created = decide(HandOver.nowMinus(Duration.ofDays(1)), End())
    assert(created.start == Time(Instant.parse("2026-02-28T00:00:00Z").toEpochMilli, FailOrWarn.Warn))
  }

  private def entry(lines: String*): VersionedEntry = VersionedEntry.read("entry", lines)

  private val position = """{"log":"x","next":[],"v":1}"""

  test("a switch is equal after a write and a read") {
    val byTime = HandOver.eventTime("ts", Duration.ZERO)
    val times  = End(times = range("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"))
    Seq(HandOver.offsets() -> exact(Seq(held(p0, 3, 41))), byTime -> decide(byTime, times)).foreach {
      case (rule, created) =>
        val own   = leg("live", Some(rule))
        val log   = source.position(Legs.run(source, new MemorySideLog).initial().json)
        val lines = SwitchFormat.write(own, own, log, created, log)
        val read  = SwitchFormat.read(entry(lines: _*), source)
        assert(read.start == log && read.ended == log.json && read.proof == created.proof)
        assert(read.fill == created.fill && read.stored == StoredStart(log.json, created.fill))
        assert(read.at == now.toString && read.rule == HandOver.text(Some(rule)) && read.rule.nonEmpty)
    }
  }

  test("a corrupt or newer switch is rejected") {
    def condition(lines: String*) =
      intercept[SpliceException](SwitchFormat.read(entry(lines: _*), source)).getCondition
    assert(condition("""{"at":"","rule":"","v":2}""", position, position) == "SPLICE_CHECKPOINT.VERSION_NOT_SUPPORTED")
    assert(condition("""{"at":"","rule":"","v":1}""", "x") == "SPLICE_CHECKPOINT.CORRUPT")
    assert(condition("""{"v":1}""", "x", Legs.run(source, new MemorySideLog).initial().json) ==
      "SPLICE_CHECKPOINT.CORRUPT")
    assert(condition("nonsense", "x", "x") == "SPLICE_CHECKPOINT.CORRUPT")
  }
}
