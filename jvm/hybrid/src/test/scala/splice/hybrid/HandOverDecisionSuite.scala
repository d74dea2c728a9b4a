// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import java.time.{Duration, Instant}

import scala.collection.immutable.SortedMap

import org.scalatest.funsuite.AnyFunSuite

import splice.source.StartPosition.{Configured, Offsets, Timestamp}
import splice.source._
import splice.testkit.memory.MemoryProgress

final class HandOverDecisionSuite extends AnyFunSuite {

  private val now    = Instant.parse("2026-03-01T00:00:00Z")
  private val source = Legs.source(Legs.history(Legs.log()))

  private def leg(name: String, rule: Option[HandOver]) = Leg(name, source, None, rule, OnGap.Warn, s"$name.select")

  private case class End(
      times: Option[TimeRange] = None,
      modified: Option[TimeRange] = None,
      held: Seq[OffsetSummary] = Nil
  ) extends EndState {
    override def position: Progress                                  = MemoryProgress("x", SortedMap.empty)
    override def eventTimes(column: String): Option[TimeRange]       = times
    override def modificationTimes: Option[TimeRange]                = modified
    override def offsets(columns: OffsetColumns): Seq[OffsetSummary] = held
  }

  private def decide(rule: HandOver, end: EndState): HandOverDecision =
    HandOverDecision.decide(leg("history", None), leg("live", Some(rule)), end, now)

  private def refused(rule: HandOver, end: EndState): SpliceException = intercept[SpliceException](decide(rule, end))

  private def range(first: String, last: String) = Some(TimeRange(Instant.parse(first), Instant.parse(last)))

  private val p0 = LogPartition("orders", 0)
  private val p1 = LogPartition("orders", 1)

  test("no rule is the leg's own start") {
    assert(HandOverDecision.decide(leg("history", None), leg("live", None), End(), now).start == Configured)
  }

  test("offsets: one past the last, per partition") {
    val held = Seq(OffsetSummary(p1, 5, 9, 5, Nil), OffsetSummary(p0, 0, 41, 42, Nil))
    val made = decide(HandOver.offsets(), End(held = held))
    assert(made.start == Offsets(SortedMap(p0 -> 42L, p1 -> 10L), OnGap.Warn))
    assert(made.proof == Seq("orders-0 first=0 last=41 count=42", "orders-1 first=5 last=9 count=5"))
  }

  test("offsets: no rows say nothing") {
    val error = refused(HandOver.offsets(), End())
    assert(error.getCondition == "SPLICE_HAND_OVER.NO_ROWS")
    assert(error.getMessage.contains("'live'") && error.getMessage.contains("'history'"))
  }

  test("offsets: holes are named, and pass when they are allowed") {
    val held  = Seq(OffsetSummary(p0, 0, 200, 151, Seq(50L -> 100L)), OffsetSummary(p1, 0, 3, 4, Nil))
    val error = refused(HandOver.offsets(), End(held = held))
    assert(error.getCondition == "SPLICE_HAND_OVER.HOLES")
    assert(error.getMessage.contains("orders-0 lacks 50 (50 to 99)"))
    assert(error.getMessage.contains("'live.handOver.allowHoles'"))
    assert(!error.getMessage.contains("orders-1"))
    val allowed = HandOver.offsets("topic", "partition", "offset", allowHoles = true)
    assert(decide(allowed, End(held = held)).start == Offsets(SortedMap(p0 -> 201L, p1 -> 4L), OnGap.Warn))
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

  test("a decision survives its text, but what to do about a gap is today's") {
    Seq(
      HandOver.offsets()                      -> End(held = Seq(OffsetSummary(p0, 0, 41, 42, Nil))),
      HandOver.eventTime("ts", Duration.ZERO) -> End(times = range("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"))
    ).foreach { case (rule, end) =>
      val made  = decide(rule, end)
      val lines = DecisionFormat.write(leg("live", Some(rule)), made)
      assert(DecisionFormat.read("hand-over-1", lines, OnGap.Warn) == made.start)
      assert(lines.head.contains(now.toString) && lines.head.contains(rule.text))
      DecisionFormat.read("hand-over-1", lines, OnGap.Fail) match {
        case Offsets(_, onGap)   => assert(onGap == OnGap.Fail)
        case Timestamp(_, onGap) => assert(onGap == OnGap.Fail)
        case Configured          => fail("not what was written")
      }
    }
  }

  test("a damaged or newer decision is refused") {
    def condition(lines: String*) =
      intercept[SpliceException](DecisionFormat.read("hand-over-1", lines, OnGap.Fail)).getCondition
    assert(condition("""{"v":2}""", """{"timestamp":1}""") == "SPLICE_CHECKPOINT.NEWER_VERSION")
    assert(condition("""{"v":1}""", """{"time":1}""") == "SPLICE_CHECKPOINT.CORRUPT")
    assert(condition("""{"v":1}""") == "SPLICE_CHECKPOINT.CORRUPT")
    assert(condition("nonsense", "x") == "SPLICE_CHECKPOINT.CORRUPT")
  }
}
