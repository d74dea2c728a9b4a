// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.handover

import java.time.{Duration, Instant}

import scala.collection.immutable.SortedMap

import org.scalatest.funsuite.AnyFunSuite

import splice.hybrid.internal.chain.Leg
import splice.hybrid.{HandOver, Legs, OfLog}
import splice.source._
import splice.source.options.FailOrWarn
import splice.testkit.LoggedMessages
import splice.testkit.internal.memory.MemoryPosition

/** Tests of the delay of a watermark that a switch to a log needs. */
final class SwitchDelaySuite extends AnyFunSuite {

  private val newest = Instant.parse("2026-03-01T00:00:00Z")
  private val byTime = HandOver.eventTime("ts", Duration.ofHours(1))
  private val files  = Legs.source(Legs.history(Legs.log()))

  private def leg(rule: HandOver, of: Source[_ <: Position] = new OfLog(files)) =
    Leg("live", of, None, Some(rule), FailOrWarn.Warn, "live.select")

  private def end(last: Option[Instant]) = Evidence(
    MemoryPosition("x", SortedMap.empty),
    eventTimes = () => last.map(TimeRange(newest.minusSeconds(3600), _))
  )

  private def first(seconds: Long*) =
    seconds.zipWithIndex.map { case (s, p) => LogPartition("orders", p) -> newest.minusSeconds(s) }

  test("the delay keeps the oldest of the first records, with a warning that names its partition") {
    val (found, logged) =
      LoggedMessages.during(classOf[SwitchDelay].getName)(SwitchDelay(leg(byTime), end(Some(newest)))(first(5, 90)))
    assert(found.contains(SwitchDelay(Some(Duration.ofSeconds(90).plusMillis(1)))))
    assert(logged.size == 1 && logged.head.contains("orders-1") && logged.head.contains("90001 ms"))
  }

  test("records that are newer than the history need no delay, and a record of the same time needs a millisecond") {
    val (found, logged) =
      LoggedMessages.during(classOf[SwitchDelay].getName)(SwitchDelay(leg(byTime), end(Some(newest)))(first(-5, -1)))
    assert(found.contains(SwitchDelay(Some(Duration.ZERO))) && logged.isEmpty)
    assert(SwitchDelay(leg(byTime), end(Some(newest)))(first(0)).contains(SwitchDelay(Some(Duration.ofMillis(1)))))
  }

  test("without a time of the history, the delay is unknown, and no record is requested") {
    Seq(leg(HandOver.offsets()) -> end(Some(newest)), leg(byTime) -> end(None)).foreach { case (next, ending) =>
      assert(SwitchDelay(next, ending)(fail("a record is requested")).contains(SwitchDelay(None)))
    }
    assert(SwitchDelay(leg(byTime), end(Some(newest)))(Nil).contains(SwitchDelay(None)))
  }

  test("a leg that reads no log has no delay") {
    assert(SwitchDelay(leg(byTime, files), end(Some(newest)))(fail("a record is requested")).isEmpty)
  }
}
