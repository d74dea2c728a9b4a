// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import java.time.{Duration, Instant}

import scala.collection.immutable.SortedMap

import org.scalatest.funsuite.AnyFunSuite

import splice.source.StartPosition.{Configured, Offsets, Timestamp}
import splice.source._
import splice.testkit.memory.MemoryPosition

final class HandOverDecisionSuite extends AnyFunSuite {

  private val now    = Instant.parse("2026-03-01T00:00:00Z")
  private val source = Legs.source(Legs.history(Legs.log()))

  private def leg(name: String, rule: Option[HandOver]) = Leg(name, source, None, rule, OnGap.Warn, s"$name.select")

  private case class End(times: Option[TimeRange] = None, modified: Option[TimeRange] = None) extends EndState {
    override def position: Position                                  = MemoryPosition("x", SortedMap.empty)
    override def eventTimes(column: String): Option[TimeRange]       = times
    override def modificationTimes: Option[TimeRange]                = modified
    override def offsets(columns: OffsetColumns): Seq[OffsetSummary] = Nil
  }

  private def decide(rule: HandOver, end: EndState): HandOverDecision =
    HandOverDecision.decide(leg("history", None), leg("live", Some(rule)), end, now)(fail("offsets are not needed"))

  private def refused(rule: HandOver, end: EndState): SpliceException = intercept[SpliceException](decide(rule, end))

  private def held(p: LogPartition, first: Long, last: Long, holes: (Long, Long)*): OffsetSummary = {
    val count = last - first + 1 - holes.map { case (from, until) => until - from }.sum
    OffsetSummary(p, first, last, count, holes, count)
  }

  private def exact(live: Leg)(history: (Leg, Seq[OffsetSummary])*): HandOverDecision =
    HandOverDecision.decide(leg("history", None), live, End(), now)(history.map { case (l, h) => LegOffsets(l, h) })

  private def exact(history: Seq[OffsetSummary]*): HandOverDecision =
    exact(leg("live", Some(HandOver.offsets())))(history.zip(Seq("old", "new", "newest")).map { case (own, name) =>
      leg(name, None) -> own
    }: _*)

  private def refusal(history: Seq[OffsetSummary]*): SpliceException = intercept[SpliceException](exact(history: _*))

  private def range(first: String, last: String) = Some(TimeRange(Instant.parse(first), Instant.parse(last)))

  private val p0 = LogPartition("orders", 0)
  private val p1 = LogPartition("orders", 1)

  test("no rule is the leg's own start") {
    assert(HandOverDecision.decide(leg("history", None), leg("live", None), End(), now)(Nil).start == Configured)
  }

  private val holed = HandOver.offsets("topic", "partition", "offset", allowHoles = true)

  test("offsets: one past the last, per partition") {
    val made = exact(Seq(held(p1, 5, 9), held(p0, 0, 41)))
    assert(made.start == Offsets(SortedMap(p0 -> 42L, p1 -> 10L), OnGap.Warn, SortedMap(p0 -> 0L, p1 -> 5L)))
    assert(made.proof == Seq("orders-0 first=0 last=41 count=42 rows=42", "orders-1 first=5 last=9 count=5 rows=5"))
  }

  test("offsets: a history without rows gives no start") {
    val error = refusal(Nil)
    assert(error.getCondition == "SPLICE_HAND_OVER.NO_ROWS")
    assert(error.getMessage.contains("'live'") && error.getMessage.contains("'old'"))
  }

  test("offsets: holes are named, and pass when they are allowed") {
    val one   = Seq(held(p0, 0, 200, 50L -> 100L), held(p1, 0, 3))
    val error = refusal(one)
    assert(error.getCondition == "SPLICE_HAND_OVER.HOLES")
    assert(error.getMessage.contains("orders-0 lacks 50 (50 to 99)"))
    assert(error.getMessage.contains("'live.handOver.allowHoles'"))
    assert(!error.getMessage.contains("orders-1"))
    assert(exact(leg("live", Some(holed)))(leg("old", None) -> one).start ==
      Offsets(SortedMap(p0 -> 201L, p1 -> 4L), OnGap.Warn, SortedMap(p0 -> 0L, p1 -> 0L)))
  }

  test("offsets of several legs: the greatest of each partition, and partitions of all legs") {
    val made = exact(Seq(held(p0, 0, 9), held(p1, 0, 4)), Seq(held(p0, 10, 19)), Seq(held(p0, 20, 20)))
    assert(made.start == Offsets(SortedMap(p0 -> 21L, p1 -> 5L), OnGap.Warn, SortedMap(p0 -> 0L, p1 -> 0L)))
    assert(made.proof.head == "orders-0 first=0 last=20 count=21 rows=21 legs=old,new,newest")
  }

  test("offsets of several legs: legs in any order, and one that fills a hole of another") {
    val start = exact(Seq(held(p0, 50, 59)), Seq(held(p0, 0, 99, 20L -> 30L, 50L -> 60L)), Seq(held(p0, 20, 29))).start
    assert(start == Offsets(SortedMap(p0 -> 100L), OnGap.Warn, SortedMap(p0 -> 0L)))
  }

  test("offsets of several legs: missing offsets between two legs are holes") {
    val gap   = Seq(Seq(held(p0, 0, 49)), Seq(held(p0, 60, 99)))
    val error = refusal(gap: _*)
    assert(error.getCondition == "SPLICE_HAND_OVER.HOLES" && error.getMessage.contains("orders-0 lacks 10 (50 to 59)"))
    assert(error.getMessage.contains("'old' and 'new'"))
    val allowed = exact(leg("live", Some(holed)))(leg("old", None) -> gap.head, leg("new", None) -> gap.last)
    assert(allowed.start == Offsets(SortedMap(p0 -> 100L), OnGap.Warn, SortedMap(p0 -> 0L)))
  }

  test("offsets of several legs: an overlap is an error that names legs and ranges, or a warning") {
    val overlap = Seq(Seq(held(p0, 0, 59), held(p1, 0, 4)), Seq(held(p0, 50, 54)))
    val error   = refusal(overlap: _*)
    assert(error.getCondition == "SPLICE_HAND_OVER.DUPLICATES")
    assert(error.getMessage.contains("orders-0 has 5 offsets in both 'old' and 'new' (50 to 54)"), error.getMessage)
    assert(error.getMessage.contains("'live.onDuplicates'") && !error.getMessage.contains("orders-1"))
    val warned = leg("live", Some(HandOver.offsets())).copy(onDuplicates = OnDuplicates.Warn)
    assert(exact(warned)(leg("old", None) -> overlap.head, leg("new", None) -> overlap.last).start ==
      Offsets(SortedMap(p0 -> 60L, p1 -> 5L), OnGap.Warn, SortedMap(p0 -> 0L, p1 -> 0L)))
  }

  test("offsets of several legs: an overlap that a summary cannot exclude is an error") {
    val many  = held(p0, 0, 99, 10L -> 12L).copy(count = 90, rows = 90)
    val error = refusal(Seq(many), Seq(held(p0, 10, 11), held(p1, 0, 0)), Seq(held(p0, 40, 41)))
    assert(error.getMessage.contains("orders-0 has up to 2 offsets in both 'old' and 'newest' (40 to 41)"))
    assert(!error.getMessage.contains("'old' and 'new' ("), error.getMessage)
  }

  test("offsets: rows of the same record in one leg are an error that names offsets and counts") {
    val error = refusal(Seq(held(p0, 0, 99).copy(rows = 110, repeated = Seq(20L -> 25L, 30L -> 35L))))
    assert(error.getCondition == "SPLICE_HAND_OVER.DUPLICATES")
    assert(
      error.getMessage.contains("orders-0 has 110 rows of 100 offsets in 'old' (20 to 24, 30 to 34 several times)"),
      error.getMessage
    )
  }

  test("offsets: the start of a log is a choice, and nothing before it is expected") {
    val log = leg("log", None).copy(source =
      Legs.source(Map(
        "source"                  -> "kafka",
        "subscribe"               -> "orders",
        "kafka.bootstrap.servers" -> "broker:9092",
        "startingOffsets"         -> "latest",
        "endingOffsets"           -> "latest"
      ))
    )
    val rule  = leg("live", Some(HandOver.offsets()))
    val empty = OffsetSummary(p1, 7, 6, 0, Nil, 0)
    assert(exact(rule)(log -> Seq(held(p0, 5, 9), empty)).start ==
      Offsets(SortedMap(p0 -> 10L, p1 -> 7L), OnGap.Warn))
    val after =
      exact(rule)(log -> Seq(held(p0, 5, 9), empty), leg("new", None) -> Seq(held(p0, 10, 12), held(p1, 7, 8)))
    assert(after.start == Offsets(SortedMap(p0 -> 13L, p1 -> 9L), OnGap.Warn))
    val gap = intercept[SpliceException](exact(rule)(log -> Seq(empty), leg("new", None) -> Seq(held(p1, 9, 9))))
    assert(gap.getMessage.contains("orders-1 lacks 2 (7 to 8)"))
  }

  test("event time: the greatest minus the overlap") {
    val rule = HandOver.eventTime("ts", Duration.ofMinutes(10))
    val made = decide(rule, End(times = range("2026-01-01T00:00:00Z", "2026-02-01T12:00:00.123456Z")))
    assert(made.start == Timestamp(Instant.parse("2026-02-01T11:50:00.123Z").toEpochMilli, OnGap.Warn))
    assert(made.proof == Seq("ts=2026-02-01T12:00:00.123456Z"))
    val old = decide(rule, End(times = range("1960-01-01T00:00:00Z", "1969-01-01T00:00:00Z")))
    assert(old.start == Timestamp(0, OnGap.Warn))
  }

  test("event time: an end beyond now, or none, is bad") {
    val rule  = HandOver.eventTime("ts", Duration.ofDays(400000))
    val error = refused(rule, End(times = range("2026-01-01T00:00:00Z", "2099-01-01T00:00:00Z")))
    assert(error.getCondition == "SPLICE_HAND_OVER.END_IN_FUTURE")
    assert(error.getMessage.contains("the greatest 'ts' is 2099-01-01T00:00:00Z"))
    assert(error.getMessage.contains("2026-03-01T00:00:00Z"))
    val none = refused(rule, End())
    assert(none.getCondition == "SPLICE_HAND_OVER.NO_EVENT_TIME" && none.getMessage.contains("column 'ts'"))
  }

  test("modification time: the same, by the files") {
    val rule = HandOver.modificationTime(Duration.ofHours(1))
    val made = decide(rule, End(modified = range("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z")))
    assert(made.start == Timestamp(Instant.parse("2026-01-31T23:00:00Z").toEpochMilli, OnGap.Warn))
    assert(refused(
      rule,
      End(modified = range("2026-01-01T00:00:00Z", "2026-03-01T00:00:01Z"))
    ).getCondition.endsWith("FUTURE"))
    assert(refused(rule, End()).getCondition == "SPLICE_HAND_OVER.NO_FILES")
  }

  test("now minus: whatever the history holds") {
    val made = decide(HandOver.nowMinus(Duration.ofDays(1)), End())
    assert(made.start == Timestamp(Instant.parse("2026-02-28T00:00:00Z").toEpochMilli, OnGap.Warn))
  }

  private def entry(lines: String*): VersionedEntry = VersionedEntry.read("entry", lines)

  test("a decision survives its text, but what to do about a gap is today's") {
    val byTime = HandOver.eventTime("ts", Duration.ZERO)
    val times  = End(times = range("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"))
    Seq(HandOver.offsets() -> exact(Seq(held(p0, 3, 41))), byTime -> decide(byTime, times)).foreach {
      case (rule, made) =>
        val lines = DecisionFormat.write(leg("live", Some(rule)), made)
        val read  = DecisionFormat.read(entry(lines: _*))
        assert(read.start(OnGap.Warn) == made.start)
        assert(read.at == now.toString && read.rule == HandOver.text(Some(rule)) && read.rule.nonEmpty)
        read.start(OnGap.Fail) match {
          case Offsets(_, onGap, _) => assert(onGap == OnGap.Fail)
          case Timestamp(_, onGap)  => assert(onGap == OnGap.Fail)
          case Configured           => fail("not what was written")
        }
    }
  }

  test("a damaged or newer decision is refused") {
    def condition(lines: String*) = intercept[SpliceException](DecisionFormat.read(entry(lines: _*))).getCondition
    assert(condition("""{"start":{"timestamp":1},"v":2}""") == "SPLICE_CHECKPOINT.NEWER_VERSION")
    assert(condition("""{"at":"","rule":"","start":{"time":1},"v":1}""") == "SPLICE_CHECKPOINT.CORRUPT")
    assert(condition("""{"v":1}""") == "SPLICE_CHECKPOINT.CORRUPT")
    assert(condition("nonsense", "x") == "SPLICE_CHECKPOINT.CORRUPT")
  }
}
