// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.admission

import java.time.Duration

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.SimulatedRun.{at, t}
import splice.kafka.internal.enumerator.{KafkaEnumerator, SimulatedRun}
import splice.kafka.internal.metrics.{PartitionRead, TaskReads}
import splice.kafka.internal.options.{EventTimeSettings, KafkaSettings, OnFutureTime}
import splice.kafka.internal.split.KafkaPosition
import splice.source.errors.{SpliceException, SpliceOptionException}
import splice.source.options.SourceOptions
import splice.source.runtime.{ProgressMetric, Report}
import splice.source.{Limits, StartPosition}
import splice.testkit.LoggedMessages

/** Tests of batches that end at one time, with a simulated cluster. */
final class EventTimeSuite extends AnyFunSuite {

  private val minute = 60000L
  private val hour   = 60 * minute

  private def world(options: (String, String)*): SimulatedRun = {
    val run = new SimulatedRun(Seq("startingOffsets" -> "earliest", "admission" -> "eventTime") ++ options: _*)
    run.log.create("t", 2)
    run
  }

  private def now(run: SimulatedRun): Long = run.clock.instant().toEpochMilli

  private def begin(run: SimulatedRun): (KafkaEnumerator, KafkaPosition) = {
    val e = run.start()
    e -> run.begin(StartPosition.Configured, e)
  }

  private def next(e: KafkaEnumerator, from: KafkaPosition): KafkaPosition = e.advance(from, e.limits(from))

  private def at1(offset: Long) = at(0 -> 0, 1 -> offset)

  private def held(e: KafkaEnumerator, at: KafkaPosition): String = e.figures(at)(ProgressMetric.RowsHeld)

  /** A partition with a record an hour ahead between its records, and a partition without such a record. */
  private def ahead(options: (String, String)*): SimulatedRun = {
    val run = world(options: _*)
    run.log.write("t", 0, now(run), now(run) + hour / 2, now(run))
    run.log.write("t", 1, now(run), now(run))
    run
  }

  test("a batch ends at one time: a partition with older records is read first") {
    val run = world("maxOffsetsPerTrigger" -> "4")
    run.log.write("t", 0, (0 until 8).map(i => now(run) - hour + i): _*)
    run.log.write("t", 1, (0 until 8).map(i => now(run) - hour + i + 4): _*)
    val (e, from) = begin(run)
    val ends      = Iterator.iterate(from)(next(e, _)).drop(1).take(4).toSeq
    assert(ends == Seq(at(0 -> 4, 1 -> 0), at(0 -> 6, 1 -> 2), at(0 -> 8, 1 -> 4), at(0 -> 8, 1 -> 8)))
  }

  test("records of one time that exceed the limit are shared by lag") {
    val run = world("maxOffsetsPerTrigger" -> "4")
    run.log.write("t", 0, Seq.fill(9)(now(run)): _*)
    run.log.write("t", 1, Seq.fill(3)(now(run)): _*)
    val (e, from) = begin(run)
    assert(next(e, from) == at(0 -> 3, 1 -> 1))
  }

  test("without records, and in a steady state, a batch needs no search") {
    val run       = world("maxOffsetsPerTrigger" -> "4")
    val (e, from) = begin(run)
    run.log.calls.clear()
    assert(next(e, from) == from && !run.log.calls.contains("atTimeSoon"))
    run.log.write("t", 0, now(run))
    assert(next(e, from) == at(0 -> 1, 1 -> 0) && run.log.calls.count(_ == "atTimeSoon") == 1)
  }

  test("hold: a partition waits before a record of the future, with a warning and a metric") {
    val run             = ahead()
    val (e, from)       = begin(run)
    val (first, logged) = LoggedMessages.during(classOf[EventTimeAdmission].getName)(next(e, from))
    assert(first == at(0 -> 1, 1 -> 2) && held(e, first) == "2")
    assert(logged.size == 1 && logged.head.contains("t-0 from offset 1") && logged.head.contains("onFutureTime"))
    assert(LoggedMessages.during(classOf[EventTimeAdmission].getName)(next(e, first))._2.isEmpty)
    run.clock.pass(Duration.ofMillis(hour / 2))
    val last = next(e, first)
    assert(last == at(0 -> 3, 1 -> 2) && held(e, last) == "0")
  }

  test("hold: AvailableNow ends without the rows, with a warning") {
    val run       = ahead()
    val (e, from) = begin(run)
    e.freeze()
    val first         = next(e, from)
    val (end, logged) = LoggedMessages.during(classOf[EventTimeAdmission].getName)(next(e, first))
    assert(first == at(0 -> 1, 1 -> 2) && end == first && logged.exists(_.contains("This run ends")))
  }

  test("hold: Once ends without the rows, with a warning") {
    val (e, from)       = begin(ahead())
    val (first, logged) = LoggedMessages.during(classOf[EventTimeAdmission].getName)(e.advance(from, Limits.Everything))
    assert(first == at(0 -> 1, 1 -> 2) && logged.exists(_.contains("This run ends")))
  }

  test("a partition that begins with rows before the greatest time of the run is named with their number, once") {
    val run = world()
    run.log.write("t", 0, now(run) - hour)
    val (e, from) = begin(run)
    val first     = next(e, from)
    e.reported(Seq(Report("simulated", TaskReads(Map(t(0) -> PartitionRead(1, 1, now(run), now(run), now(run)))))))
    run.log.write("t", 1, now(run) - hour, now(run) - hour / 2, now(run))
    val (second, logged) = LoggedMessages.during(classOf[EventTimeAdmission].getName)(next(e, first))
    assert(second == at(0 -> 1, 1 -> 3) && logged.size == 1 && logged.head.contains("t-1 (2 offsets)"))
    run.log.write("t", 1, now(run) - hour)
    assert(LoggedMessages.during(classOf[EventTimeAdmission].getName)(next(e, second))._2.isEmpty)
  }

  test("fail: a record of the future is an error, also with hold if the source has an end") {
    val several = Seq(Seq("onFutureTime" -> "fail"), Seq("endingOffsets" -> """{"t":{"0":3,"1":2}}"""))
    several.foreach { options =>
      val (e, from) = begin(ahead(options: _*))
      val error     = intercept[SpliceException](next(e, from))
      assert(error.getCondition == "SPLICE_ADMISSION.FUTURE_TIME" && error.getMessage.contains("t-0"), options)
    }
  }

  test("read: a partition is read without regard to its times from its record of the future on") {
    val run       = ahead("onFutureTime" -> "read")
    val (e, from) = begin(run)
    val first     = next(e, from)
    assert(first == at(0 -> 1, 1 -> 2) && next(e, first) == at(0 -> 3, 1 -> 2))
  }

  test("read: a source with an end reads a record of the future") {
    val (e, from) = begin(ahead("onFutureTime" -> "read", "endingOffsets" -> """{"t":{"0":3,"1":2}}"""))
    assert(Iterator.iterate(from)(next(e, _)).drop(3).next() == at(0 -> 3, 1 -> 2))
  }

  test("read: a partition with a large backlog that is not aligned leaves rows of a batch to the others") {
    val run = world("onFutureTime" -> "read", "maxOffsetsPerTrigger" -> "100")
    run.log.write("t", 0, (now(run) + hour) +: Seq.fill(20000)(now(run)): _*)
    run.log.write("t", 1, (0 until 50).map(i => now(run) - hour + i): _*)
    val (e, from) = begin(run)
    val ends      = Iterator.iterate(from)(next(e, _)).drop(1).take(60).toSeq
    assert(ends.last.get(t(1)).contains(50L))
  }

  test("a log that is truncated is read from its new end, as with other policies") {
    val run = world("failOnDataLoss" -> "false")
    run.log.write("t", 0, Seq.fill(10)(now(run)): _*)
    val (e, from) = begin(run)
    val read      = next(e, from)
    run.log.truncate("t", 0, 4)
    val lowered = next(e, read)
    assert(read == at(0 -> 10, 1 -> 0) && lowered == at(0 -> 4, 1 -> 0))
    run.log.write("t", 0, now(run))
    assert(next(e, lowered) == at(0 -> 5, 1 -> 0))
  }

  test("partitions that wait for their turn within one time hide no record") {
    val run = world("maxOffsetsPerTrigger" -> "1")
    run.log.create("t", 30)
    (0 until 30).foreach(p => run.log.write("t", p, now(run) - 24 * hour, now(run)))
    val (e, from) = begin(run)
    val last      = Iterator.iterate(from)(next(e, _)).drop(60).next()
    assert(last == at((0 until 30).map(_ -> 2L): _*))
  }

  test("records before the position whose time is far in the future hide all later records") {
    val run = world("maxOffsetsPerTrigger" -> "2", "startingOffsets" -> """{"t":{"0":1,"1":0}}""")
    run.log.write("t", 0, now(run) + 2 * hour, now(run), now(run))
    run.log.write("t", 1, now(run))
    val (e, from) = begin(run)
    val error     = intercept[SpliceException](next(e, from))
    assert(error.getCondition == "SPLICE_ADMISSION.TIMES_NOT_ORDERED")
    Seq("t-0", "offset 0", "admission", "onFutureTime").foreach(part => assert(error.getMessage.contains(part)))
  }

  test("a marker that hides much older records is found after ten batches, and named") {
    val run = world("maxOffsetsPerTrigger" -> "2")
    run.log.write("t", 1, (0 until 60).map(i => now(run) - hour + i * minute): _*)
    run.log.mark("t", 0, now(run))
    run.log.write("t", 0, Seq.tabulate(3)(i => now(run) - 3 * hour + i): _*)
    val (e, from) = begin(run)
    val error     = intercept[SpliceException](Iterator.iterate(from)(next(e, _)).drop(20).next())
    assert(error.getCondition == "SPLICE_ADMISSION.TIMES_NOT_ORDERED" && error.getMessage.contains("offset 0"))
    assert(run.log.calls.count(_ == "firstRecords") == 1)
  }

  test("a request for next records without a response does not fail the query, and is repeated after some batches") {
    val run = world("maxOffsetsPerTrigger" -> "2")
    run.log.write("t", 1, (0 until 60).map(i => now(run) - hour + i * minute): _*)
    run.log.mark("t", 0, now(run))
    run.log.write("t", 0, now(run) - 3 * hour)
    val (e, from) = begin(run)
    run.log.away = Some(_ == "firstRecords")
    val (at, logged) =
      LoggedMessages.during(classOf[HiddenRows].getName)(Iterator.iterate(from)(next(e, _)).drop(15).next())
    assert(at == at1(30) && logged.size == 1 && logged.head.contains("t-0"))
    run.log.away = None
    val error = intercept[SpliceException](Iterator.iterate(at)(next(e, _)).drop(15).next())
    assert(error.getCondition == "SPLICE_ADMISSION.TIMES_NOT_ORDERED")
  }

  test("the records of several partitions are compared with one request") {
    val run = world("maxOffsetsPerTrigger" -> "2", "startingOffsets" -> """{"t":{"0":1,"1":1}}""")
    Seq(0, 1).foreach(p => run.log.write("t", p, now(run) + 2 * hour, now(run)))
    val (e, from) = begin(run)
    run.log.away = Some(_ == "firstRecords")
    (1 to 5).foreach(_ => assert(next(e, from) == from))
    assert(run.log.calls.count(_ == "firstRecords") == 1)
  }

  test("a record before the position that hides much older records is named with its offset") {
    val run = world("maxOffsetsPerTrigger" -> "2", "startingOffsets" -> """{"t":{"0":2,"1":0}}""")
    run.log.write("t", 0, now(run) - 5 * hour, now(run) - hour, now(run) - 4 * hour, now(run) - 4 * hour)
    run.log.write("t", 1, (0 until 60).map(i => now(run) - 3 * hour + i * minute): _*)
    val (e, from) = begin(run)
    val error     = intercept[SpliceException](Iterator.iterate(from)(next(e, _)).drop(20).next())
    assert(error.getCondition == "SPLICE_ADMISSION.TIMES_NOT_ORDERED")
    Seq("at offset 1 with the time", "from offset 2").foreach(part => assert(error.getMessage.contains(part)))
  }

  test("a partition that only waits for older records of other partitions is compared once, and no error") {
    val run = world("maxOffsetsPerTrigger" -> "2")
    run.log.write("t", 0, now(run) - 1)
    run.log.write("t", 1, (0 until 60).map(i => now(run) - hour + i): _*)
    val (e, from) = begin(run)
    val last      = Iterator.iterate(from)(next(e, _)).drop(40).next()
    assert(last == at(0 -> 1, 1 -> 60) && run.log.calls.count(_ == "firstRecords") == 1)
  }

  test("a silent partition holds the batch, and fails the query after clusterTimeout") {
    Seq(true, false).foreach { isSilentFirst =>
      val run = world("clusterTimeout" -> "30s")
      run.log.write("t", 0, now(run))
      run.log.write("t", 1, now(run))
      val (e, from)       = begin(run)
      def silence(): Unit = run.log.leaderless = Set(t(1))
      if (isSilentFirst) silence() else run.log.between = what => if (what == "ends") silence()
      assert(next(e, from) == from)
      run.clock.pass(Duration.ofSeconds(31))
      val _ = intercept[SpliceException](next(e, from))
      run.log.between = _ => ()
      run.log.leaderless = Set.empty
      assert(next(e, from) == at(0 -> 1, 1 -> 1))
    }
  }

  test("a run that ends with the records of its start waits for a partition whose times are missing") {
    val run = world("clusterTimeout" -> "30s")
    run.log.write("t", 0, now(run))
    run.log.write("t", 1, now(run))
    val (e, from) = begin(run)
    e.freeze()
    run.log.leaderless = Set(t(1))
    run.paused = _ => run.log.leaderless = Set.empty
    assert(next(e, from) == at(0 -> 1, 1 -> 1))
  }

  test("the minimum of a batch counts all rows, and a batch by time may be smaller") {
    val run = world("maxOffsetsPerTrigger" -> "3", "minOffsetsPerTrigger" -> "3")
    run.log.write("t", 0, now(run) - hour, now(run) - hour)
    run.log.write("t", 1, Seq.fill(4)(now(run)): _*)
    val (e, from) = begin(run)
    assert(next(e, from) == at(0 -> 2, 1 -> 0))
  }

  test("the options of future records need the policy eventTime") {
    def settings(options: (String, String)*) = KafkaSettings(SourceOptions(
      Map("kafka.bootstrap.servers" -> "a:9092", "subscribe" -> "t") ++ options
    ))
    assert(settings("admission" -> "eventTime").eventTime.contains(
      EventTimeSettings(Duration.ofMinutes(1), OnFutureTime.Hold)
    ))
    Seq("maxAhead" -> "1m", "onFutureTime" -> "hold").foreach { option =>
      val error = intercept[SpliceOptionException](settings(option))
      assert(error.getCondition == "SPLICE_OPTION.CONFLICT" && error.getMessage.contains(option._1))
    }
  }
}
