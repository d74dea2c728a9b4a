// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.cluster

import java.time.{Duration, Instant}
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.immutable.{SortedMap, SortedSet}

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.SimulatedRun.{at, range}
import splice.kafka.internal.enumerator.{KafkaEnumerator, SimulatedRun}
import splice.kafka.internal.split.KafkaPosition
import splice.source.errors.SpliceException
import splice.source.internal.polling.PollHealth
import splice.source.{EnumeratorContext, Limits, LogPartition, ReadMode, StartPosition}
import splice.testkit.internal.Patient

/** Tests of brokers that do not respond for some time. */
final class OutageToleranceSuite extends AnyFunSuite {

  private def world(options: (String, String)*): (SimulatedRun, KafkaPosition) = {
    val run = new SimulatedRun(Seq("startingOffsets" -> "earliest", "clusterTimeout" -> "1m") ++ options: _*)
    run.log.create("t", 1)
    run.log.fill("t", 0, 5)
    val e = run.start()
    run.log.fill("t", 0, 3)
    run.paused = time => { run.pauses += 1; run.clock.pass(time) }
    (run, e.start(StartPosition.Configured))
  }

  private def unreachable(body: => Any): Unit = {
    assert(intercept[SpliceException](body).getCondition == "SPLICE_KAFKA_CONNECTION.BROKERS_UNAVAILABLE")
    ()
  }

  test("the source returns no new data until the timeout, and continues when brokers are available again") {
    val (run, from) = world()
    val e           = run.start()
    run.log.away = Some(_ => true)
    assert(e.advance(from, Limits.Everything) eq from)
    run.clock.pass(Duration.ofSeconds(59))
    assert(e.advance(from, Limits.Everything) eq from)
    run.log.away = None
    assert(e.advance(from, Limits.Everything) == at(0 -> 8))
    run.log.away = Some(_ => true)
    assert(e.advance(at(0 -> 8), Limits.Everything) == at(0 -> 8))
    run.clock.pass(Duration.ofSeconds(60))
    unreachable(e.advance(at(0 -> 8), Limits.Everything))
  }

  test("any request of a trigger may remain without a response") {
    Seq("describe", "ends", "earliest", "ids").foreach { request =>
      val (run, from) = world()
      val e           = run.start()
      run.log.away = Some(_ == request)
      assert(e.advance(from, Limits.Everything) eq from, request)
      run.log.away = None
      val until = e.advance(from, Limits.Everything)
      assert(until == at(0 -> 8) && e.splits(from, until) == Seq(range(0, 0, 8)))
    }
  }

  test("a replay waits for brokers up to the timeout") {
    val (run, from) = world("fetchOffset.retryIntervalMs" -> "20000")
    val until       = run.start().advance(from, Limits.Everything)
    var left        = 2
    run.log.away = Some { _ =>
      left -= 1
      left >= 0
    }
    assert(run.replay(from, until) == Seq(range(0, 0, 8)))
    assert(run.pauses == 2)
    run.log.away = Some(_ => true)
    unreachable(run.replay(from, until))
    assert(run.pauses == 5)
  }

  test("a replay waits for the start of a partition that only Spark's source has read") {
    val (run, _) = world("fetchOffset.retryIntervalMs" -> "20000")
    run.log.create("t", 2)
    run.log.fill("t", 1, 4)
    run.log.away = Some(request => request == "earliest" && run.pauses < 2)
    assert(run.replay(at(0 -> 8), at(0 -> 8, 1 -> 4)) == Seq(range(1, 0, 4)))
    assert(run.pauses == 2)
  }

  test("a run with a fixed end does not end early if brokers are unavailable") {
    val (run, from) = world("fetchOffset.retryIntervalMs" -> "20000")
    val e           = run.start()
    e.freeze()
    run.log.away = Some(_ => run.pauses < 2)
    assert(e.advance(from, Limits.Everything) == at(0 -> 8))
    assert(run.pauses == 2)
  }

  test("a query that has not begun fails immediately") {
    val (run, _) = world()
    run.log.away = Some(_ => true)
    val fresh = new splice.coordinator.internal.sidelog.MemorySideLog
    unreachable(run.start(sideLog = fresh).start(StartPosition.Configured))
    unreachable(run.start(sideLog = fresh).freeze())
  }

  test("discovery backs off, and its age and failures are reported") {
    val health = PollHealth()
    val error  = new RuntimeException("away")
    val ten    = Duration.ofSeconds(10)
    val now    = Instant.ofEpochSecond(100)
    val failed = Iterator.iterate(health.succeeded(now))(_.failed(now.plusSeconds(5), error)).take(6).toSeq
    assert(failed.map(_.delay(ten).toSeconds) == Seq(10, 20, 40, 60, 60, 60))
    assert(failed(3).failing.map(_._1).contains(now.plusSeconds(5)))
    assert(failed(3).age(now.plusSeconds(60)).contains(Duration.ofSeconds(60)))
    assert(failed(3).succeeded(now).failures == 0)
    assert(health.delay(Duration.ofHours(1)) == Duration.ofHours(1))
    assert(health.failed(now, error).delay(Duration.ofHours(1)) == Duration.ofMinutes(1))
    val last = new RuntimeException("still away")
    assert(health.failed(now, error).failed(now.plusSeconds(60), last).failing.contains(now -> last))
  }

  test("failed background discovery ends the query only with a failure after the timeout") {
    val (run, from) = world()
    val failing     = new OutageToleranceSuite.Told(run.log.describe(), run.clock.instant())
    val recheck     = new Recheck(1, Duration.ZERO, _ => ())
    val e           = KafkaEnumerator(
      run.settings,
      EnumeratorContext(run.side, ReadMode.Stream, run.clock, 2, "run"),
      run.log,
      failing,
      recheck
    )
    val until        = e.advance(from, Limits.Everything)
    def fail(): Unit =
      failing.state = failing.state.failed(run.clock.instant(), new IllegalStateException("no longer allowed"))
    fail()
    run.clock.pass(Duration.ofSeconds(59))
    fail()
    run.clock.pass(Duration.ofSeconds(1))
    assert(e.advance(until, Limits.Everything) eq until)
    assert(e.figures(until)("discoveryAgeMs") == "60000" && e.figures(until)("discoveryFailuresTotal") == "2")
    run.clock.pass(Duration.ofHours(1))
    assert(e.advance(until, Limits.Everything) eq until)
    fail()
    assert(intercept[IllegalStateException](e.advance(until, Limits.Everything)).getMessage == "no longer allowed")
  }

  test("the background thread continues discovery after a failure") {
    val recheck = new AtomicInteger
    val log     = new ClusterClient {
      override def describe(): LogDescription = {
        if (recheck.incrementAndGet() == 2) throw new IllegalStateException("unavailable")
        LogDescription(None, SortedMap.empty, SortedSet(LogPartition("t", recheck.get)), SortedSet.empty)
      }
      override def earliest(partitions: Set[LogPartition])               = Map.empty
      override def ends(partitions: Set[LogPartition])                   = Map.empty
      override def atTime(millis: Map[LogPartition, Long])               = Map.empty
      override def committed(partitions: Set[LogPartition])              = Map.empty
      override def firstRecords(ranges: Map[LogPartition, (Long, Long)]) = Map.empty
      override def times(at: Map[LogPartition, Long])                    = Map.empty
      override def close(): Unit                                         = ()
    }
    val discovery = new BackgroundDiscovery(log, Duration.ofMillis(5), java.time.Clock.systemUTC(), "test")
    try {
      discovery.now()
      Patient.until("discovery after a failure")(recheck.get >= 4)
      assert(discovery.news().nonEmpty && discovery.health.failures == 0)
    } finally discovery.close()
  }
}

object OutageToleranceSuite {

  /** Discovery whose health is set by the test. */
  final private class Told(seen: LogDescription, now: Instant) extends Discovery {
    var state: PollHealth                        = PollHealth(Some(now))
    override def now(): LogDescription           = seen
    override def news(): Option[LogDescription]  = None
    override def pending: Option[LogDescription] = None
    override def health: PollHealth              = state
    override def close(): Unit                   = ()
  }
}
