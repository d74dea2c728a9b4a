// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.identity

import java.time.Duration

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.internal.cluster.{ClockedDiscovery, Discovery, LogDescription, Recheck}
import splice.kafka.internal.enumerator.SimulatedRun.{at, t}
import splice.kafka.internal.enumerator.{KafkaEnumerator, SimulatedLog, SimulatedRun}
import splice.kafka.internal.split.KafkaPosition
import splice.source.errors.SpliceException
import splice.source.internal.polling.PollHealth
import splice.source.{EnumeratorContext, Limits, LogPartition, ReadMode, StartPosition}
import splice.testkit.LoggedMessages

/** Tests of topics that are deleted and return, next to a topic that stays. */
final class ReturningTopicsSuite extends AnyFunSuite {

  private val u = LogPartition("u", 0)

  /** Query that has read five records of `t` and none of `u`. */
  private def world(options: (String, String)*): (SimulatedRun, KafkaEnumerator, KafkaPosition) = {
    val run = new SimulatedRun(Seq("subscribe" -> "t,u", "startingOffsets" -> "earliest") ++ options: _*)
    Seq("t", "u").foreach(run.log.create(_, 1))
    run.log.fill("t", 0, 5)
    val e = run.start()
    (run, e, e.advance(e.start(StartPosition.Configured), Limits.Everything))
  }

  /** Brokers omit the topic in all responses of one discovery. */
  private def hide(run: SimulatedRun): Unit = {
    (1 to run.settings.retries + 1).foreach(_ => run.log.hide(t(0)))
    run.later()
  }

  private def show(run: SimulatedRun): Unit = {
    run.log.settle()
    run.later()
  }

  private def all(e: KafkaEnumerator, from: KafkaPosition): KafkaPosition = e.advance(from, Limits.Everything)

  private def ranges(e: KafkaEnumerator, from: KafkaPosition, until: KafkaPosition): Seq[String] =
    e.splits(from, until).map(_.toString)

  test("a kept topic that returned in time is not removed later") {
    val (run, e, from) = world("onTopicRemoved" -> "drain", "removedRetention" -> "2d")
    hide(run)
    val gone = all(e, from)
    show(run)
    run.clock.pass(Duration.ofDays(1))
    val back = all(e, gone)
    run.clock.pass(Duration.ofDays(3))
    run.log.fill("t", 0, 1)
    assert(all(e, back).json == """{"t":{"0":6},"u":{"0":0}}""")
    assert(all(run.start(), back).json == """{"t":{"0":6},"u":{"0":0}}""")
  }

  test(
    "a dropped topic that returns with more partitions resumes its partition, and the new partition begins at its first record"
  ) {
    val (run, e, from) = world("onTopicRemoved" -> "drop")
    hide(run)
    val gone = all(e, from)
    assert(gone.json == """{"u":{"0":0}}""")
    run.log.create("t", 2)
    run.log.fill("t", 0, 1)
    run.log.fill("t", 1, 4)
    run.log.expire("t", 1, 1)
    show(run)
    val back = all(e, gone)
    assert(ranges(e, gone, back) == Seq("t-0 [5, 6)", "t-1 [1, 4)"))
  }

  test("a dropped topic whose partitions return one after the other resumes each partition") {
    val retries = world()._1.settings.retries
    Seq(1, retries + 1).foreach { responses =>
      val (run, e, from) = world("onTopicRemoved" -> "drop")
      run.log.create("t", 2)
      run.log.fill("t", 1, 3)
      run.later()
      val two = all(e, from)
      (1 to retries + 1).foreach(_ => run.log.hide(t(0), t(1)))
      run.later()
      val gone = all(e, two)
      assert(gone.json == """{"u":{"0":0}}""")
      run.log.settle()
      (1 to responses).foreach(_ => run.log.hide(t(1)))
      run.log.fill("t", 0, 1)
      run.log.fill("t", 1, 2)
      run.later()
      val half = all(e, gone)
      show(run)
      val back = all(run.start(), half)
      assert(ranges(run.start(), gone, back).sorted == Seq("t-0 [5, 6)", "t-1 [3, 5)"), responses)
    }
  }

  test("a dropped topic that returns is new if brokers return no topic ids") {
    val (run, e, from) = world("onTopicRemoved" -> "drop")
    run.log.tellsIds = false
    hide(run)
    val gone = all(e, from)
    show(run)
    val back = all(e, gone)
    assert(ranges(e, gone, back) == Seq("t-0 [0, 5)"))
  }

  test("a topic with one missing partition keeps its position under all policies") {
    Seq("drop", "drain").foreach { policy =>
      val (run, e, from) = world("onTopicRemoved" -> policy)
      run.log.create("t", 2)
      run.log.fill("t", 1, 2)
      run.later()
      val two = all(e, from)
      hide(run)
      run.log.fill("t", 1, 1)
      val (one, messages) = LoggedMessages.during("splice.kafka.internal.errors.DataLoss")(all(e, two))
      assert(one.json == """{"t":{"0":5,"1":3},"u":{"0":0}}""", policy)
      assert(messages.size == 1 && messages.head.contains("t-0 [5, 5)"))
      assert(run.side.keys("deleted-").isEmpty)
    }
  }

  private val group = Seq("commitToGroup" -> "true", "kafka.group.id" -> "g")

  test("offsets of a topic are committed to the group again after its return") {
    val (run, e, from) = world(("onTopicRemoved" -> "drain") +: group: _*)
    hide(run)
    val gone = all(e, from)
    e.committed(gone)
    show(run)
    run.log.fill("t", 0, 1)
    e.committed(all(e, gone))
    assert(run.log.commits == Seq(Map(u -> 0L), Map(t(0) -> 6L, u -> 0L)))
  }

  test("offsets of a topic before its recreation are not committed to the group") {
    val (run, e, from) = world(("onTopicRecreated" -> "restart") +: group: _*)
    run.log.delete("t")
    run.log.create("t", 1)
    run.later()
    val next = all(e, from)
    e.committed(from)
    e.committed(next)
    assert(run.log.commits == Seq(Map(u -> 0L), Map(t(0) -> 0L, u -> 0L)))
  }

  test(
    "the last offsets are committed to the group at the end of a query if the option is set, and a failure is reported"
  ) {
    val (run, e, from) = world(group: _*)
    e.stopped(None)
    assert(run.log.commits.isEmpty)
    e.stopped(Some(from))
    assert(run.log.commits == Seq(Map(t(0) -> 5L, u -> 0L)))
    assert(e.commitEnd(from) && run.log.commits.size == 2)
    run.log.commitsFail = true
    assert(!e.commitEnd(from))
    val (quiet, other, _) = world()
    other.stopped(throw new IllegalStateException("a position is not needed"))
    assert(other.commitEnd(from) && quiet.log.commits.isEmpty)
  }

  test("a start that was not stored begins in the topic that was created later") {
    val run = new SimulatedRun("startingOffsets" -> "earliest")
    run.log.create("t", 1)
    run.log.fill("t", 0, 9)
    run.start().start(StartPosition.Configured)
    run.log.delete("t")
    run.log.create("t", 1)
    run.log.fill("t", 0, 4)
    val e    = run.start()
    val from = e.start(StartPosition.Configured)
    assert(from == at(0 -> 0).as("t", 1))
    assert(ranges(e, from, all(e, from)) == Seq("t-0 [0, 4)"))
  }

  test("onTopicRecreated applies to a topic that another driver treated as new") {
    def driver(policy: String): (SimulatedRun, KafkaPosition) = {
      val run = new SimulatedRun(
        "subscribePattern" -> "[tu]",
        "startingOffsets"  -> "earliest",
        "onTopicRecreated" -> policy
      )
      run.log.create("u", 1)
      val first = run.start()
      val begin = first.start(StartPosition.Configured)
      run.log.create("t", 1)
      run.log.fill("t", 0, 5)
      run.later()
      val from = all(first, begin)
      assert(from.get(t(0)).contains(5L))
      run.log.delete("t")
      run.log.create("t", 1)
      run.log.fill("t", 0, 2)
      // The run is at a position without the topic.
      all(run.start(), begin)
      (run, from)
    }
    val (failing, at5) = driver("fail")
    val error          = intercept[SpliceException](all(failing.start(), at5))
    assert(error.getCondition == "SPLICE_KAFKA_DATA.TOPIC_RECREATED" && error.getMessage.contains("Topic t "))
    val (restarting, from) = driver("restart")
    val e                  = restarting.start()
    val (until, messages)  = LoggedMessages.during(classOf[Recreation].getName)(all(e, from))
    assert(ranges(e, from, until) == Seq("t-0 [0, 2)"))
    assert(messages.count(_.contains("'onTopicRecreated'")) == 1, messages)
  }

  test("a run with a fixed end reads a new topic to its end, and the other topics to their fixed ends") {
    val (run, _, from) = world("onTopicRecreated" -> "restart")
    run.log.fill("u", 0, 2)
    val e = run.start()
    e.freeze()
    run.log.fill("u", 0, 7)
    run.log.delete("t")
    run.log.create("t", 1)
    run.log.fill("t", 0, 3)
    run.later()
    val until = all(e, from)
    assert(ranges(e, from, until) == Seq("t-0 [0, 3)", "u-0 [0, 2)") && (all(e, until) eq until))
  }

  test("a refresh starts a discovery in the next batch only") {
    val (run, e, from) = world("discoveryInterval" -> "1h")
    run.log.create("t", 2)
    e.refresh()
    run.log.calls.clear()
    val next = all(e, from)
    assert(next.get(t(1)).contains(0L) && run.log.calls.count(_ == "describe") == 1)
    run.log.calls.clear()
    assert((all(e, next) eq next) && !run.log.calls.contains("describe"))
  }

  test("a subscribed topic that was not read and does not exist fails a restart, and not a running query") {
    val (run, e, from) = world()
    val own            = new SimulatedRun("subscribe" -> "t,u,x").settings
    run.log.subscribed = own.subscription
    assert(all(e, from) == from)
    val missing = new SimulatedLog(own.subscription, Set("t", "u", "x"))
    Seq("t", "u").foreach(missing.create(_, 1))
    missing.fill("t", 0, 5)
    val context = EnumeratorContext(new MemorySideLog, ReadMode.Stream, run.clock, 2, "run")
    val recheck = new Recheck(1, own.retryInterval, _ => ())
    val other   = KafkaEnumerator(
      own,
      context,
      missing,
      new ClockedDiscovery(missing, own.discoveryInterval, run.clock),
      recheck
    )
    val error = intercept[SpliceException](all(other, from))
    assert(error.getCondition == "SPLICE_KAFKA_OPTION.TOPIC_NOT_FOUND" && error.getMessage.contains("x"))
  }

  test(
    "a replay of a logged batch skips only the deleted topics of several unsubscribed topics"
  ) {
    val run = new SimulatedRun("subscribe" -> "t,u,v", "startingOffsets" -> "earliest")
    Seq("t", "u", "v").foreach(run.log.create(_, 1))
    val e    = run.start()
    val from = e.start(StartPosition.Configured)
    Seq("t", "u", "v").foreach(run.log.fill(_, 0, 3))
    val until = all(e, from)
    run.log.delete("t")
    def later(removed: String) = {
      val own = new SimulatedRun("subscribe" -> "u", "onTopicRemoved" -> removed).settings
      run.log.subscribed = own.subscription
      run.start(own = own)
    }
    val error = intercept[SpliceException](later("fail").replay(from, until))
    assert(error.getMessage.contains("t-0 [0, 3)") && !error.getMessage.contains("v-0"), error)
    run.pauses = 0
    val dropping = later("drop")
    dropping.replay(from, until)
    assert(ranges(dropping, from, until) == Seq("u-0 [0, 3)", "v-0 [0, 3)"))
    assert(run.pauses == run.settings.retries, "the description is retried before a topic counts as deleted")
  }

  test("close ends discovery first, and closes the clients even if discovery fails to end") {
    Seq(false, true).foreach { fails =>
      val (run, _, _) = world()
      val discovery   = new ReturningTopicsSuite.Ended(run.log.describe(), fails)
      val context     = EnumeratorContext(run.side, ReadMode.Stream, run.clock, 2, "run")
      val recheck     = new Recheck(1, Duration.ZERO, _ => ())
      val e           = KafkaEnumerator(run.settings, context, run.log, discovery, recheck)
      run.log.closing = () => assert(discovery.ended)
      if (fails) intercept[IllegalStateException](e.close()) else e.close()
      assert(discovery.ended && run.log.closed)
    }
  }
}

object ReturningTopicsSuite {

  /** Discovery that records its end. */
  final private class Ended(seen: LogDescription, fails: Boolean) extends Discovery {
    var ended                                    = false
    override def now(): LogDescription           = seen
    override def news(): Option[LogDescription]  = None
    override def pending: Option[LogDescription] = None
    override def health: PollHealth              = PollHealth()
    override def close(): Unit                   = {
      ended = true
      if (fails) throw new IllegalStateException("discovery")
    }
  }
}
