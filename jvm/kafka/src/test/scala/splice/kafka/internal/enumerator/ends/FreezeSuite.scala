// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator.ends

import scala.collection.immutable.SortedMap

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.KafkaFailures
import splice.kafka.internal.enumerator.SimulatedRun
import splice.kafka.internal.enumerator.SimulatedRun.{at, t}
import splice.source.errors.SpliceException
import splice.source.{Limits, LogPartition, OffsetRanges, OffsetSummary, ReadMode, StartPosition}

/** Tests of runs whose ends are fixed at the start: AvailableNow and bounded reads. */
final class FreezeSuite extends AnyFunSuite with KafkaFailures {

  private def world(options: (String, String)*): SimulatedRun = {
    val run = new SimulatedRun(("startingOffsets" -> "earliest") +: options: _*)
    run.log.create("t", 2)
    run.log.fill("t", 0, 4)
    run.log.fill("t", 1, 6)
    run
  }

  test("a run reads to the frozen ends without another request of ends") {
    val run = world()
    val e   = run.start()
    e.freeze()
    val begin = e.start(StartPosition.Configured)
    run.log.fill("t", 0, 9)
    run.log.calls.clear()
    val until = e.advance(begin, Limits.Everything)
    assert(until == at(0 -> 4, 1 -> 6))
    assert(e.advance(until, Limits.Everything) eq until)
    assert(run.log.calls == Seq("earliest", "ids"))
  }

  test("new partitions are read in the next run") {
    val run = world()
    val e   = run.start()
    e.freeze()
    val begin = e.start(StartPosition.Configured)
    run.log.create("t", 3)
    run.log.fill("t", 2, 3)
    run.later()
    val until = e.advance(begin, Limits.Everything)
    assert(until == at(0 -> 4, 1 -> 6))
    val next = run.start()
    next.freeze()
    assert(next.advance(until, Limits.Everything) == at(0 -> 4, 1 -> 6, 2 -> 3))
  }

  test("a start after the frozen end becomes the end") {
    val run = world()
    val e   = run.start()
    e.freeze()
    run.log.fill("t", 0, 9)
    val begin = e.start(StartPosition.Offsets(SortedMap(t(0) -> OffsetRanges(11))))
    assert(begin == at(0 -> 11, 1 -> 0))
    val until = e.advance(begin, Limits.Everything)
    assert(until == at(0 -> 11, 1 -> 6))
    assert(e.advance(until, Limits.Everything) eq until)
  }

  test("an end that was fixed before the start is compared with the log once") {
    val run = world()
    val e   = run.start()
    e.freeze()
    run.log.fill("t", 0, 9)
    val begin = e.start(StartPosition.Offsets(SortedMap(t(0) -> OffsetRanges(11), t(1) -> OffsetRanges(6))))
    run.log.calls.clear()
    (1 to 5).foreach(_ => assert(e.advance(begin, Limits.Everything) == begin))
    assert(run.log.calls.count(_ == "ends") == 1)
  }

  test("a log that is shorter than the position is also data loss") {
    val run = world()
    val e   = run.start()
    run.log.truncate("t", 1, 2)
    e.freeze()
    assert(failure("KAFKA_DATA.DATA_LOSS")(e.advance(at(0 -> 4, 1 -> 6), Limits.Everything)).contains("t-1 [2, 6)"))
  }

  test("a deleted topic is detected even if the ends were frozen before the position was available") {
    val run = world()
    run.log.delete("t")
    run.log.create("t", 1)
    val e = run.start()
    e.freeze()
    assert(failure("KAFKA_DATA.DATA_LOSS")(e.advance(at(0 -> 0, 1 -> 6), Limits.Everything)).contains("t-1 [6, end)"))
  }

  test("a bounded source fails if a topic is removed before it was read to its end") {
    val run = new SimulatedRun("subscribe" -> "t,u", "startingOffsets" -> "earliest", "endingOffsets" -> "latest")
    Seq("t", "u").foreach { topic =>
      run.log.create(topic, 1)
      run.log.fill(topic, 0, 10)
    }
    val e    = run.start()
    val half = e.advance(e.start(StartPosition.Configured), Limits.Limited(rows = Some(10)))
    assert(half.get(LogPartition("u", 0)).contains(5L) && e.evidence(half).isEmpty)
    val less  = new SimulatedRun("subscribe" -> "t", "startingOffsets" -> "earliest", "endingOffsets" -> "latest")
    val error = intercept[SpliceException](run.start(own = less.settings).evidence(half))
    assert(error.getCondition == "SPLICE_KAFKA_OPTION.END_NOT_SUBSCRIBED" && error.getMessage.contains("u-0 [5, 10)"))
    val last = e.advance(half, Limits.Everything)
    assert(run.start(own = less.settings).evidence(last).isDefined)
  }

  test("a bounded source ends at its stored end") {
    val run   = world("endingOffsets" -> "latest")
    val e     = run.start()
    val begin = e.start(StartPosition.Configured)
    assert(e.evidence(begin).isEmpty)
    run.log.fill("t", 0, 5)
    val again = run.start()
    val until = again.advance(begin, Limits.Everything)
    assert(until == at(0 -> 4, 1 -> 6))
    val end = again.evidence(until).getOrElse(fail("the source has not ended"))
    assert(end.position == until)
    assert(end.offsets() == Seq(OffsetSummary.ofLog(t(0), 0, 4), OffsetSummary.ofLog(t(1), 0, 6)))
  }

  test("a stored end does not end a source that has run without an end since then") {
    val run   = world("endingOffsets" -> "latest")
    val first = run.start()
    val ended = first.advance(run.begin(StartPosition.Configured, first), Limits.Everything)
    assert(first.evidence(ended).nonEmpty)
    run.log.create("t", 3)
    run.log.fill("t", 2, 3)
    run.later()
    val endless = new SimulatedRun("startingOffsets" -> "earliest")
    val passed  = run.start(own = endless.settings).advance(ended, Limits.Everything)
    assert(passed == at(0 -> 4, 1 -> 6, 2 -> 3))
    run.log.fill("t", 0, 5)
    val again = run.start()
    assert(again.evidence(passed).isEmpty)
    run.log.fill("t", 0, 1)
    val until = again.advance(passed, Limits.Everything)
    assert(until == at(0 -> 9, 1 -> 6, 2 -> 3))
    val end = run.start().evidence(until).getOrElse(fail("the source has not ended"))
    assert(end.offsets().map(_.until) == Seq(9L, 6L, 3L))
  }

  test("a batch read continues to an end that was resolved after the ends were fixed") {
    Seq("latest", """{"t":{"0":-1,"1":-1}}""").foreach { ending =>
      val run = world("endingOffsets" -> ending)
      val e   = run.start(ReadMode.Batch)
      e.freeze()
      run.log.fill("t", 0, 5)
      val until = e.advance(run.begin(StartPosition.Configured, e), Limits.Everything)
      assert(until == at(0 -> 9, 1 -> 6))
      run.log.fill("t", 0, 1)
      assert(e.advance(until, Limits.Everything) == until && e.evidence(until).nonEmpty)
    }
  }

  test("a stream with fixed ends stops before an end that was resolved later, and the next run continues") {
    val run = world("endingOffsets" -> "latest")
    val e   = run.start()
    e.freeze()
    run.log.fill("t", 0, 5)
    val until = e.advance(run.begin(StartPosition.Configured, e), Limits.Everything)
    assert(until == at(0 -> 4, 1 -> 6) && e.evidence(until).isEmpty)
    val next = run.start()
    next.freeze()
    val end = next.advance(until, Limits.Everything)
    assert(end == at(0 -> 9, 1 -> 6) && next.evidence(end).nonEmpty)
  }

  test("a run with fixed ends does not wait for an end that the log has not reached") {
    val run = world("endingOffsets" -> """{"t":{"0":20,"1":6}}""")
    val e   = run.start()
    e.freeze()
    val until = e.advance(run.begin(StartPosition.Configured, e), Limits.Everything)
    run.log.fill("t", 0, 5)
    assert(until == at(0 -> 4, 1 -> 6) && e.advance(until, Limits.Everything) == until)
    assert(e.evidence(until).isEmpty)
  }

  test("a bounded source ends by offset or by time") {
    def until(options: (String, String)*) = {
      val run = new SimulatedRun(("startingOffsets" -> "earliest") +: options: _*)
      run.log.create("t", 2)
      run.log.write("t", 0, 100, 200, 300)
      run.log.write("t", 1, 150)
      val e = run.start()
      e.advance(e.start(StartPosition.Configured), Limits.Everything)
    }
    assert(until("endingOffsets" -> """{"t":{"0":1,"1":-1}}""") == at(0 -> 1, 1 -> 1))
    assert(until("endingTimestamp" -> "200") == at(0 -> 1, 1 -> 1))
    assert(until("endingOffsetsByTimestamp" -> """{"t":{"0":250,"1":0}}""") == at(0 -> 2, 1 -> 0))
  }

  test("ends where a group has committed, and elsewhere by onNoCommittedOffset") {
    def until(reset: String) = {
      val run = world("endingOffsets" -> "committed", "kafka.group.id" -> "g", "onNoCommittedOffset" -> reset)
      run.log.group = Map(t(0) -> 3L)
      val e = run.start()
      e.advance(e.start(StartPosition.Configured), Limits.Everything)
    }
    assert(until("latest") == at(0 -> 3, 1 -> 6))
    assert(until("earliest") == at(0 -> 3, 1 -> 0))
    assert(failure("KAFKA_OPTION.COMMITTED_OFFSET_NOT_FOUND")(until("fail")).contains("t-1"))
  }

  test("a source with a start after its end reads no rows and has ended") {
    val run   = world("startingOffsets" -> "latest", "endingOffsets" -> """{"t":{"0":1,"1":1}}""")
    val e     = run.start()
    val begin = e.start(StartPosition.Configured)
    assert(e.advance(begin, Limits.Everything) eq begin)
    val ended = e.evidence(begin).getOrElse(fail("the source has not ended"))
    val next  = ended.offsets()
    assert(next.map(_.until) == Seq(4L, 6L), "the next leg continues at the start")
    assert(next.forall(_.offsets.isEmpty))
  }

  test("a start that was not stored is decided again, together with its end") {
    val run = world("startingOffsets" -> "latest", "endingOffsets" -> "latest")
    run.start().start(StartPosition.Configured)
    run.log.fill("t", 0, 5)
    val again = run.start()
    val begin = again.start(StartPosition.Configured)
    assert(begin == at(0 -> 9, 1 -> 6))
    run.log.fill("t", 0, 5)
    Seq(again, run.start()).foreach { e =>
      assert(e.advance(begin, Limits.Everything) == begin && e.evidence(begin).nonEmpty)
      assert(e.evidence(at(0 -> 4, 1 -> 6)).isEmpty, "the end of the start that was not stored")
    }
  }

  test("an end after the end of the log delays a stream and is an error in a batch") {
    val options = Seq("endingOffsets" -> """{"t":{"0":5,"1":6}}""")
    val run     = world(options: _*)
    val e       = run.start()
    val begin   = e.start(StartPosition.Configured)
    val until   = e.advance(begin, Limits.Everything)
    assert(until == at(0 -> 4, 1 -> 6) && e.evidence(until).isEmpty)
    run.log.fill("t", 0, 7)
    assert(e.advance(until, Limits.Everything) == at(0 -> 5, 1 -> 6))
    val text = failure("KAFKA_OPTION.END_BEYOND_END_OF_LOG")(
      world(options: _*).start(ReadMode.Batch).start(StartPosition.Configured)
    )
    assert(text.contains("t-0: 5, but the log ends at 4"))
  }

  test("a bounded source does not read partitions that are added later") {
    val run   = world("endingOffsets" -> "latest")
    val e     = run.start()
    val begin = e.start(StartPosition.Configured)
    run.log.create("t", 3)
    run.log.fill("t", 2, 3)
    run.later()
    assert(e.advance(begin, Limits.Everything) == at(0 -> 4, 1 -> 6))
  }
}
