// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.SimulatedRun
import splice.kafka.internal.enumerator.SimulatedRun.{at, t}
import splice.source.errors.SpliceException
import splice.source.options.FailOrWarn
import splice.source.{Limits, StartPosition}

/** Tests of starts with stale ends, or with concurrent retention. */
final class StaleStartSuite extends AnyFunSuite {

  /** Topic with records at the times 0, 100, … 900, without the first 5 records. */
  private def world(options: (String, String)*): SimulatedRun = {
    val run = new SimulatedRun(options: _*)
    run.log.create("t", 1)
    run.log.write("t", 0, (0L until 10L).map(_ * 100): _*)
    run.log.expire("t", 0, 5)
    run
  }

  /** Makes all responses return an end before the start of the log. */
  private def stale(run: SimulatedRun): SimulatedRun = {
    run.log.between = call => if (call == "earliest") run.log.answerEnds(Map(t(0) -> 3L))
    run.log.answerEnds(Map(t(0) -> 3L))
    run
  }

  private def timed(run: SimulatedRun, onGap: FailOrWarn, millis: Long) =
    run.start().start(StartPosition.Time(millis, onGap))

  private def isRefused(condition: String)(body: => Any) =
    assert(intercept[SpliceException](body).getCondition == s"SPLICE_$condition")

  test("an end before the log is requested again") {
    Seq(FailOrWarn.Fail, FailOrWarn.Warn).foreach { onGap =>
      val run = world()
      run.log.answerEnds(Map(t(0) -> 3L))
      assert(timed(run, onGap, 5000) == at(0 -> 10))
    }
  }

  test("a start at a persistent end before the log begins at the start of the log, if onGap accepts the gap") {
    val run  = stale(world())
    val from = timed(run, FailOrWarn.Warn, 5000)
    assert(from == at(0 -> 5))
    run.log.between = _ => ()
    run.log.settle()
    assert(run.start().advance(from, Limits.Everything) == at(0 -> 10))
    isRefused("KAFKA_DATA.HAND_OVER_TIME_GAP")(timed(stale(world()), FailOrWarn.Fail, 5000))
  }

  test("a start at latest from the options is not before the log") {
    Seq(
      Seq("startingOffsets"   -> "latest"),
      Seq("startingOffsets"   -> """{"t":{"0":-1}}"""),
      Seq("startingTimestamp" -> "5000", "startingOffsetsByTimestampStrategy" -> "latest"),
      Seq("startingOffsets"   -> "committed", "kafka.group.id"                -> "g", "onNoCommittedOffset" -> "latest")
    ).foreach { options =>
      withClue(s"$options: ") {
        val once = world(options: _*)
        once.log.answerEnds(Map(t(0) -> 3L))
        assert(once.start().start(StartPosition.Configured) == at(0 -> 10))
        val always = stale(world(options: _*))
        assert(always.start().start(StartPosition.Configured) == at(0 -> 5))
      }
    }
  }

  test("records between an outdated end and the end are read, so their removal is a loss") {
    def outdated() = {
      val run = world()
      run.log.answerEnds(Map(t(0) -> 7L))
      val from = timed(run, FailOrWarn.Warn, 5000)
      assert(from == at(0 -> 7))
      run -> from
    }
    val (kept, start) = outdated()
    assert(kept.start().advance(start, Limits.Everything) == at(0 -> 10))
    val (run, from) = outdated()
    run.log.expire("t", 0, 9)
    isRefused("KAFKA_DATA.DATA_LOSS")(run.start().advance(from, Limits.Everything))
  }

  test("records that are written and removed during the decision of a time are a gap") {
    def removing() = {
      val run = world()
      run.log.between = call =>
        if (call == "ends" && run.log.end(t(0)) == 10) {
          run.log.write("t", 0, 6000, 7000)
          run.log.expire("t", 0, 12)
        }
      run
    }
    isRefused("KAFKA_DATA.HAND_OVER_TIME_GAP")(timed(removing(), FailOrWarn.Fail, 5000))
    assert(timed(removing(), FailOrWarn.Warn, 5000) == at(0 -> 12))
  }

  test("a found record that is removed is a gap or a loss") {
    def removing(all: Boolean) = {
      val run   = world()
      var times = 0
      run.log.between = call =>
        if (call == "atTime" && (all || times == 0)) {
          times += 1
          run.log.expire("t", 0, 5L + times)
        }
      run
    }
    isRefused("KAFKA_DATA.HAND_OVER_TIME_GAP")(timed(removing(all = false), FailOrWarn.Fail, 500))
    assert(timed(removing(all = false), FailOrWarn.Warn, 500) == at(0 -> 6))
    val run  = removing(all = true)
    val from = timed(run, FailOrWarn.Warn, 500)
    assert(from.get(t(0)).exists(_ < run.log.first(t(0))))
    isRefused("KAFKA_DATA.DATA_LOSS")(run.start().advance(from, Limits.Everything))
  }
}
