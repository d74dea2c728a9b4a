// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import scala.collection.immutable.SortedMap

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.MemorySideLog
import splice.kafka.enumerator.SimulatedRun.{at, t}
import splice.kafka.options.{NoRecordAtTime, StartingOffsets}
import splice.source._

/** Where a query begins. */
final class StartSuite extends AnyFunSuite {

  private def world(options: (String, String)*): SimulatedRun = {
    val run = new SimulatedRun(options: _*)
    run.log.create("t", 2)
    run.log.write("t", 0, 100, 200, 300, 400)
    run.log.write("t", 1, 150, 250)
    run.log.expire("t", 0, 1)
    run
  }

  private def begin(run: SimulatedRun, mode: ReadMode = ReadMode.Stream) =
    run.start(mode).start(StartPosition.Configured)

  private def failure(condition: String)(body: => Any): String = {
    val error = intercept[SpliceException](body)
    assert(error.getCondition == s"SPLICE_KAFKA.$condition")
    error.getMessage
  }

  test("begins at latest in a stream and at earliest in a batch") {
    assert(begin(world()) == at(0 -> 4, 1 -> 2))
    assert(begin(world(), ReadMode.Batch) == at(0 -> 1, 1 -> 0))
  }

  test("begins where startingOffsets says") {
    assert(begin(world("startingOffsets" -> "earliest")) == at(0 -> 1, 1 -> 0))
    assert(begin(world("startingOffsets" -> "latest")) == at(0 -> 4, 1 -> 2))
    assert(begin(world("startingOffsets" -> """{"t":{"0":2,"1":-1}}""")) == at(0 -> 2, 1 -> 2))
    assert(begin(world("startingOffsets" -> """{"t":{"0":-2,"1":1}}""")) == at(0 -> 1, 1 -> 1))
  }

  test("a batch that begins at latest, or behind its end, is refused") {
    Seq("latest", """{"t":{"0":2,"1":-1}}""").foreach { start =>
      val error = intercept[SpliceOptionException](begin(world("startingOffsets" -> start), ReadMode.Batch))
      assert(error.getMessage.contains("'startingOffsets = latest'"))
    }
    val behind =
      world("startingOffsets" -> """{"t":{"0":3,"1":1}}""", "endingOffsets" -> """{"t":{"0":2,"1":1}}""")
    val text = intercept[SpliceOptionException](begin(behind, ReadMode.Batch)).getMessage
    assert(text.contains("t-0 begins at 3 and ends at 2."))
  }

  test("topics begin where is said of them, and the others where startingOffsets says") {
    val run = world("subscribe" -> "t,u", "startingOffsets" -> """{"t":{"0":2,"1":1}}""")
    run.log.create("u", 1)
    run.log.write("u", 0, 100, 200)
    def begin(start: StartingOffsets, mode: ReadMode = ReadMode.Stream) =
      run.start(mode, new MemorySideLog).start(StartPosition.Configured, Map("u" -> start))
    def wanted(u: Long) = at(0 -> 2, 1 -> 1) ++ Seq(LogPartition("u", 0) -> u)
    assert(begin(StartingOffsets.Latest) == wanted(2) && begin(StartingOffsets.Earliest) == wanted(0))
    assert(begin(StartingOffsets.AtTime(150, NoRecordAtTime.Error)) == wanted(1))
    assert(begin(StartingOffsets.Exact(SortedMap(LogPartition("u", 0) -> 1L))) == wanted(1))
    val none = intercept[SpliceOptionException](begin(StartingOffsets.Exact(SortedMap.empty)))
    assert(none.getMessage.contains("Not named: u-0."))
    val batch = intercept[SpliceOptionException](begin(StartingOffsets.Latest, ReadMode.Batch))
    assert(batch.getMessage.contains("'startingOffsets = latest'"))
  }

  test("startingOffsets must name every partition and no other") {
    val less  = intercept[SpliceOptionException](begin(world("startingOffsets" -> """{"t":{"0":2}}""")))
    val other = intercept[SpliceOptionException](begin(world("startingOffsets" -> """{"t":{"0":2,"1":0,"7":0}}""")))
    assert(less.getMessage.contains("'startingOffsets'") && less.getMessage.contains("Not named: t-1."))
    assert(other.getMessage.contains("Named, but not read: t-7."))
  }

  test("a start beyond retention is data loss, by policy") {
    val text = failure("DATA_LOSS")(begin(world("startingOffsets" -> """{"t":{"0":0,"1":0}}""")))
    assert(text.contains("t-0 [0, 1)"))
    val warned = world("startingOffsets" -> """{"t":{"0":0,"1":0}}""", "failOnDataLoss" -> "false")
    assert(begin(warned) == at(0 -> 1, 1 -> 0))
  }

  test("a start beyond the end is an error") {
    assert(failure("AHEAD")(
      begin(world("startingOffsets" -> """{"t":{"0":9,"1":0}}"""))
    ).contains("t-0: 9, but the log ends at 4"))
  }

  test("begins at the first record of a time; none is an error, or the end") {
    assert(begin(world("startingTimestamp" -> "201")) == at(0 -> 2, 1 -> 1))
    val none = intercept[SpliceOptionException](begin(world("startingTimestamp" -> "260")))
    assert(none.getMessage.contains("t-1 at 1970-01-01T00:00:00.260Z"))
    val latest = world("startingTimestamp" -> "260", "startingOffsetsByTimestampStrategy" -> "latest")
    assert(begin(latest) == at(0 -> 2, 1 -> 2))
    val each = world("startingOffsetsByTimestamp" -> """{"t":{"0":400,"1":0}}""", "startingOffsets" -> "earliest")
    assert(begin(each) == at(0 -> 3, 1 -> 0))
  }

  test("timestamp race: a record that lands while times are asked for is read") {
    val run = world("startingTimestamp" -> "1000", "startingOffsetsByTimestampStrategy" -> "latest")
    run.log.between = call => if (call == "ends") run.log.write("t", 0, 500)
    assert(begin(run) == at(0 -> 4, 1 -> 2))
    assert(run.log.calls.indexOf("ends") < run.log.calls.indexOf("atTime"))
  }

  test("begins at what the group committed") {
    def committed(reset: String) = {
      val run = world("startingOffsets" -> "committed", "committedReset" -> reset, "kafka.group.id" -> "g")
      run.log.group = Map(t(0) -> 3L)
      run
    }
    assert(begin(committed("earliest")) == at(0 -> 3, 1 -> 0))
    assert(begin(committed("latest")) == at(0 -> 3, 1 -> 2))
    val text = failure("NO_COMMITTED")(begin(committed("fail")))
    assert(text.contains("t-1") && text.contains("group g"))
  }

  test("a missing topic and a missing partition are errors that name them") {
    assert(failure("MISSING_TOPIC")(begin(new SimulatedRun("subscribe" -> "t,u"))).contains("t, u"))
    assert(failure("MISSING_PARTITION")(begin(world("assign" -> """{"t":[0,5]}"""))).contains("t-5"))
  }

  test("a pattern reads every topic whose name holds a match") {
    val run = new SimulatedRun("subscribePattern" -> "t[12]", "startingOffsets" -> "earliest")
    Seq("t1", "t2", "t3", "my-t2").foreach(run.log.create(_, 1))
    assert(begin(run).json == """{"my-t2":{"0":0},"t1":{"0":0},"t2":{"0":0}}""")
  }

  private def handed(run: SimulatedRun, onGap: OnGap, offsets: (LogPartition, Long)*) =
    run.start().start(StartPosition.Offsets(SortedMap.from(offsets), onGap))

  test("a hand-over by offsets begins there, and at earliest where it says nothing") {
    assert(handed(world(), OnGap.Fail, t(0) -> 3L) == at(0 -> 3, 1 -> 0))
    assert(handed(world(), OnGap.Fail, t(0) -> 4L, t(1) -> 2L) == at(0 -> 4, 1 -> 2))
  }

  test("a hand-over to offsets that the log no longer holds is a gap") {
    assert(failure("GAP")(handed(world(), OnGap.Fail, t(0) -> 0L)).contains("t-0 [0, 1)"))
    assert(handed(world(), OnGap.Warn, t(0) -> 0L) == at(0 -> 1, 1 -> 0))
  }

  test("removed records of a partition that the history does not hold are a gap") {
    val text = failure("GAP")(handed(world(), OnGap.Fail, t(1) -> 1L))
    assert(text.contains("t-0 [0, 1)") && !text.contains("t-1"))
    assert(handed(world(), OnGap.Warn, t(1) -> 1L) == at(0 -> 1, 1 -> 1))
  }

  private def archived(run: SimulatedRun, onGap: OnGap, offsets: (LogPartition, (Long, Long))*) = {
    val (starts, firsts) = (offsets.map(o => o._1 -> o._2._2), offsets.map(o => o._1 -> o._2._1))
    run.start().start(StartPosition.Offsets(SortedMap.from(starts), onGap, SortedMap.from(firsts)))
  }

  test("records that the log holds before the first one of the history are not skipped silently") {
    val late = Seq(t(0) -> (3L -> 4L), t(1) -> (0L -> 1L))
    val text = failure("BEFORE_HISTORY")(archived(world(), OnGap.Fail, late: _*))
    assert(text.contains("t-0 [1, 3)") && !text.contains("t-1"))
    assert(archived(world(), OnGap.Warn, late: _*) == at(0 -> 4, 1 -> 1))
    assert(archived(world(), OnGap.Fail, t(0) -> (1L -> 4L)) == at(0 -> 4, 1 -> 0))
  }

  test("offsets without a record before the history are not an error") {
    val run = world()
    run.log.clear("t", 0, 1, 3)
    assert(archived(run, OnGap.Fail, t(0) -> (3L -> 4L)) == at(0 -> 4, 1 -> 0))
  }

  test("a hand-over beyond the end is an error, whatever onGap says") {
    Seq(OnGap.Fail, OnGap.Warn).foreach { onGap =>
      assert(failure("AHEAD")(handed(world(), onGap, t(1) -> 3L)).contains("t-1: 3, but the log ends at 2"))
    }
  }

  test("a hand-over of partitions that the log does not have is an error") {
    assert(failure("NOT_IN_LOG")(handed(world(), OnGap.Warn, LogPartition("old", 4) -> 1L)).contains("old-4"))
  }

  test("hole 12: a hand-over is not refused because a broker that is behind knows less") {
    val behind = world()
    behind.log.answerEnds(Map(t(0) -> 2L))
    assert(handed(behind, OnGap.Fail, t(0) -> 4L) == at(0 -> 4, 1 -> 0))
    val blind = world()
    blind.log.hide(t(1))
    assert(handed(blind, OnGap.Fail, t(0) -> 1L, t(1) -> 1L) == at(0 -> 1, 1 -> 1))
  }

  private def timed(run: SimulatedRun, onGap: OnGap, millis: Long) =
    run.start().start(StartPosition.Timestamp(millis, onGap))

  test("a hand-over by time begins at the first record of it, else at the end") {
    assert(timed(world(), OnGap.Fail, 201) == at(0 -> 2, 1 -> 1))
    assert(timed(world(), OnGap.Fail, 350) == at(0 -> 3, 1 -> 2))
  }

  test("a hand-over to a time of which records are gone is a gap") {
    val text = failure("TIME_GAP")(timed(world(), OnGap.Fail, 150))
    assert(text.contains("t-0 begins at 1970-01-01T00:00:00.200Z"))
    assert(!text.contains("t-1"))
    assert(timed(world(), OnGap.Warn, 150) == at(0 -> 1, 1 -> 0))
    assert(timed(world(), OnGap.Fail, 200) == at(0 -> 1, 1 -> 1))
  }
}
