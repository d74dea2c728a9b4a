// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator

import java.time.Duration

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.cluster.UnavailablePartitions
import splice.kafka.internal.enumerator.SimulatedRun.{at, range, t}
import splice.kafka.internal.split.KafkaPosition
import splice.source.errors.SpliceException
import splice.source.{Limits, LogPartition, StartPosition}
import splice.testkit.LoggedMessages

/** Tests of partitions without a leader next to partitions with a leader. */
final class LeaderlessSuite extends AnyFunSuite {

  /** Query that has read five records of each of two partitions. The second partition now has no leader. */
  private def world(options: (String, String)*): (SimulatedRun, KafkaEnumerator, KafkaPosition) = {
    val run = new SimulatedRun(Seq("startingOffsets" -> "earliest", "clusterTimeout" -> "1m") ++ options: _*)
    run.log.create("t", 2)
    fill(run, 5)
    run.paused = time => { run.pauses += 1; run.clock.pass(time) }
    val e    = run.start()
    val from = e.advance(e.start(StartPosition.Configured), Limits.Everything)
    run.log.leaderless = Set(t(1))
    (run, e, from)
  }

  private def fill(run: SimulatedRun, rows: Int): Unit =
    run.log.partitions.foreach(p => run.log.fill(p.topic, p.partition, rows))

  private def unreachable(named: String)(body: => Any): Unit = {
    val error = intercept[SpliceException](body)
    assert(error.getCondition == "SPLICE_KAFKA_CONNECTION.BROKERS_UNAVAILABLE" && error.getMessage.contains(named))
    ()
  }

  private def all(e: KafkaEnumerator, from: KafkaPosition): KafkaPosition = e.advance(from, Limits.Everything)

  test("a partition without a leader has no rows, other partitions are read, and later none of its rows is skipped") {
    val (run, e, from) = world()
    fill(run, 3)
    val one = all(e, from)
    assert(one == at(0 -> 8, 1 -> 5) && e.splits(from, one) == Seq(range(0, 5, 8)))
    fill(run, 1)
    val two = all(e, one)
    assert(two == at(0 -> 9, 1 -> 5))
    run.log.leaderless = Set.empty
    val three = all(e, two)
    assert(three == at(0 -> 9, 1 -> 9) && e.splits(two, three) == Seq(range(1, 5, 9)))
  }

  test("the plan of a batch of another run does not change while a partition has no leader") {
    val (run, e, from) = world()
    run.log.leaderless = Set.empty
    fill(run, 3)
    val until  = all(e, from)
    val ranges = e.splits(from, until)
    run.log.leaderless = Set(t(1))
    assert(run.replay(from, until) == ranges && ranges.size == 2)
  }

  test("a warning names the partitions once per change, and the cluster is described once") {
    val (run, e, from)          = world()
    def reported(triggers: Int) = LoggedMessages.during(classOf[UnavailablePartitions].getName) {
      (1 to triggers).foreach(_ => assert(all(e, from) eq from))
    }._2
    run.log.calls.clear()
    val first = reported(20)
    assert(first.size == 1 && first.head.contains("t-1") && !first.head.contains("t-0") && first.head.contains("60 s"))
    assert(run.log.calls.count(_ == "describe") == 1 && run.log.calls.count(_ == "ends") == 20)
    run.log.leaderless = Set.empty
    val back = reported(20)
    assert(back.size == 1 && back.head.contains("t-1"))
  }

  test("the query fails if a partition has no leader for the timeout, even if other partitions are read") {
    val (run, e, from) = world()
    fill(run, 1)
    val one = all(e, from)
    run.clock.pass(Duration.ofSeconds(59))
    fill(run, 1)
    assert(all(e, one) == at(0 -> 7, 1 -> 5))
    run.clock.pass(Duration.ofSeconds(1))
    fill(run, 1)
    unreachable("t-1")(all(e, one))
  }

  test("the timeout restarts after a partition has responded") {
    val (run, e, from) = world()
    all(e, from)
    run.clock.pass(Duration.ofSeconds(59))
    run.log.leaderless = Set.empty
    all(e, from)
    run.log.leaderless = Set(t(1))
    all(e, from)
    run.clock.pass(Duration.ofSeconds(59))
    assert(all(e, from) eq from)
  }

  test("without any leader, the source returns no new data until the timeout") {
    val (run, e, from) = world()
    run.log.leaderless = Set(t(0), t(1))
    run.log.calls.clear()
    (1 to 20).foreach(_ => assert(all(e, from) eq from))
    assert(run.log.calls.count(_ == "describe") == 1)
    run.clock.pass(Duration.ofSeconds(60))
    unreachable("t-0")(all(e, from))
  }

  test("a new partition without a leader does not delay other partitions, and is read from its first record later") {
    Seq("earliest" -> 0L, "latest" -> 4L).foreach { case (policy, first) =>
      val (run, e, from) = world("newPartitionsStartAt" -> policy)
      run.log.create("t", 3)
      run.log.fill("t", 2, 4)
      run.log.leaderless = Set(t(2))
      run.log.fill("t", 0, 1)
      run.later()
      val one = all(e, from)
      assert(one == at(0 -> 6, 1 -> 5))
      run.log.leaderless = Set.empty
      val two = all(run.start(), one)
      run.log.fill("t", 2, 2)
      val three = all(run.start(), two)
      assert(two == at(0 -> 6, 1 -> 5, 2 -> 4) && run.start().splits(one, three) == Seq(range(2, first, 6)))
    }
  }

  test("retention is checked for responsive partitions, and later for the other partitions") {
    val (run, _, from) = world("onOutOfRange" -> "earliest")
    fill(run, 5)
    Seq(0, 1).foreach(run.log.expire("t", _, 7))
    val e = run.start()
    assert(e.splits(from, all(e, from)) == Seq(range(0, 7, 10)))
    run.log.leaderless = Set.empty
    val until = all(e, at(0 -> 10, 1 -> 5))
    assert(until == at(0 -> 10, 1 -> 10) && e.splits(at(0 -> 10, 1 -> 5), until) == Seq(range(1, 7, 10)))
  }

  test("a first start needs a response from each partition") {
    Seq(
      "startingOffsets"   -> "earliest",
      "startingOffsets"   -> "latest",
      "startingOffsets"   -> """{"t":{"0":-1,"1":2}}""",
      "startingTimestamp" -> "0"
    ).foreach { start =>
      val run = new SimulatedRun(start)
      run.log.create("t", 2)
      fill(run, 5)
      run.log.leaderless = Set(t(1))
      unreachable("t-1")(run.start().start(StartPosition.Configured))
    }
  }

  test("a run with a fixed end does not end while a partition has no leader, and fails after the timeout") {
    val (run, _, from) = world("fetchOffset.retryIntervalMs" -> "20000")
    fill(run, 3)
    val paused = run.paused
    run.paused = time => {
      paused(time)
      if (run.pauses == 2) run.log.leaderless = Set.empty
    }
    val e = run.start()
    e.freeze()
    assert(run.pauses == 2 && all(e, from) == at(0 -> 8, 1 -> 8))
    run.paused = paused
    run.log.leaderless = Set(t(1))
    unreachable("t-1")(run.start().freeze())
  }

  test("a run with a fixed end reads the partitions that respond, and then waits for the other partitions") {
    val (run, _, from) = world("fetchOffset.retryIntervalMs" -> "20000")
    run.log.leaderless = Set.empty
    fill(run, 3)
    val e = run.start()
    e.freeze()
    // The first offsets of lagging partitions are requested before a batch is planned.
    run.log.leaderless = Set(t(1))
    val one = e.advance(from, Limits.NotSet)
    assert(one == at(0 -> 8, 1 -> 5))
    val paused = run.paused
    run.paused = time => {
      paused(time)
      run.log.leaderless = Set.empty
    }
    val two = all(e, one)
    assert(two == at(0 -> 8, 1 -> 8) && (all(e, two) eq two))
    run.paused = paused
    val other = run.start()
    other.freeze()
    run.log.leaderless = Set(t(1))
    unreachable("t-1")(all(other, one))
  }

  test("a run of one batch waits for each partition with records to read, and fails after the timeout") {
    val (run, _, from) = world("fetchOffset.retryIntervalMs" -> "20000")
    run.log.leaderless = Set.empty
    fill(run, 3)
    def frozen() = {
      val e = run.start()
      e.freeze()
      run.log.leaderless = Set(t(1))
      e
    }
    val (one, two) = (frozen(), { run.log.leaderless = Set.empty; frozen() })
    val paused     = run.paused
    run.paused = time => {
      paused(time)
      run.log.leaderless = Set.empty
    }
    assert(all(one, from) == at(0 -> 8, 1 -> 8))
    run.paused = paused
    run.log.leaderless = Set(t(1))
    unreachable("t-1")(all(two, from))
    assert(all(two, at(0 -> 5, 1 -> 8)) == at(0 -> 8, 1 -> 8), "the partition is read to the end of the run")
  }

  test("a run with fixed ends before the position waits for each partition with possible loss") {
    val (run, _, _) = world("fetchOffset.retryIntervalMs" -> "20000")
    run.log.leaderless = Set.empty
    val e = run.start()
    e.freeze()
    // Such a position occurs for a leg that begins after the request of ends.
    fill(run, 3)
    run.log.truncate("t", 1, 5)
    run.log.leaderless = Set(t(1))
    val paused = run.paused
    run.paused = time => {
      paused(time)
      run.log.leaderless = Set.empty
    }
    val error = intercept[SpliceException](all(e, at(0 -> 8, 1 -> 8)))
    assert(error.getCondition == "SPLICE_KAFKA_DATA.DATA_LOSS" && error.getMessage.contains("t-1 [5, 8)"))
  }

  test("a bounded source waits only for partitions that are not read to their end") {
    val (run, _, _) = world("endingOffsets" -> """{"t":{"0":7,"1":5}}""", "fetchOffset.retryIntervalMs" -> "20000")
    fill(run, 3)
    val e    = run.start()
    val done = all(e, at(0 -> 5, 1 -> 5))
    assert(done == at(0 -> 7, 1 -> 5) && (all(e, done) eq done))
    unreachable("t-1")(all(run.start(), at(0 -> 7, 1 -> 3)))
  }

  test("the policy applies to a deleted topic while a partition of another topic has no leader") {
    val run = new SimulatedRun("subscribe" -> "t,u", "startingOffsets" -> "earliest", "onTopicRemoved" -> "drop")
    run.log.create("t", 2)
    run.log.create("u", 1)
    fill(run, 5)
    val e    = run.start()
    val from = all(e, e.start(StartPosition.Configured))
    run.log.leaderless = Set(t(1))
    fill(run, 1)
    run.log.delete("u")
    // Discovery has not run since the deletion.
    assert(all(e, from) == at(0 -> 6, 1 -> 5))
    assert(e.silent.keySet == Set(t(1)))
  }

  test("the policy applies without discovery to a topic that first loses its leaders and is then deleted") {
    val run = new SimulatedRun(
      "subscribe"         -> "t,u",
      "startingOffsets"   -> "earliest",
      "onTopicRemoved"    -> "drop",
      "discoveryInterval" -> "1h"
    )
    Seq("t", "u").foreach(run.log.create(_, 1))
    val e    = run.start()
    val from = e.start(StartPosition.Configured)
    run.log.leaderless = Set(LogPartition("u", 0))
    assert((all(e, from) eq from) && e.silent.size == 1)
    run.log.delete("u")
    run.clock.pass(Duration.ofSeconds(11))
    assert(all(e, from) == at(0 -> 0) && e.silent.isEmpty)
  }

  test("the policy applies without discovery to a topic that is deleted in a run with a fixed end") {
    val run = new SimulatedRun(
      "subscribe"         -> "t,u",
      "startingOffsets"   -> "earliest",
      "onTopicRemoved"    -> "drain",
      "discoveryInterval" -> "1h"
    )
    Seq("t", "u").foreach(run.log.create(_, 1))
    val from = run.start().start(StartPosition.Configured)
    fill(run, 3)
    val e = run.start()
    e.freeze()
    run.log.delete("u")
    val until = all(e, from)
    assert(until == KafkaPosition.of(Seq(t(0) -> 3L, LogPartition("u", 0) -> 0L)) && (all(e, until) eq until))
  }

  test("the lag of a partition without a leader uses the last returned end") {
    val (run, e, from) = world("maxOffsetsPerTrigger" -> "2")
    run.log.leaderless = Set.empty
    fill(run, 5)
    val until = e.advance(from, e.limits(from))
    run.log.leaderless = Set(t(1))
    fill(run, 5)
    all(e, until)
    assert(e.figures(until)("lagging").contains("""{"partition":"t-1","rowsBehind":4"""))
    assert(e.figures(until)("splits") == "2")
  }
}
