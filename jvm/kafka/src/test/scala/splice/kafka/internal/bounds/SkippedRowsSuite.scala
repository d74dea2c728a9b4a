// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.internal.enumerator.SimulatedRun.{at, range, t}
import splice.kafka.internal.enumerator.{KafkaEnumerator, SimulatedRun}
import splice.kafka.internal.metrics.TaskReads
import splice.kafka.internal.split.KafkaPosition
import splice.source.runtime.{ProgressMetric, Report, ReportListeners}
import splice.source.{Limits, StartPosition}

/** Tests of the offsets that policies skip: their count, and the entries of a bounded source in all drivers of a query. */
final class SkippedRowsSuite extends AnyFunSuite {

  private def skipped(e: KafkaEnumerator, at: KafkaPosition): Long = e.figures(at)(ProgressMetric.RowsSkipped).toLong

  /** Topic with 10 records, which is read from the first record with policies that skip. */
  private def world(options: (String, String)*): SimulatedRun = {
    val run = new SimulatedRun(Seq("startingOffsets" -> "earliest", "failOnDataLoss" -> "false") ++ options: _*)
    run.log.create("t", 1)
    run.log.fill("t", 0, 10)
    run
  }

  /** Returns the number of offsets that a query skips after an event. The query has read 10 records of a topic with
    * more records.
    */
  private def skips(more: Int, options: (String, String)*)(event: SimulatedRun => Unit): Long = {
    val run  = world(options: _*)
    val e    = run.start()
    val from = e.advance(run.begin(StartPosition.Configured, e), Limits.Everything)
    run.log.fill("t", 0, more)
    val next = e.advance(from, Limits.Everything)
    assert(skipped(e, next) == 0)
    event(run)
    run.later()
    val until = e.advance(from, Limits.Everything)
    val count = skipped(e, until)
    e.advance(until, Limits.Everything)
    assert(skipped(e, until) == count, "an event counts once")
    count
  }

  test("records that retention or a truncation removed, and records of deleted or recreated topics, count as skipped") {
    assert(skips(8)(_.log.expire("t", 0, 13)) == 3)
    assert(skips(8)(_.log.truncate("t", 0, 7)) == 11)
    assert(skips(8)(_.log.delete("t")) == 8)
    assert(skips(8, "onTopicRecreated" -> "restart") { run =>
      run.log.delete("t")
      run.log.create("t", 1)
      run.log.fill("t", 0, 30)
    } == 8)
    assert(skips(8)(_ => ()) == 0)
  }

  test("records of a logged batch whose topic was deleted count as skipped") {
    val run   = world()
    val e     = run.start()
    val begin = run.begin(StartPosition.Configured, e)
    val until = e.advance(begin, Limits.Everything)
    run.log.delete("t")
    val again = run.start()
    again.replay(begin, until)
    assert(again.splits(begin, until).isEmpty && skipped(again, until) == 10)
  }

  test("skipped offsets of tasks and of the driver are added over the whole run") {
    val run   = world()
    val e     = run.start()
    val begin = run.begin(StartPosition.Configured, e)
    run.log.expire("t", 0, 4)
    val until = e.advance(begin, Limits.Everything)
    e.reported(Seq(Report("simulated", TaskReads(skipped = 2)), Report("another", TaskReads(skipped = 90))))
    assert(skipped(e, until) == 6)
    e.reported(Seq(Report("simulated", TaskReads(skipped = 1)), Report("simulated", TaskReads(skipped = 1))))
    assert(skipped(e, until) == 8 && skipped(e, until) == 8)
  }

  private val SkippingEnd = Seq(
    "startingOffsets"      -> "earliest",
    "endingOffsets"        -> "latest",
    "onOutOfRange"         -> "earliest",
    "maxOffsetsPerTrigger" -> "3"
  )

  private def bounded(run: SimulatedRun): KafkaPosition = {
    run.log.create("t", 1)
    run.log.fill("t", 0, 20)
    run.begin(StartPosition.Configured)
  }

  private def held(e: KafkaEnumerator, until: KafkaPosition): Seq[(Long, Long)] = {
    val end = e.evidence(until).getOrElse(fail("the source has not ended"))
    end.offsets().flatMap(_.offsets.ranges)
  }

  /** One driver of a query, whose tasks read batches of three offsets. */
  private class Driver(run: SimulatedRun) {
    private val listeners = new ReportListeners
    val enumerator        = run.start(listeners = listeners)

    /** Plans a batch and begins its tasks. */
    def read(from: KafkaPosition): KafkaPosition = {
      val until = enumerator.advance(from, run.settings.limits)
      repeat(from, until)
      until
    }

    def repeat(from: KafkaPosition, until: KafkaPosition): Unit = enumerator.begun(enumerator.splits(from, until))

    /** A task that has skipped offsets succeeds. */
    def succeed(from: Long, until: Long): Unit =
      listeners.receive(Report("simulated", TaskReads(unread = Vector(range(0, from, until)))))
  }

  test("a kill after the commit of a batch, and before its progress, keeps the skipped offsets") {
    val run    = new SimulatedRun(SkippingEnd: _*)
    val driver = new Driver(run)
    driver.read(driver.enumerator.advance(bounded(run), run.settings.limits))
    driver.succeed(4, 5)
    assert(held(run.start(), at(0 -> 20)) == Seq(0L -> 4L, 5L -> 20L))
  }

  test("a kill before the commit of a batch discards the skipped offsets, because the next run reads the batch again") {
    val run           = new SimulatedRun(SkippingEnd: _*)
    val from          = bounded(run)
    val (first, next) = (new Driver(run), new Driver(run))
    val until         = first.read(from)
    first.succeed(1, 3)
    next.repeat(from, until)
    assert(held(run.start(), at(0 -> 20)) == Seq(0L -> 20L))
    next.succeed(1, 2)
    assert(held(run.start(), at(0 -> 20)) == Seq(0L -> 1L, 2L -> 20L))
  }

  test(
    "a driver keeps the skipped offsets of a committed batch, even if another driver has begun the batch meanwhile"
  ) {
    val run             = new SimulatedRun(SkippingEnd: _*)
    val (first, second) = (new Driver(run), new Driver(run))
    val from            = bounded(run)
    val until           = first.read(from)
    first.succeed(1, 3)
    second.repeat(from, until)
    first.enumerator.reported(Seq(Report("simulated", TaskReads(unread = Vector(range(0, 1, 3))))))
    first.enumerator.figures(until)
    assert(held(run.start(), at(0 -> 20)) == Seq(0L -> 1L, 3L -> 20L))
  }

  test("a bounded source does not count offsets that its readers have skipped, once the batch is committed") {
    val run                              = new SimulatedRun(SkippingEnd: _*)
    val from                             = bounded(run)
    val e                                = run.start()
    def skipped(from: Long, until: Long) = e.reported(
      Seq(Report("simulated", TaskReads(unread = Vector(range(0, from, until)))))
    )
    val first = e.advance(from, run.settings.limits)
    skipped(0, 2)
    assert(run.side.keys("unread-").isEmpty)
    val second = e.advance(first, run.settings.limits)
    skipped(4, 5)
    assert(held(run.start(), at(0 -> 20)) == Seq(2L -> 20L), "a failed batch is read again")
    e.figures(second)
    e.reported(Seq(Report("other", TaskReads(unread = Vector(range(0, 7, 8))))))
    assert(held(run.start(), at(0 -> 20)) == Seq(2L -> 4L, 5L -> 20L))
    skipped(19, 20)
    assert(held(e, at(0 -> 20)) == Seq(2L -> 4L, 5L -> 19L) && run.side.keys("unread-").size == 1)
  }

  test("a bounded source counts offsets that its readers have skipped, once a batch reads them after a rollback") {
    val run   = new SimulatedRun(SkippingEnd: _*)
    val from  = bounded(run)
    val e     = run.start()
    val first = e.advance(from, run.settings.limits)
    e.reported(Seq(Report("simulated", TaskReads(unread = Vector(range(0, 1, 2))))))
    val second = e.advance(first, run.settings.limits)
    e.reported(Seq(Report("simulated", TaskReads(unread = Vector(range(0, 4, 5))))))
    e.figures(second)
    assert(held(run.start(), at(0 -> 20)) == Seq(0L -> 1L, 2L -> 4L, 5L -> 20L))
    run.start().begun(e.splits(first, second))
    assert(held(run.start(), at(0 -> 20)) == Seq(0L -> 1L, 2L -> 20L))
    val again = run.start()
    assert(again.advance(from, run.settings.limits) == first)
    assert(held(run.start(), at(0 -> 20)) == Seq(0L -> 1L, 2L -> 20L), "Spark has not logged the batch")
    again.begun(again.splits(from, first))
    assert(held(run.start(), at(0 -> 20)) == Seq(0L -> 20L))
    again.reported(Seq(Report("simulated", TaskReads(unread = Vector(range(0, 1, 2))))))
    again.figures(first)
    assert(held(run.start(), at(0 -> 20)) == Seq(0L -> 1L, 2L -> 20L))
    val open = run.start()
    open.begun(open.open(open.settle(from)))
    assert(held(run.start(), at(0 -> 20)) == Seq(0L -> 20L))
  }

  test("a bounded source stores skipped offsets before the end of an epoch, and no offsets of a later epoch") {
    val run     = new SimulatedRun(SkippingEnd: _*)
    val from    = bounded(run)
    val e       = run.start()
    val start   = e.settle(from)
    val skipped = Seq(2L -> 4L, 7L -> 9L).map { case (from, until) => range(0, from, until) }
    (1 to 2).foreach(_ => e.reported(Seq(Report("simulated", TaskReads(unread = skipped.toVector)))))
    assert(e.reached(start, Seq(range(0, 5, 20))) == at(0 -> 5) && run.side.keys("unread-").size == 1)
    assert(held(run.start(), at(0 -> 20)) == Seq(0L -> 2L, 4L -> 20L))
    assert(e.reached(start, Nil) == at(0 -> 20))
    assert(held(run.start(), at(0 -> 20)) == Seq(0L -> 2L, 4L -> 7L, 9L -> 20L))
  }

  test("a source without an end stores no unread offsets") {
    val run  = new SimulatedRun(SkippingEnd.filterNot(_._1 == "endingOffsets"): _*)
    val from = bounded(run)
    val e    = run.start()
    val read = e.advance(from, run.settings.limits)
    e.reported(Seq(Report("simulated", TaskReads(unread = Vector(range(0, 0, 2))))))
    run.log.expire("t", 0, 8)
    val until = e.advance(read, run.settings.limits)
    run.log.expire("t", 0, 15)
    e.retain(e.advance(until, run.settings.limits))
    assert(run.side.keys("skips-").size == 1 && run.side.keys("unread-").isEmpty)
  }

  test("two drivers that skip different offsets keep the offsets of both") {
    val side                          = new MemorySideLog
    val (one, second)                 = (new UnreadEntries(side), new UnreadEntries(side))
    def skip(from: Long, until: Long) = SkippedRanges().including(t(0), 0, SkippedRanges.Skip(from, until))
    Seq(one, second).foreach(log => assert(log.known.isEmpty))
    one.add(skip(1, 3))
    second.add(skip(3, 4))
    second.add(skip(6, 7))
    val both = Vector(SkippedRanges.Skip(1, 4), SkippedRanges.Skip(6, 7))
    assert(new UnreadEntries(side).known.of(t(0), 0) == both && second.known.of(t(0), 0) == both)
    val entries = side.keys("")
    second.add(skip(2, 4))
    assert(side.keys("") == entries, "no entry is written for known offsets")
    one.add(skip(9, 12))
    assert(new UnreadEntries(side).known.of(t(0), 0) == both :+ SkippedRanges.Skip(9, 12))
  }
}
