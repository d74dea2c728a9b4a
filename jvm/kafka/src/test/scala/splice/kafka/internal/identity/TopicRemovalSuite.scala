// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.identity

import java.time.Duration

import org.scalatest.LoneElement._
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.SimulatedRun.t
import splice.kafka.internal.enumerator.{KafkaEnumerator, SimulatedRun}
import splice.kafka.internal.options.TopicRemoved
import splice.kafka.internal.split.KafkaPosition
import splice.source.errors.SpliceException
import splice.source.runtime.ProgressMetric
import splice.source.{Limits, LogPartition, StartPosition}
import splice.testkit.LoggedMessages
import splice.testkit.internal.simulation.StoppingSideLog

/** Tests of `onTopicRemoved` for deleted topics. */
final class TopicRemovalSuite extends AnyFunSuite {

  private def world(policy: String, options: (String, String)*): (SimulatedRun, KafkaEnumerator, KafkaPosition) = {
    val all = Seq("subscribe" -> "t,u", "startingOffsets" -> "earliest", "onTopicRemoved" -> policy) ++ options
    val run = new SimulatedRun(all: _*)
    run.log.create("t", 1)
    run.log.fill("t", 0, 5)
    run.log.create("u", 1)
    val e    = run.start()
    val from = e.advance(e.start(StartPosition.Configured), Limits.Everything)
    run.log.fill("t", 0, 3)
    e.advance(from, Limits.Everything)
    (run, e, from)
  }

  private def remove(run: SimulatedRun): Unit = {
    run.log.delete("t")
    run.log.fill("u", 0, 2)
    run.later()
  }

  /** Brokers omit the topic in all responses of one discovery. */
  private def hide(run: SimulatedRun): Unit = {
    (1 to run.settings.retries + 2).foreach(_ => run.log.hide(t(0)))
    run.later()
  }

  private val both = """{"t":{"0":5},"u":{"0":2}}"""
  private val one  = """{"u":{"0":2}}"""

  test("fail reports the unread ranges and the number of records") {
    val (run, e, from) = world("fail")
    remove(run)
    val error = intercept[SpliceException](e.advance(from, Limits.Everything))
    assert(error.getCondition == "SPLICE_KAFKA_DATA.DATA_LOSS")
    assert(error.getMessage.contains("t-0 [5, 8)") && error.getMessage.contains("3 records"))
  }

  test("drain continues without the topic and keeps its position, including across restarts") {
    val (run, e, from) = world("drain")
    remove(run)
    val until = e.advance(from, Limits.Everything)
    assert(until.json == both)
    run.log.fill("u", 0, 1)
    run.pauses = 0
    assert(run.start().advance(until, Limits.Everything).json == """{"t":{"0":5},"u":{"0":3}}""")
    assert(run.pauses == 0)
  }

  test("a restart with fail reports the unread records of a topic that drain has skipped") {
    val (run, e, from) = world("drain")
    remove(run)
    val until   = e.advance(from, Limits.Everything)
    val failing = run.settings.copy(policies = run.settings.policies.copy(removed = TopicRemoved.Fail))
    run.log.fill("u", 0, 1)
    val error = intercept[SpliceException](run.start(own = failing).advance(until, Limits.Everything))
    assert(error.getCondition == "SPLICE_KAFKA_DATA.DATA_LOSS" && error.getMessage.contains("t-0 [5, "))
  }

  test("drop removes the position, and a later topic of the same name is new") {
    Seq("earliest" -> 0L, "latest" -> 4L).foreach { case (newStart, first) =>
      val (run, e, from) = world("drop", "newPartitionsStartAt" -> newStart)
      remove(run)
      val until = e.advance(from, Limits.Everything)
      assert(until.json == one && e.splits(from, until).map(_.toString) == Seq("u-0 [0, 2)"))
      assert(run.start().advance(until, Limits.Everything).json == one)
      run.log.create("t", 1)
      run.log.fill("t", 0, 4)
      run.later()
      val f    = run.start()
      val back = f.advance(until, Limits.Everything)
      assert(back.json == """{"t":{"00":4},"u":{"0":2}}""")
      assert(f.splits(until, back).map(_.toString) == (if (first == 4) Nil else Seq("t-0 [0, 4)")))
      assert(run.start().splits(from, back).size == f.splits(until, back).size + 1)
    }
  }

  test("drop resumes a topic that returns with the same id, because the earlier response was wrong") {
    val (run, e, from) = world("drop")
    run.log.fill("u", 0, 2)
    hide(run)
    val until = e.advance(from, Limits.Everything)
    assert(until.json == one)
    run.log.settle()
    run.later()
    val back = e.advance(until, Limits.Everything)
    assert(back.json == """{"t":{"00":8},"u":{"0":2}}""")
    assert(e.splits(until, back).map(_.toString) == Seq("t-0 [5, 8)"))
    e.replay(until, back)
    assert(e.splits(until, back).map(_.toString) == Seq("t-0 [5, 8)"))
  }

  test("another topic begins once, even if the driver stops after the generation and before the end of the deletion") {
    val (run, e, from) = world("drop")
    remove(run)
    val until = e.advance(from, Limits.Everything)
    run.log.create("t", 1)
    run.log.fill("t", 0, 7)
    val stops = run.start(sideLog = new StoppingSideLog(run.side, _ == "deleted-00000001"))
    intercept[IllegalStateException](stops.advance(until, Limits.Everything))
    assert(run.side.keys("generation-").size == 1)
    val f    = run.start()
    val back = f.advance(until, Limits.Everything)
    assert(f.splits(until, back).map(_.toString) == Seq("t-0 [0, 7)"))
    assert(run.side.keys("generation-").size == 1 && new DeletionEntries(run.side).all.isEmpty)
  }

  test("a restart before the removal of a topic that returned with the same id reports the records that are skipped") {
    val (run, e, from) = world("drop")
    run.log.fill("u", 0, 2)
    hide(run)
    val until = e.advance(from, Limits.Everything)
    run.log.settle()
    run.later()
    val back  = e.advance(until, Limits.Everything)
    val begin = KafkaPosition.read("""{"t":{"0":1},"u":{"0":0}}""")
    val f     = run.start()

    val (next, messages) = LoggedMessages.during(classOf[Recreation].getName) {
      f.advance(begin, Limits.Everything)
      f.advance(begin, Limits.Everything)
    }
    assert(next == back && f.splits(begin, next).map(_.toString) == Seq("t-0 [5, 8)", "u-0 [0, 2)"))
    assert(messages.loneElement.endsWith("""{"t":{"0":5}}. Unread records: 4 records."""))
    assert(LoggedMessages.during(classOf[Recreation].getName)(run.start().advance(from, Limits.Everything))._2.isEmpty)
  }

  test("drain resumes a topic within its time, and removes the position afterwards") {
    val (run, e, from) = world("drain", "removedRetention" -> "2d")
    run.log.fill("u", 0, 2)
    hide(run)
    val gone = e.advance(from, Limits.Everything)
    assert(gone.json == both)
    run.log.settle()
    run.clock.pass(Duration.ofDays(1))
    val back = run.start().advance(gone, Limits.Everything)
    assert(back.json == """{"t":{"0":8},"u":{"0":2}}""")

    val (other, f, at) = world("drain", "removedRetention" -> "2d")
    remove(other)
    val left = f.advance(at, Limits.Everything)
    other.clock.pass(Duration.ofDays(1))
    assert(other.start().advance(left, Limits.Everything).json == both)
    other.clock.pass(Duration.ofDays(1))
    assert(other.start().advance(left, Limits.Everything).json == one)
  }

  test("onTopicRecreated applies to a kept topic that returns with another id") {
    val (run, e, from) = world("drain")
    remove(run)
    val until = e.advance(from, Limits.Everything)
    run.log.create("t", 1)
    run.later()
    assert(intercept[SpliceException](e.advance(until, Limits.Everything)).getCondition ==
      "SPLICE_KAFKA_DATA.TOPIC_RECREATED")
  }

  test("a planned batch is replayed without the deleted topic") {
    val (run, e, from) = world("drop")
    run.log.fill("u", 0, 2)
    val until = e.advance(from, Limits.Everything)
    run.log.delete("t")
    assert(run.replay(from, until).map(_.toString) == Seq("u-0 [0, 2)"))
  }

  test("a bounded source ends without the deleted topic, and does not count its unread offsets") {
    Seq("drain", "drop").foreach { policy =>
      val (run, _, from) = world(policy, "endingOffsets" -> """{"t":{"0":8},"u":{"0":0}}""")
      assert(run.start().evidence(from).isEmpty)
      run.log.delete("t")
      val e     = run.start()
      val until = e.advance(from, Limits.Everything)
      val end   = e.evidence(until).getOrElse(fail("the source has not ended"))
      val held  = end.offsets().find(_.partition == t(0))
      assert(held.map(_.offsets.ranges.toSeq) == Some(Seq(0L -> 5L)), policy)
    }
  }

  test("a restart before a stored deletion reports the unread records once, and a bounded source does not count them") {
    val (run, e, from) = world("drop", "endingOffsets" -> """{"t":{"0":8},"u":{"0":0}}""")
    run.log.delete("t")
    run.later()
    val gone                                        = e.advance(from, Limits.Everything)
    def held(f: KafkaEnumerator, at: KafkaPosition) = f.evidence(at).getOrElse(fail("the source has not ended"))
      .offsets().find(_.partition == t(0)).map(_.offsets.ranges.toSeq)
    assert(held(e, gone).contains(Seq(0L -> 5L)))
    val older = KafkaPosition.read("""{"t":{"0":2},"u":{"0":0}}""")
    assert(held(run.start(), older).contains(Seq(0L -> 2L)))
    val f                = run.start()
    val (next, messages) = LoggedMessages.during("splice.kafka.internal.errors.DataLoss") {
      f.advance(older, Limits.Everything)
      f.settle(older)
    }
    assert(next == gone && messages.loneElement.contains("t-0 [2, 5)"))
    assert(f.figures(next)(ProgressMetric.RowsSkipped) == "3")
    assert(held(f, next).contains(Seq(0L -> 2L)) && held(run.start(), next).contains(Seq(0L -> 2L)))
  }

  test("a restart before the deletion of a kept topic reports the unread records when the position is removed") {
    val (run, e, from) = world("drain", "removedRetention" -> "2d", "endingOffsets" -> """{"t":{"0":8},"u":{"0":0}}""")
    run.log.delete("t")
    run.later()
    e.advance(from, Limits.Everything)
    val older                                       = KafkaPosition.read("""{"t":{"0":2},"u":{"0":0}}""")
    def held(f: KafkaEnumerator, at: KafkaPosition) = f.evidence(at).getOrElse(fail("the source has not ended"))
      .offsets().find(_.partition == t(0)).map(_.offsets.ranges.toSeq)
    val f = run.start()
    assert(f.advance(older, Limits.Everything) == older && held(f, older).contains(Seq(0L -> 2L)))
    run.clock.pass(Duration.ofDays(3))
    val g    = run.start()
    val next = g.advance(older, Limits.Everything)
    assert(next == KafkaPosition.read("""{"u":{"0":0}}""") && g.figures(next)(ProgressMetric.RowsSkipped) == "3")
    assert(held(g, next).contains(Seq(0L -> 2L)))
  }

  test("a topic that was deleted before its first read is reported as missing") {
    val run = new SimulatedRun("subscribePattern" -> "[tu]", "startingOffsets" -> "earliest")
    run.log.create("t", 1)
    val e     = run.start()
    val begin = e.start(StartPosition.Configured)
    val u     = LogPartition("u", 0)
    run.log.create("u", 1)
    run.log.fill("u", 0, 3)
    run.log.leaderless = Set(u)
    run.later()
    val from = e.advance(begin, Limits.Everything)
    assert(from.get(u).isEmpty)
    run.log.delete("u")
    run.later()
    val error = intercept[SpliceException](e.advance(from, Limits.Everything))
    assert(error.getCondition == "SPLICE_KAFKA_DATA.DATA_LOSS" && error.getMessage.contains("u-0 [0, end)"))
  }

  test("failOnDataLoss = false has the effect of drop") {
    val run = new SimulatedRun("failOnDataLoss" -> "false", "subscribe" -> "t,u", "startingOffsets" -> "earliest")
    run.log.create("t", 1)
    run.log.create("u", 1)
    val e     = run.start()
    val begin = e.start(StartPosition.Configured)
    remove(run)
    assert(e.advance(begin, Limits.Everything).json == one)
  }
}
