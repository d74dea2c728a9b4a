// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.{KafkaEnumerator, SimulatedRun}
import splice.kafka.internal.metrics.TaskReads
import splice.kafka.internal.split.KafkaPosition
import splice.source.runtime.{ProgressMetric, Report}
import splice.source.{Limits, StartPosition}

/** Tests of the count of offsets that policies skip. */
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
}
