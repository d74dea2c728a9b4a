// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.SimulatedRun.at
import splice.kafka.internal.split.KafkaPosition
import splice.source.errors.SpliceException
import splice.source.runtime.ProgressMetric
import splice.source.{Limits, LogPartition, StartPosition}
import splice.testkit.ReadOnlySideLog

/** Tests of replays of logged batches whose topics were deleted or recreated later. */
final class ReplaySuite extends AnyFunSuite {

  /** Batch of two topics with records, which a run has planned and logged. */
  private def world(removed: String): (SimulatedRun, KafkaPosition, KafkaPosition) = {
    val run = new SimulatedRun(
      "subscribe"        -> "t,u",
      "startingOffsets"  -> "earliest",
      "onTopicRecreated" -> "restart",
      "onTopicRemoved"   -> removed
    )
    Seq("t", "u").foreach(run.log.create(_, 1))
    val e    = run.start()
    val from = e.start(StartPosition.Configured)
    run.log.fill("t", 0, 5)
    run.log.fill("u", 0, 2)
    (run, from, e.advance(from, Limits.Everything))
  }

  private val onlyU = Seq("u-0 [0, 2)")

  private def pure(run: SimulatedRun, from: KafkaPosition, until: KafkaPosition): Seq[String] = {
    run.log.away = Some(_ => true)
    val ranges = run.start(sideLog = new ReadOnlySideLog(run.side)).splits(from, until).map(_.toString)
    run.log.away = None
    ranges
  }

  private def hide(run: SimulatedRun): Unit = (0 to run.settings.retries).foreach(_ =>
    run.log.hide(LogPartition("t", 0))
  )

  test("the range of a deleted topic is dropped in every later run, even after the topic exists again") {
    Seq("drop", "drain").foreach { removed =>
      Seq[SimulatedRun => Unit](
        _.log.create("t", 1),
        { run => run.log.create("t", 1); run.log.fill("t", 0, 30) }
      ).foreach { comeBack =>
        val (run, from, until) = world(removed)
        assert(pure(run, from, until) == "t-0 [0, 5)" +: onlyU)
        run.log.delete("t")
        assert(run.replay(from, until).map(_.toString) == onlyU && pure(run, from, until) == onlyU)
        comeBack(run)
        assert(run.replay(from, until).map(_.toString) == onlyU && pure(run, from, until) == onlyU)
        assert(run.side.keys("skips-").size == 1)
      }
    }
  }

  test("the decision is kept even if the response without the topic was stale") {
    val (run, from, until) = world("drain")
    hide(run)
    assert(run.replay(from, until).map(_.toString) == onlyU)
    run.log.settle()
    val e = run.start()
    e.replay(from, until)
    assert(e.splits(from, until).map(_.toString) == onlyU)
    run.log.fill("t", 0, 3)
    assert(e.splits(until, e.advance(until, Limits.Everything)).map(_.toString) == Seq("t-0 [5, 8)"))
  }

  test("the range of a recreated topic is dropped in every later run, and the new topic is read") {
    val (run, from, until) = world("drop")
    run.log.delete("t")
    run.log.create("t", 1)
    run.log.fill("t", 0, 9)
    assert(run.replay(from, until).map(_.toString) == onlyU && pure(run, from, until) == onlyU)
    val e    = run.start()
    val next = e.advance(until, Limits.Everything)
    assert(e.splits(until, next).map(_.toString) == Seq("t-0 [0, 9)") && pure(run, from, until) == onlyU)
    assert(pure(run, from, next) == "t-0 [0, 9)" +: onlyU)
  }

  test("a deletion that a killed run has detected drops the range of the previous batch") {
    val (run, from, until) = world("drop")
    run.log.delete("t")
    run.start().advance(until, Limits.Everything)
    assert(run.side.keys("deleted-").nonEmpty)
    assert(run.replay(from, until).map(_.toString) == onlyU && pure(run, from, until) == onlyU)
  }

  test("one range over the removal or the restart of a topic reports the records before the event once") {
    Seq[SimulatedRun => Unit](
      _ => (),
      run => run.log.create("t", 1)
    ).foreach { comeBack =>
      val (run, from, until) = world("drop")
      run.log.delete("t")
      comeBack(run)
      run.log.fill("u", 0, 3)
      val next    = run.start().advance(until, Limits.Everything)
      val skipped = (1 to 2).map { _ =>
        val e = run.start()
        e.replay(from, next)
        assert(e.splits(from, next).map(_.toString) == Seq("u-0 [0, 5)"))
        e.figures(next)(ProgressMetric.RowsSkipped)
      }
      assert(skipped == Seq("5", "0"))
      assert(pure(run, from, next) == Seq("u-0 [0, 5)"))
    }
  }

  test("a deleted partition in a batch of Spark's source has no range") {
    val run = new SimulatedRun("startingOffsets" -> "earliest", "failOnDataLoss" -> "false")
    run.log.create("t", 1)
    run.log.fill("t", 0, 3)
    val (from, until) = (at(0 -> 1), at(0 -> 3, 1 -> 8))
    assert(run.replay(from, until).map(_.toString) == Seq("t-0 [1, 3)"))
    run.log.create("t", 2)
    run.log.fill("t", 1, 9)
    assert(run.replay(from, until).map(_.toString) == Seq("t-0 [1, 3)"))
    assert(pure(run, from, at(0 -> 3, 1 -> 9)) == Seq("t-0 [1, 3)", "t-1 [8, 9)"))
  }

  /** Run with another subscription and these options on the same checkpoint. */
  private def without(topic: String, options: (String, String)*): SimulatedRun =
    new SimulatedRun(Seq("subscribe" -> (if (topic == "t") "u" else "t"), "startingOffsets" -> "earliest") ++
      options: _*)

  /** Returns the ranges that a later run without a subscription to `t` replays. */
  private def replayed(run: SimulatedRun, from: KafkaPosition, until: KafkaPosition)(
      options: (String, String)*
  ): Seq[String] = {
    val own = without("t", options: _*).settings
    run.log.subscribed = own.subscription
    val e = run.start(own = own)
    e.replay(from, until)
    e.splits(from, until).map(_.toString)
  }

  test("the range of a deleted and unsubscribed topic is dropped by policy in every later run") {
    val (run, from, until) = world("fail")
    run.log.delete("t")
    def replay(options: (String, String)*) = replayed(run, from, until)(options: _*)
    val error                              = intercept[SpliceException](replay())
    assert(error.getCondition == "SPLICE_KAFKA_DATA.DATA_LOSS" && error.getMessage.contains("t-0 [0, 5)"))
    assert(run.side.keys("skips-").isEmpty)
    assert(replay("onTopicRemoved" -> "drop") == onlyU && replay() == onlyU && pure(run, from, until) == onlyU)
    assert(run.side.keys("skips-").size == 1)
  }

  test("onTopicRecreated applies to the range of a recreated and unsubscribed topic") {
    val (run, from, until) = world("fail")
    run.log.delete("t")
    run.log.create("t", 1)
    run.log.fill("t", 0, 30)
    def replay(options: (String, String)*) = replayed(run, from, until)(options: _*)
    assert(intercept[SpliceException](replay()).getCondition == "SPLICE_KAFKA_DATA.TOPIC_RECREATED")
    assert(replay("onTopicRecreated" -> "restart") == onlyU)
  }

  test(
    "a recreated topic is compared with the topic of the batch, even if a killed run has stored its next generation"
  ) {
    val (run, from, until) = world("fail")
    run.log.delete("t")
    run.log.create("t", 1)
    run.start().advance(until, Limits.Everything)
    val own = without("t").settings
    run.log.subscribed = own.subscription
    assert(intercept[SpliceException](run.start(own = own).replay(from, until)).getCondition ==
      "SPLICE_KAFKA_DATA.TOPIC_RECREATED")
  }

  test("the range of an existing unsubscribed topic is read") {
    val (run, from, until) = world("fail")
    val own                = without("t").settings
    run.log.subscribed = own.subscription
    val e = run.start(own = own)
    e.replay(from, until)
    assert(e.splits(from, until).map(_.toString) == "t-0 [0, 5)" +: onlyU)
  }

  test("an empty range sends no request") {
    val (run, _, until) = world("fail")
    run.log.calls.clear()
    assert(run.replay(until, until).isEmpty && run.log.calls.isEmpty)
  }
}
