// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.handover

import java.time.Instant
import java.util.UUID

import scala.collection.immutable.SortedMap
import scala.collection.mutable

import org.scalatest.LoneElement.convertToCollectionLoneElementWrapper
import org.scalatest.funsuite.AnyFunSuite

import splice.hybrid.internal.chain.Leg
import splice.hybrid.internal.history.LegOffsets
import splice.hybrid.internal.options.{HandOverRules, RuleOfUser}
import splice.hybrid.{HandOver, Legs, OfLog}
import splice.source.StartPosition.{Offsets, Time}
import splice.source._
import splice.source.errors.{CheckpointErrors, SpliceException}
import splice.source.internal.entries.Json
import splice.source.log.{LogPartitions, LogRange}
import splice.source.options.FailOrWarn
import splice.testkit.internal.memory.{MemoryOptions, MemoryPosition}

/** Tests of the evidence for a user-defined rule, and of the checks of its result. */
final class HandOverEvidenceSuite extends AnyFunSuite {

  private val now   = Instant.ofEpochSecond(5)
  private val files = Legs.source(Legs.history(Legs.log()))
  private val log   = new OfLog(Legs.source(MemoryOptions.of(Legs.log(), "bounded" -> "true").toMap))

  private def p(topic: String, partition: Int): LogPartition = LogPartition(topic, partition)

  /** Ranges of a log, with a record of the requests. */
  private class Asked(ranges: (LogPartition, LogRange)*) {
    val ends: mutable.Buffer[Map[LogPartition, Long]] = mutable.Buffer.empty

    def logRanges(history: SortedMap[LogPartition, Long]): SortedMap[LogPartition, LogRange] = {
      ends += history
      SortedMap.from(ranges)
    }

    def partitions: LogPartitions = new LogPartitions {
      override def logRanges(history: SortedMap[LogPartition, Long]): SortedMap[LogPartition, LogRange] =
        Asked.this.logRanges(history)
    }
  }

  private def end(held: => Seq[OffsetSummary]): Evidence = Evidence(
    MemoryPosition("x", SortedMap(0 -> 7L)),
    () => Some(TimeRange(Instant.EPOCH, now)),
    offsets = () => held
  )

  /** Decides with a rule that returns `response`. Returns the start and the evidence. */
  private def decide(before: Source[_ <: Position], response: String, of: Asked, onGap: FailOrWarn = FailOrWarn.Fail)(
      held: => Seq[OffsetSummary]
  ): (StartPosition, String) = {
    val name  = s"rule-${UUID.randomUUID()}"
    val found = mutable.Buffer.empty[String]
    HandOverRules.register(
      name,
      (evidence: String) => {
        found += evidence
        response
      }
    )
    val rule    = HandOver.Custom(RuleOfUser.OfPython(name), None, None)
    val created = new CustomHandOver(
      Leg("before", before, None, None, FailOrWarn.Fail, ""),
      Leg("live", log, None, Some(rule), onGap, ""),
      rule,
      end(held),
      now
    ).decide(Nil, of.logRanges(_))
    assert(created.proof == Seq(found.loneElement, Json.write(Json.obj("returned" -> Json.text(response)))))
    (created.start, found.loneElement)
  }

  private val first = """{"timestamp":0}"""

  private def two = new Asked(p("b", 0) -> LogRange(1, 9), p("a", 1) -> LogRange(0, 20), p("a", 0) -> LogRange(3, 4))

  test("the evidence of a previous log has offsets and no modification times") {
    val requested     = two
    val (_, evidence) = decide(log, first, requested)(Seq(OffsetSummary.ofLog(p("a", 1), 5, 10)))
    val none          = """{"count":0,"first":[],"offsets":0}"""
    assert(
      evidence ==
        """{"ended":{"leg":"before","position":{"log":"x","next":[[0,7]]}},"leg":"live",""" +
        """"log":{"a":{"0":[3,4],"1":[0,20]},"b":{"0":[1,9]}},"now":5000,"offsets":[{"legs":[{"leg":"before",""" +
        s""""offsets":5,"range":[5,10],"rows":5}],"missing":$none,"partition":1,"repeated":$none,"topic":"a","until":10}]}"""
    )
    assert(requested.ends.toSeq == Seq(Map(p("a", 1) -> 10L)))
  }

  test("the evidence of a previous log on several clusters has no offsets") {
    val requested     = two
    val (_, evidence) = decide(log, first, requested)(throw CheckpointErrors.missingEntry("The offset"))
    assert(!evidence.contains("\"offsets\"") && requested.ends.toSeq == Seq(Map.empty))
  }

  test("the evidence of previous files has modification times, and their offsets are not requested") {
    val (_, evidence) = decide(files, first, two)(fail("offsets are not needed"))
    assert(evidence.contains(""""modificationTimes":{"first":0,"last":5000}""") && !evidence.contains("\"offsets\""))
  }

  test("an exact rule requests the ranges of the history partitions with their ends") {
    val requested = new Asked(p("a", 0) -> LogRange(0, 20), p("a", 1) -> LogRange(0, 20))
    val leg       = Leg("live", files, None, Some(HandOver.offsets()), FailOrWarn.Fail, "")
    val held      = Seq(OffsetSummary.ofLog(p("a", 0), 0, 7), OffsetSummary.ofLog(p("a", 1), 0, 9))
    HandOverDecision.decide(leg, leg, end(Nil), now)(Seq(LegOffsets(leg, held)), requested.partitions)
    assert(requested.ends.toSeq == Seq(Map(p("a", 0) -> 7L, p("a", 1) -> 9L)))
  }

  test("a returned time may be now, and has the policy of the leg") {
    Seq(FailOrWarn.Fail, FailOrWarn.Warn).foreach { onGap =>
      val (start, _) = decide(files, """{"timestamp":5000}""", two, onGap)(Nil)
      assert(start == Time(5000, onGap))
    }
  }

  test("a returned offset may be the first offset or the end of the log in each topic") {
    val (start, _) = decide(files, """{"offsets":{"b":{"0":9},"a":{"0":3,"1":20}}}""", two)(Nil)
    assert(start == Offsets(SortedMap(
      p("a", 0) -> OffsetRanges(3),
      p("a", 1) -> OffsetRanges(20),
      p("b", 0) -> OffsetRanges(9)
    )))
    val low = intercept[SpliceException](decide(files, """{"offsets":{"b":{"0":0},"a":{"0":2}}}""", two)(Nil))
    assert(low.getCondition == "SPLICE_HAND_OVER_DATA.GAP" && low.getMessage.contains("b-0 0; a-0 2."), low.getMessage)
    assert(low.getMessage.contains("'live' cannot continue after leg 'before'"))
  }

  test("an error names only the first partitions") {
    val many  = (0 until 25).map(i => s""""$i":1""").mkString("""{"offsets":{"none":{""", ",", "}}}")
    val error = intercept[SpliceException](decide(files, many, two)(Nil))
    assert(error.getMessage.contains("none-19, 5 more; the leg reads a-0, a-1, b-0"), error.getMessage)
  }
}
