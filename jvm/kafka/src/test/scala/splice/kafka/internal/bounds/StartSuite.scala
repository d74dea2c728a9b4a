// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import java.time.Instant

import scala.collection.immutable.SortedMap

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.internal.enumerator.SimulatedRun
import splice.kafka.internal.enumerator.SimulatedRun.{at, t}
import splice.kafka.internal.options.KafkaSettings
import splice.kafka.{KafkaFailures, Place}
import splice.source.errors.SpliceOptionException
import splice.source.log.LogRange
import splice.source.options.{FailOrWarn, SourceOptions}
import splice.source.{Limits, LogPartition, OffsetRanges, ReadMode, StartPosition}

/** Tests of the start of a query. */
final class StartSuite extends AnyFunSuite with KafkaFailures {

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

  test("a stream begins at latest and a batch at earliest") {
    assert(begin(world()) == at(0 -> 4, 1 -> 2))
    assert(begin(world(), ReadMode.Batch) == at(0 -> 1, 1 -> 0))
  }

  test("startingOffsets sets the start") {
    assert(begin(world("startingOffsets" -> "earliest")) == at(0 -> 1, 1 -> 0))
    assert(begin(world("startingOffsets" -> "latest")) == at(0 -> 4, 1 -> 2))
    assert(begin(world("startingOffsets" -> """{"t":{"0":2,"1":-1}}""")) == at(0 -> 2, 1 -> 2))
    assert(begin(world("startingOffsets" -> """{"t":{"0":-2,"1":1}}""")) == at(0 -> 1, 1 -> 1))
  }

  test("a batch that begins at latest or after its end is rejected") {
    Seq("latest", """{"t":{"0":2,"1":-1}}""").foreach { start =>
      val error = intercept[SpliceOptionException](begin(world("startingOffsets" -> start), ReadMode.Batch))
      assert(error.getMessage.contains("'startingOffsets = latest'"))
    }
    val behind =
      world("startingOffsets" -> """{"t":{"0":3,"1":1}}""", "endingOffsets" -> """{"t":{"0":2,"1":1}}""")
    val text = intercept[SpliceOptionException](begin(behind, ReadMode.Batch)).getMessage
    assert(text.contains("t-0 begins at 3 and ends at 2."))
  }

  test("topic-specific starts apply first, and startingOffsets applies to other topics") {
    val run = world("subscribe" -> "t,u", "startingOffsets" -> """{"t":{"0":2,"1":1}}""")
    run.log.create("u", 1)
    run.log.write("u", 0, 100, 200)
    def begin(start: Place, mode: ReadMode = ReadMode.Stream) =
      run.start(mode, new MemorySideLog).start(StartPosition.Configured, Map("u" -> start))
    def wanted(u: Long) = at(0 -> 2, 1 -> 1) ++ Seq(LogPartition("u", 0) -> u)
    assert(begin(Place.Latest) == wanted(2) && begin(Place.Earliest) == wanted(0))
    assert(begin(Place.At(Instant.ofEpochMilli(150), otherwise = None)) == wanted(1))
    assert(begin(Place.Exact(SortedMap(LogPartition("u", 0) -> 1L))) == wanted(1))
    val none = intercept[SpliceOptionException](begin(Place.Exact(SortedMap.empty)))
    assert(none.getMessage.contains("Missing partitions: u-0."))
    val batch = intercept[SpliceOptionException](begin(Place.Latest, ReadMode.Batch))
    assert(batch.getMessage.contains("'startingOffsets = latest'"))
  }

  test("startingOffsets must have exactly the partitions of the topic") {
    val less  = intercept[SpliceOptionException](begin(world("startingOffsets" -> """{"t":{"0":2}}""")))
    val other = intercept[SpliceOptionException](begin(world("startingOffsets" -> """{"t":{"0":2,"1":0,"7":0}}""")))
    assert(less.getMessage.contains("'startingOffsets'") && less.getMessage.contains("Missing partitions: t-1."))
    assert(other.getMessage.contains("does not read: t-7."))
  }

  test("a start before the first remaining record is data loss by policy") {
    val text = failure("KAFKA_DATA.DATA_LOSS")(begin(world("startingOffsets" -> """{"t":{"0":0,"1":0}}""")))
    assert(text.contains("t-0 [0, 1)"))
    val warned = world("startingOffsets" -> """{"t":{"0":0,"1":0}}""", "failOnDataLoss" -> "false")
    assert(begin(warned) == at(0 -> 1, 1 -> 0))
  }

  test("a start after the end is an error") {
    assert(failure("KAFKA_DATA.START_BEYOND_END_OF_LOG")(
      begin(world("startingOffsets" -> """{"t":{"0":9,"1":0}}"""))
    ).contains("t-0: 9, but the log ends at 4"))
  }

  test("a start by time begins at the first record since the time; without such a record it is an error or the end") {
    assert(begin(world("startingTimestamp" -> "201")) == at(0 -> 2, 1 -> 1))
    val none = intercept[SpliceOptionException](begin(world("startingTimestamp" -> "260")))
    assert(none.getMessage.contains("t-1 at 1970-01-01T00:00:00.260Z"))
    val latest = world("startingTimestamp" -> "260", "startingOffsetsByTimestampStrategy" -> "latest")
    assert(begin(latest) == at(0 -> 2, 1 -> 2))
    val each = world("startingOffsetsByTimestamp" -> """{"t":{"0":400,"1":0}}""", "startingOffsets" -> "earliest")
    assert(begin(each) == at(0 -> 3, 1 -> 0))
  }

  test("a record that is written during a request of times is read") {
    val run = world("startingTimestamp" -> "1000", "startingOffsetsByTimestampStrategy" -> "latest")
    run.log.between = call => if (call == "ends") run.log.write("t", 0, 500)
    assert(begin(run) == at(0 -> 4, 1 -> 2))
    assert(run.log.calls.indexOf("ends") < run.log.calls.indexOf("atTime"))
  }

  test("a query begins at the committed offsets of the group") {
    def committed(reset: String) = {
      val run = world("startingOffsets" -> "committed", "onNoCommittedOffset" -> reset, "kafka.group.id" -> "g")
      run.log.group = Map(t(0) -> 3L)
      run
    }
    assert(begin(committed("earliest")) == at(0 -> 3, 1 -> 0))
    assert(begin(committed("latest")) == at(0 -> 3, 1 -> 2))
    val text = failure("KAFKA_OPTION.COMMITTED_OFFSET_NOT_FOUND")(begin(committed("fail")))
    assert(text.contains("t-1") && text.contains("group g"))
  }

  test("a missing topic and a missing partition are errors with their names") {
    assert(failure("KAFKA_OPTION.TOPIC_NOT_FOUND")(begin(new SimulatedRun("subscribe" -> "t,u"))).contains("t, u"))
    assert(failure("KAFKA_OPTION.PARTITION_NOT_FOUND")(begin(world("assign" -> """{"t":[0,5]}"""))).contains("t-5"))
  }

  test("a pattern matches topics by a part of the name") {
    val run = new SimulatedRun("subscribePattern" -> "t[12]", "startingOffsets" -> "earliest")
    Seq("t1", "t2", "t3", "my-t2").foreach(run.log.create(_, 1))
    assert(begin(run).json == """{"my-t2":{"0":0},"t1":{"0":0},"t2":{"0":0}}""")
  }

  private def handed(run: SimulatedRun, starts: (LogPartition, OffsetRanges)*) =
    run.start().start(StartPosition.Offsets(SortedMap.from(starts)))

  private def ranges(run: SimulatedRun, history: (LogPartition, Long)*) =
    run.start().logRanges(SortedMap.from(history))

  test("a hand-over by offsets begins at its offsets, and at earliest for other partitions") {
    assert(handed(world(), t(0) -> OffsetRanges(3)) == at(0 -> 3, 1 -> 0))
    assert(handed(world(), t(0) -> OffsetRanges(4), t(1) -> OffsetRanges(2)) == at(0 -> 4, 1 -> 2))
    assert(handed(world()) == at(0 -> 1, 1 -> 0))
  }

  test("a hand-over with holes begins at the first hole") {
    val holes = OffsetRanges(4, Vector(2L -> 3L))
    assert(handed(world(), t(0) -> holes, t(1) -> OffsetRanges(2)) == at(0 -> 2, 1 -> 2))
  }

  test("a hand-over does not request offsets that are already set") {
    val run = world()
    assert(handed(run, t(0) -> OffsetRanges(3), t(1) -> OffsetRanges(1)) == at(0 -> 3, 1 -> 1))
    assert(run.log.calls == Seq("describe"))
    run.log.calls.clear()
    assert(handed(run, t(0) -> OffsetRanges(3)) == at(0 -> 3, 1 -> 0))
    assert(run.log.calls == Seq("describe", "earliest"))
  }

  test("the ranges of the log have the remaining records of each partition, with or without a history") {
    val now = SortedMap(t(0) -> LogRange(1, 4), t(1) -> LogRange(0, 2))
    assert(ranges(world(), t(0) -> 3L, t(1) -> 1L) == now)
    assert(ranges(world(), t(1) -> 1L) == now)
    assert(ranges(world()) == now)
    val emptied = world()
    emptied.log.expire("t", 0, 4)
    assert(ranges(emptied, t(0) -> 3L) == now.updated(t(0), LogRange(4, 4)))
  }

  test("a log that ends before the history is reported after a retry") {
    val run = world()
    assert(ranges(run, t(1) -> 3L)(t(1)) == LogRange(0, 2))
    assert(run.log.calls.count(_ == "ends") == 1 + run.settings.retries && run.pauses == run.settings.retries)
    val calm = world()
    assert(ranges(calm, t(1) -> 2L)(t(1)) == LogRange(0, 2))
    assert(calm.log.calls.count(_ == "ends") == 1 && calm.pauses == 0)
  }

  test("a log that has the records of an open transaction does not end before the history, and the leg waits") {
    val run = world("kafka.isolation.level" -> "read_committed")
    run.log.open = Map(t(0) -> 2L)
    assert(ranges(run, t(0) -> 2L)(t(0)) == LogRange(1, 2) && !run.log.calls.contains("written"))
    assert(ranges(run, t(0) -> 3L, t(1) -> 1L) == SortedMap(t(0) -> LogRange(1, 3), t(1) -> LogRange(0, 2)))
    assert(run.pauses == 0)
    assert(ranges(run, t(0) -> 5L)(t(0)) == LogRange(1, 4))
    val e    = run.start()
    val from = run.begin(StartPosition.Offsets(SortedMap(t(0) -> OffsetRanges(3), t(1) -> OffsetRanges(2))), e)
    assert(e.advance(from, Limits.Everything) == from)
    run.log.open = Map.empty
    assert(e.advance(from, Limits.Everything) == at(0 -> 4, 1 -> 2))
  }

  test("the ranges of the log exclude partitions that only the history has") {
    assert(ranges(world(), LogPartition("old", 4) -> 1L, t(0) -> 3L).keySet == Set(t(0), t(1)))
  }

  test("a subscribed topic that does not exist is an error and not an empty log") {
    val run = new SimulatedRun("subscribe" -> "t,u")
    run.log.create("t", 1)
    assert(failure("KAFKA_OPTION.TOPIC_NOT_FOUND")(ranges(run, t(0) -> 0L)).contains("u"))
    assert(failure("KAFKA_OPTION.TOPIC_NOT_FOUND")(handed(run, t(0) -> OffsetRanges(0))).contains("u"))
  }

  test("a stale broker does not cause the rejection of a hand-over") {
    val behind = world()
    behind.log.answerEnds(Map(t(0) -> 2L))
    assert(ranges(behind, t(0) -> 4L)(t(0)) == LogRange(1, 4))
    val blind = world()
    blind.log.hide(t(1))
    assert(ranges(blind, t(0) -> 1L, t(1) -> 1L)(t(1)) == LogRange(0, 2))
    val begun = world()
    begun.log.hide(t(1))
    assert(handed(begun, t(0) -> OffsetRanges(1), t(1) -> OffsetRanges(1)) == at(0 -> 1, 1 -> 1))
  }

  test("a record that is written during the comparison is at the end of the log or later") {
    val run = world()
    run.log.between = call => if (call == "ends") run.log.write("t", 0, 500)
    assert(ranges(run, t(0) -> 4L)(t(0)) == LogRange(1, 4))
    assert(run.log.calls.indexOf("ends") < run.log.calls.indexOf("earliest"))
    val removed = world()
    removed.log.between = call =>
      if (call == "ends") {
        removed.log.fill("t", 0, 3)
        removed.log.expire("t", 0, 6)
      }
    assert(ranges(removed, t(0) -> 4L)(t(0)) == LogRange(6, 6), "retention removed the previous end")
  }

  private def timed(run: SimulatedRun, onGap: FailOrWarn, millis: Long) =
    run.start().start(StartPosition.Time(millis, onGap))

  test("a hand-over by time begins at the first record since the time, else at the end") {
    assert(timed(world(), FailOrWarn.Fail, 201) == at(0 -> 2, 1 -> 1))
    assert(timed(world(), FailOrWarn.Fail, 350) == at(0 -> 3, 1 -> 2))
  }

  test("records without a real time before the start of a hand-over are a gap") {
    val Hour = 3600000L
    val now  = 1790000000000L
    Seq(Seq(0L), Seq(1L, 1L), Seq(now / 1000), Seq(now - 2 * Hour, 1L), Seq(now - 2 * Hour, -1L, now)).foreach {
      times =>
        val run = new SimulatedRun()
        run.log.create("t", 2)
        run.log.write("t", 0, times: _*)
        val text = failure("KAFKA_DATA.HAND_OVER_TIMES_INVALID")(timed(run, FailOrWarn.Fail, now - Hour))
        assert(text.contains(s"t-0 has ${times.takeWhile(_ != now).last}") && !text.contains("t-1"), text)
        assert(timed(run, FailOrWarn.Warn, now - Hour).get(t(0)).contains(times.takeWhile(_ != now).size.toLong))
    }
    val quiet = new SimulatedRun()
    quiet.log.create("t", 1)
    quiet.log.write("t", 0, now - 100 * Hour)
    assert(timed(quiet, FailOrWarn.Fail, now - Hour) == at(0 -> 1), "a quiet partition")
  }

  test("a record that is written during the decision of a hand-over by time is read") {
    val run = world()
    run.log.between = call => if (call == "earliest") run.log.write("t", 0, 1000)
    assert(timed(run, FailOrWarn.Fail, 900) == at(0 -> 4, 1 -> 2))
  }

  test("a hand-over to a time with removed records is a gap") {
    val text = failure("KAFKA_DATA.HAND_OVER_TIME_GAP")(timed(world(), FailOrWarn.Fail, 150))
    assert(text.contains("t-0 begins at 1970-01-01T00:00:00.200Z"))
    assert(!text.contains("t-1"))
    assert(timed(world(), FailOrWarn.Warn, 150) == at(0 -> 1, 1 -> 0))
  }

  test("a partition that retention has emptied is a gap in time") {
    val emptied = world()
    emptied.log.expire("t", 0, 4)
    val text = failure("KAFKA_DATA.HAND_OVER_TIME_GAP")(timed(emptied, FailOrWarn.Fail, 150))
    assert(text.contains("t-0 no longer has records") && !text.contains("t-1"), text)
    assert(timed(emptied, FailOrWarn.Warn, 150) == at(0 -> 4, 1 -> 0))
    // The times of the removed records are unknown.
    assert(failure("KAFKA_DATA.HAND_OVER_TIME_GAP")(timed(
      emptied,
      FailOrWarn.Fail,
      1000
    )).contains("t-0 no longer has records"))
  }

  test("a log start without a record does not hide a gap in time") {
    val run = world()
    run.log.clear("t", 0, 1, 2)
    val text = failure("KAFKA_DATA.HAND_OVER_TIME_GAP")(timed(run, FailOrWarn.Fail, 150))
    assert(text.contains("t-0 begins at 1970-01-01T00:00:00.300Z") && !text.contains("t-1"), text)
    assert(timed(run, FailOrWarn.Warn, 150) == at(0 -> 2, 1 -> 0))
    assert(timed(run, FailOrWarn.Fail, 350) == at(0 -> 3, 1 -> 2), "an earlier record exists")
  }

  test("a removed record may have the time of the first remaining record") {
    val text = failure("KAFKA_DATA.HAND_OVER_TIME_GAP")(timed(world(), FailOrWarn.Fail, 200))
    assert(text.contains("t-0 begins at 1970-01-01T00:00:00.200Z") && !text.contains("t-1"), text)
    assert(timed(world(), FailOrWarn.Warn, 200) == at(0 -> 1, 1 -> 1))
    assert(timed(world(), FailOrWarn.Fail, 201) == at(0 -> 2, 1 -> 1), "an earlier record exists")
  }

  test("a log with offsets and without records is a gap in time") {
    val run = world()
    run.log.clear("t", 0, 1, 4)
    assert(failure("KAFKA_DATA.HAND_OVER_TIME_GAP")(timed(
      run,
      FailOrWarn.Fail,
      150
    )).contains("t-0 no longer has records"))
  }

  test("a partition that never had records, or that still has its first record, is not a gap in time") {
    val run = world()
    run.log.create("t", 3)
    run.log.clear("t", 1, 0, 1)
    assert(timed(run, FailOrWarn.Fail, 201) == at(0 -> 2, 1 -> 1, 2 -> 0))
    assert(timed(run, FailOrWarn.Fail, 350) == at(0 -> 3, 1 -> 2, 2 -> 0))
  }

  test("errors of the options of a leg name them with the leg") {
    val leg = SourceOptions(Map(
      "live.kafka.bootstrap.servers" -> "simulated:9092",
      "live.subscribe"               -> "t",
      "live.startingOffsets"         -> """{"t":{"0":1,"7":1}}"""
    )).scope("live")
    val run = world()
    val own = KafkaSettings(leg)
    val few = intercept[SpliceOptionException](run.start(own = own).start(StartPosition.Configured))
    assert(few.getMessage.contains("'live.startingOffsets'"), few)
    val times = own.copy(start = Some(Place.At(Instant.ofEpochMilli(1000000), otherwise = None)))
    val none  = intercept[SpliceOptionException](run.start(own = times).start(StartPosition.Configured))
    assert(none.getMessage.contains("'live.startingOffsetsByTimestampStrategy'"), none)
    val latest = own.copy(start = Some(Place.Latest))
    val batch  = run.start(ReadMode.Batch, own = latest)
    val empty  = intercept[SpliceOptionException](batch.start(StartPosition.Configured))
    assert(empty.getMessage.contains("'live.startingOffsets = latest'"), empty)
  }

}
