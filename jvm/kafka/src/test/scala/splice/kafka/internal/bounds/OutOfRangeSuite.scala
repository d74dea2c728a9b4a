// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.SimulatedRun.{at, range, t}
import splice.kafka.internal.enumerator.{KafkaEnumerator, SimulatedRun}
import splice.kafka.internal.split.KafkaPosition
import splice.source.errors.SpliceException
import splice.source.runtime.ProgressMetric
import splice.source.{Limits, StartPosition}

/** Tests of `onOutOfRange` for positions that the log no longer has, and of `newPartitionsStartAt` for new
  * partitions.
  */
final class OutOfRangeSuite extends AnyFunSuite {

  /** Twenty records at intervals of one second. After four records were read, retention removes the first eight
    * records.
    */
  private def world(options: (String, String)*): (SimulatedRun, KafkaPosition) = {
    val run = new SimulatedRun(("startingOffsets" -> "earliest") +: options: _*)
    run.log.create("t", 1)
    run.log.write("t", 0, (0 until 20).map(_ * 1000L): _*)
    val e    = run.start()
    val from = e.advance(e.start(StartPosition.Configured), Limits.Limited(rows = Some(4)))
    assert(from == at(0 -> 4))
    run.log.expire("t", 0, 8)
    (run, from)
  }

  test("fail is an error at the plan of the batch, with the missing records") {
    val (run, from) = world()
    val error       = intercept[SpliceException](run.start().advance(from, Limits.Everything))
    assert(error.getCondition == "SPLICE_KAFKA_DATA.DATA_LOSS" && error.getMessage.contains("t-0 [4, 8)"))
    assert(error.getMessage.contains("'onOutOfRange'"))
  }

  test("earliest, latest and a time set the position to continue") {
    Seq("earliest" -> 8L, "latest" -> 20L, "timestamp:15000" -> 15L, "timestamp:1970-01-01T00:00:01Z" -> 8L).foreach {
      case (policy, first) =>
        val (run, from) = world("onOutOfRange" -> policy)
        val e           = run.start()
        val until       = e.advance(from, Limits.Everything)
        assert(until == at(0 -> 20))
        assert(e.splits(from, until) == (if (first == 20) Nil else Seq(range(0, first, 20))), policy)
        assert(e.advance(until, Limits.Everything) eq until)
    }
  }

  test("a run with a fixed end continues after the skipped records") {
    val (run, from) = world("onOutOfRange" -> "latest")
    val e           = run.start()
    e.freeze()
    run.log.write("t", 0, 20000L, 21000L)
    val until = e.advance(from, Limits.Everything)
    assert(until == at(0 -> 22) && e.splits(from, until).isEmpty && (e.advance(until, Limits.Everything) eq until))
  }

  test("skipped records end at the end of a bounded source, because the source does not read later records") {
    val modes = Seq[(KafkaEnumerator, KafkaPosition) => KafkaPosition](_.settle(_), _.advance(_, Limits.Everything))
    for (policy <- Seq("earliest", "latest", "timestamp:15000"); first <- Seq(10L, 14L); next <- modes) {
      val (run, from) = world("onOutOfRange" -> policy, "endingOffsets" -> """{"t":{"0":10}}""")
      run.log.expire("t", 0, first)
      val e     = run.start()
      val until = next(e, from)
      assert(until == at(0 -> 10) && e.evidence(until).exists(_.position == until), s"$policy, $first")
      assert(e.figures(until)(ProgressMetric.RowsSkipped) == "6", s"$policy, $first")
      assert(e.plan.skips.of(t(0), 0) == Vector(SkippedRanges.Skip(4, 10)), s"$policy, $first")
    }
    val (run, from) = world("endingOffsets" -> """{"t":{"0":10}}""")
    run.log.expire("t", 0, 14)
    assert(intercept[SpliceException](run.start().advance(from, Limits.Everything)).getMessage.contains("t-0 [4, 10)"))
  }

  test("failOnDataLoss = false has the effect of earliest") {
    val (run, from) = world("failOnDataLoss" -> "false")
    val e           = run.start()
    assert(e.splits(from, e.advance(from, Limits.Everything)) == Seq(range(0, 8, 20)))
  }

  test("the position to continue is decided once, independent of later retention, and a replay reads the same rows") {
    val (run, from) = world("onOutOfRange" -> "earliest")
    val until       = run.start().advance(from, Limits.Limited(rows = Some(5)))
    assert(until == at(0 -> 13))
    run.log.expire("t", 0, 10)
    val e = run.start()
    assert(e.splits(from, until) == Seq(range(0, 8, 13)))
    val next = e.advance(until, Limits.Everything)
    run.log.expire("t", 0, 20)
    val f = run.start()
    assert(f.splits(until, next) == Seq(range(0, 13, 20)))
    assert(f.splits(at(0 -> 0), next) == Seq(range(0, 8, 20)))
    assert(f.splits(at(0 -> 0), from) == Seq(range(0, 0, 4)))
  }

  test("a decision that is in no offset is kept, and another decision can follow it") {
    val (run, from) = world("onOutOfRange" -> "latest")
    run.start().advance(from, Limits.Everything)
    run.log.write("t", 0, 20000L, 21000L, 22000L)
    val e     = run.start()
    val until = e.advance(from, Limits.Everything)
    assert(e.splits(from, until) == Seq(range(0, 20, 23)))
  }

  test("a partition without removed records needs no further request") {
    val (run, from) = world("onOutOfRange" -> "earliest")
    val e           = run.start()
    val one         = e.advance(from, Limits.Everything)
    run.log.fill("t", 0, 3)
    run.log.calls.clear()
    e.advance(one, Limits.Everything)
    assert(run.log.calls == Seq("ends", "ids"))
  }

  test("the policy also applies to a start of the options") {
    Seq("earliest" -> 8L, "latest" -> 20L).foreach { case (policy, first) =>
      val (run, _) = world("onOutOfRange" -> policy)
      val options  = Seq("startingOffsets" -> """{"t":{"0":2}}""", "onOutOfRange" -> policy)
      val own      = new SimulatedRun(options: _*).settings
      assert(run.start(
        sideLog = new splice.coordinator.internal.sidelog.MemorySideLog,
        own = own
      ).start(StartPosition.Configured) ==
        at(0 -> first))
    }
  }

  test("with newPartitionsStartAt latest, new partitions begin at their end, which is decided once") {
    val (run, from) = world("newPartitionsStartAt" -> "latest", "onOutOfRange" -> "earliest")
    run.log.create("t", 2)
    run.log.fill("t", 1, 6)
    val crashed = run.start()
    crashed.advance(from, Limits.Everything)
    run.log.fill("t", 1, 2)
    val e     = run.start()
    val until = e.advance(from, Limits.Everything)
    assert(until == at(0 -> 20, 1 -> 8))
    assert(e.splits(from, until) == Seq(range(0, 8, 20), range(1, 6, 8)))
    assert(run.start().splits(from, until) == Seq(range(0, 8, 20), range(1, 6, 8)))
  }

  test("partitions that Spark's source has added begin at earliest, independent of newPartitionsStartAt") {
    val (run, _) = world("newPartitionsStartAt" -> "latest", "onOutOfRange" -> "earliest")
    run.log.create("t", 2)
    run.log.fill("t", 1, 6)
    assert(run.replay(at(0 -> 20), at(0 -> 20, 1 -> 6)) == Seq(range(1, 0, 6)))
  }
}
