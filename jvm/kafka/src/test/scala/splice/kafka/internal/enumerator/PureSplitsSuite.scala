// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.bounds.SkipEntries
import splice.kafka.internal.enumerator.SimulatedRun.at
import splice.kafka.internal.split.{KafkaPosition, KafkaSplitRange}
import splice.source.StartPosition
import splice.source.errors.SpliceException
import splice.testkit.ReadOnlySideLog

/** Tests of splits of batches of earlier runs. Splits use positions and the side log, without requests or new
  * entries.
  */
final class PureSplitsSuite extends AnyFunSuite {

  private def world(): SimulatedRun = {
    val run = new SimulatedRun(
      "subscribePattern" -> "[tuv]",
      "startingOffsets"  -> "earliest",
      "onOutOfRange"     -> "earliest",
      "onTopicRecreated" -> "restart",
      "onTopicRemoved"   -> "drop",
      // Some records remain after each batch, so that retention can remove these records.
      "maxOffsetsPerTrigger" -> "50"
    )
    Seq("t", "v").foreach(run.log.create(_, 1))
    run.log.fill("t", 0, 10)
    run.log.fill("v", 0, 4)
    run
  }

  private def recreate(run: SimulatedRun, topic: String, records: Int): Unit = {
    run.log.delete(topic)
    run.log.create(topic, 1)
    run.log.fill(topic, 0, records)
  }

  private type Ranges = Seq[(KafkaSplitRange, Option[String])]

  /** Ranges with the ids of their topics, which are not part of their equality. */
  private def splits(e: KafkaEnumerator, from: KafkaPosition, until: KafkaPosition): Ranges =
    e.splits(from, until).collect { case r: KafkaSplitRange => r -> r.topicId }

  /** Creates an enumerator that neither sends requests nor writes entries. */
  private def reader(run: SimulatedRun): KafkaEnumerator = {
    run.log.calls.clear()
    run.log.away = Some(_ => true)
    run.start(sideLog = new ReadOnlySideLog(run.side))
  }

  /** Runs a batch after each event. Returns the start, the end and the ranges of each batch. */
  private def live(run: SimulatedRun)(events: (SimulatedRun => Unit)*): Seq[(KafkaPosition, KafkaPosition, Ranges)] = {
    val e     = run.start()
    val begin = e.start(StartPosition.Configured)
    events.scanLeft((begin, begin, Nil: Ranges)) { case ((_, from, _), event) =>
      event(run)
      run.later()
      val until = e.advance(from, e.limits(from))
      assert(until != from)
      (from, until, splits(e, from, until))
    }.drop(1)
  }

  test("each batch has the same ranges, independent of later changes of partitions and topics") {
    val run     = world()
    val batches = live(run)(
      _ => (),
      _.log.create("t", 2),
      { r => r.log.fill("t", 1, 8); r.log.fill("t", 0, 20) },
      { r => r.log.create("u", 1); r.log.fill("u", 0, 50) },
      _.log.fill("t", 0, 80),
      _.log.expire("t", 0, 100),
      recreate(_, "u", 6),
      recreate(_, "u", 3),
      { r => r.log.delete("v"); r.log.fill("u", 0, 2) },
      { r => r.log.create("v", 1); r.log.fill("v", 0, 7) },
      _.log.fill("u", 0, 60)
    )
    assert(batches.map(_._3.size).sum > 9 && run.side.keys("generation-").size == 3 && run.side.keys("skips-").nonEmpty)
    val later = reader(run)
    batches.foreach { case (from, until, planned) => assert(splits(later, from, until) == planned, s"$from, $until") }
    assert(run.log.calls.isEmpty)
  }

  test("a start without an entry is an error and is not requested") {
    val run     = world()
    val batches = live(run)(_ => (), { r => r.log.create("t", 2); r.log.fill("t", 1, 2) })
    run.side.keys("new-partitions-").foreach(run.side.remove)
    val error = intercept[SpliceException](batches.map { case (from, until, _) => splits(reader(run), from, until) })
    assert(error.getCondition == "SPLICE_CHECKPOINT.ENTRY_NOT_FOUND" && error.getMessage.contains("t-1"))
    assert(run.log.calls.isEmpty)
  }

  test("a range that was skipped during an entry of another run is skipped") {
    val side         = world().side
    val (one, other) = (new SkipEntries(side), new SkipEntries(side))
    one.add(at(0 -> 1), at(0 -> 4))
    other.add(at(0 -> 7), at(0 -> 9))
    Seq(other, new SkipEntries(side)).foreach { log =>
      val starts = Seq(2L, 8L).map(from => log.known.start(SimulatedRun.t(0), 0, from, from + 1))
      assert(starts == Seq(4L, 9L))
    }
  }
}
