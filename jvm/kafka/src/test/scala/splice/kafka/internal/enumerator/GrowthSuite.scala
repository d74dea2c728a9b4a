// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator

import java.time.Duration

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.KafkaFailures
import splice.kafka.internal.cluster.{ClockedDiscovery, Recheck}
import splice.kafka.internal.enumerator.SimulatedRun.{at, range, t}
import splice.source.{EnumeratorContext, Limits, LogPartition, ReadMode, StartPosition}

/** Tests of partitions and topics that are added or removed during a query. */
final class GrowthSuite extends AnyFunSuite with KafkaFailures {

  private def world(options: (String, String)*): SimulatedRun = {
    val run = new SimulatedRun(("startingOffsets" -> "latest") +: options: _*)
    run.log.create("t", 1)
    run.log.fill("t", 0, 5)
    run
  }

  /** Adds a second partition without its first three records, which retention has removed. */
  private def grow(run: SimulatedRun): Unit = {
    run.log.create("t", 2)
    run.log.fill("t", 1, 8)
    run.log.expire("t", 1, 3)
    run.later()
  }

  test("a new partition begins at earliest in the batch that detects it") {
    val run   = world()
    val e     = run.start()
    val begin = e.start(StartPosition.Configured)
    grow(run)
    val until = e.advance(begin, Limits.Everything)
    assert(until == at(0 -> 5, 1 -> 8))
    assert(e.splits(begin, until) == Seq(range(1, 3, 8)))
  }

  test("a batch with rows detects and reads new partitions of its topics before the next discovery") {
    val run   = world("discoveryInterval" -> "1h")
    val e     = run.start()
    val begin = e.start(StartPosition.Configured)
    run.log.fill("t", 0, 2)
    run.log.create("t", 2)
    run.log.fill("t", 1, 4)
    val one = e.advance(begin, Limits.Everything)
    assert(one == at(0 -> 7, 1 -> 4) && e.splits(begin, one) == Seq(range(0, 5, 7), range(1, 0, 4)))
    run.log.create("t", 3)
    run.log.fill("t", 0, 1)
    run.log.calls.clear()
    val two = e.advance(one, Limits.Everything)
    assert(two == at(0 -> 8, 1 -> 4, 2 -> 0))
    assert(run.log.calls.count(_ == "describe") == 1)
    run.log.fill("t", 0, 1)
    run.log.calls.clear()
    assert(e.advance(two, Limits.Everything) == at(0 -> 9, 1 -> 4, 2 -> 0))
    assert(!run.log.calls.contains("describe"), "an equal number starts no discovery")
  }

  test("an idle query compares the numbers of partitions once per second") {
    val run   = world("discoveryInterval" -> "1h")
    val e     = run.start()
    val begin = e.start(StartPosition.Configured)
    assert(e.advance(begin, Limits.Everything) == begin)
    run.log.create("t", 2)
    run.log.fill("t", 1, 4)
    assert(e.advance(begin, Limits.Everything) == begin)
    run.clock.pass(Duration.ofMillis(999))
    run.log.calls.clear()
    assert(e.advance(begin, Limits.Everything) == begin && run.log.calls == Seq("ends"))
    run.clock.pass(Duration.ofMillis(1))
    val until = e.advance(begin, Limits.Everything)
    assert(until == at(0 -> 5, 1 -> 4))
    assert(e.advance(until, Limits.Everything) eq until)
    run.log.calls.clear()
    (1 to 50).foreach { _ =>
      run.clock.pass(Duration.ofMillis(100))
      assert(e.advance(until, Limits.Everything) eq until)
    }
    assert(run.log.calls.count(_ == "ids") == 5)
  }

  test("a batch of another topic also detects new partitions, and a stale broker delays them by one batch") {
    val run = world("discoveryInterval" -> "1h", "subscribe" -> "t,u")
    run.log.create("u", 1)
    val e     = run.start()
    val begin = e.start(StartPosition.Configured)
    run.log.create("u", 2)
    run.log.fill("u", 1, 3)
    run.log.fill("t", 0, 1)
    run.log.hide(LogPartition("u", 1))
    val one = e.advance(begin, Limits.Everything)
    assert(one.json == """{"t":{"0":6},"u":{"0":0}}""")
    run.log.fill("t", 0, 1)
    assert(e.advance(one, Limits.Everything).json == """{"t":{"0":7},"u":{"0":0,"1":3}}""")
  }

  test("assigned partitions and fixed ends have no new partitions") {
    val assigned = world("discoveryInterval" -> "1h", "assign" -> """{"t":[0]}""")
    val frozen   = world("discoveryInterval" -> "1h")
    val bounded  = world("discoveryInterval" -> "1h", "endingOffsets" -> """{"t":{"0":9}}""")
    Seq(assigned, frozen, bounded).foreach { run =>
      val e = run.start()
      if (run eq frozen) {
        run.log.fill("t", 0, 2)
        e.freeze()
      }
      val begin = e.start(StartPosition.Configured)
      run.log.create("t", 2)
      run.log.fill("t", 1, 4)
      run.log.fill("t", 0, 2)
      run.clock.pass(Duration.ofSeconds(5))
      run.log.calls.clear()
      assert(e.advance(begin, Limits.Everything).offsets.keySet == Set(t(0)))
      assert(!run.log.calls.contains("describe"))
    }
  }

  test("the start of a new partition is kept after a crash after the offset, even if retention continues") {
    val run   = world()
    val first = run.start()
    val begin = first.start(StartPosition.Configured)
    grow(run)
    val until = first.advance(begin, Limits.Everything)
    run.log.expire("t", 1, 6)
    assert(run.start().splits(begin, until) == Seq(range(1, 3, 8)))
  }

  test("the start of a new partition is kept after a crash between the side log and the offset") {
    val run   = world()
    val first = run.start()
    val begin = first.start(StartPosition.Configured)
    grow(run)
    first.advance(begin, Limits.Everything)
    run.log.expire("t", 1, 6)
    assert(failure("KAFKA_DATA.DATA_LOSS")(run.start().advance(begin, Limits.Everything)).contains("t-1 [3, 6)"))
  }

  test("the start of a new partition is kept after a crash, after batches without the partition, and after retention") {
    val run   = world()
    val first = run.start()
    val begin = first.start(StartPosition.Configured)
    grow(run)
    first.advance(begin, Limits.Everything)
    run.log.fill("t", 0, 1)
    Seq.fill(2)(t(1)).foreach(run.log.hide(_))
    val second = run.start()
    val one    = second.advance(begin, Limits.Everything)
    assert(one == at(0 -> 6))
    run.later()
    val two = second.advance(one, Limits.Everything)
    run.log.expire("t", 1, 6)
    assert(second.splits(one, two) == Seq(range(1, 3, 8)))
    assert(second.splits(begin, two) == Seq(range(0, 5, 6), range(1, 3, 8)))
  }

  test("the position includes an empty partition after its discovery") {
    val run   = world()
    val e     = run.start()
    val begin = e.start(StartPosition.Configured)
    run.log.create("t", 2)
    run.later()
    val until = e.advance(begin, Limits.Everything)
    assert(until == at(0 -> 5, 1 -> 0))
    assert(e.splits(begin, until).isEmpty)
    assert(e.advance(until, Limits.Everything) eq until)
  }

  test("a range over several batches uses the stored start of each new partition") {
    val run   = world()
    val e     = run.start()
    val begin = e.start(StartPosition.Configured)
    run.log.fill("t", 0, 2)
    val one = e.advance(begin, Limits.Everything)
    grow(run)
    val two = e.advance(one, Limits.Everything)
    run.log.create("t", 3)
    run.log.fill("t", 2, 4)
    run.log.expire("t", 2, 2)
    run.later()
    val three = e.advance(two, Limits.Everything)
    run.log.expire("t", 1, 8)
    run.log.expire("t", 2, 4)
    val again = run.start()
    assert(again.splits(begin, three) == Seq(range(0, 5, 7), range(1, 3, 8), range(2, 2, 4)))
    assert(again.splits(two, three) == Seq(range(2, 2, 4)))
  }

  test("a partition that Spark's source has added is resolved once") {
    val run = world()
    grow(run)
    val until = at(0 -> 5, 1 -> 8)
    assert(run.replay(at(0 -> 5), until) == Seq(range(1, 3, 8)))
    run.log.expire("t", 1, 5)
    assert(run.replay(at(0 -> 5), until) == Seq(range(1, 3, 8)))
  }

  test("a partition that is missing from one response is kept") {
    val run   = world()
    val e     = run.start()
    val begin = e.start(StartPosition.Configured)
    run.log.fill("t", 0, 1)
    run.log.hide(t(0))
    run.later()
    assert(e.advance(begin, Limits.Everything) == at(0 -> 6))
  }

  test("a deleted topic is data loss by policy, including at a restart") {
    val run   = world()
    val e     = run.start()
    val begin = e.start(StartPosition.Configured)
    run.log.delete("t")
    run.later()
    assert(failure("KAFKA_DATA.DATA_LOSS")(e.advance(begin, Limits.Everything)).contains("t-0 [5, end)"))
    assert(failure("KAFKA_DATA.DATA_LOSS")(run.start().advance(begin, Limits.Everything)).contains("t-0 [5, end)"))

    val warning = world("onTopicRemoved" -> "drain", "subscribe" -> "t,u")
    warning.log.create("u", 1)
    val w     = warning.start()
    val start = w.start(StartPosition.Configured)
    warning.log.delete("t")
    warning.log.fill("u", 0, 2)
    warning.later()
    assert(w.advance(start, Limits.Everything).json == """{"t":{"0":5},"u":{"0":2}}""")
  }

  test("a recreated topic is an error, in the run and after a restart") {
    val run   = world()
    val e     = run.start()
    val begin = e.start(StartPosition.Configured)
    run.log.delete("t")
    run.log.create("t", 1)
    run.log.fill("t", 0, 50)
    run.later()
    assert(failure("KAFKA_DATA.TOPIC_RECREATED")(e.advance(begin, Limits.Everything)).contains("Topic t "))
    assert(failure("KAFKA_DATA.TOPIC_RECREATED")(run.start().advance(begin, Limits.Everything)).contains("Topic t "))
  }

  test("a batch is not replayed from a recreated topic") {
    val run   = world("startingOffsets" -> "earliest")
    val begin = run.start().start(StartPosition.Configured)
    val until = run.start().advance(begin, Limits.Everything)
    run.log.delete("t")
    run.log.create("t", 1)
    run.log.fill("t", 0, 50)
    assert(failure("KAFKA_DATA.TOPIC_RECREATED")(run.replay(begin, until)).contains("Topic t "))
  }

  test("a shorter recreated topic is reported as recreated and not as data loss") {
    val run   = world()
    val e     = run.start()
    val begin = e.start(StartPosition.Configured)
    e.advance(begin, Limits.Everything)
    run.log.delete("t")
    run.log.create("t", 1)
    failure("KAFKA_DATA.TOPIC_RECREATED")(e.advance(begin, Limits.Everything))
  }

  test("another cluster is an error with both ids") {
    val run   = world()
    val begin = run.start().start(StartPosition.Configured)
    run.log.clusterId = Some("cluster-b")
    val text = failure("KAFKA_DATA.OTHER_CLUSTER")(run.start().advance(begin, Limits.Everything))
    assert(text.contains("cluster-a") && text.contains("cluster-b"))
  }

  test("another cluster is reported even if the cluster has no such topic") {
    val run   = world()
    val begin = run.start().start(StartPosition.Configured)
    run.log.clusterId = Some("cluster-b")
    run.log.delete("t")
    val text = failure("KAFKA_DATA.OTHER_CLUSTER")(run.start().advance(begin, Limits.Everything))
    assert(text.contains("cluster-a") && text.contains("cluster-b"))
  }

  test("a topic that is subscribed later is read from earliest, and an unsubscribed topic keeps its position") {
    val run = world()
    run.log.create("u", 1)
    run.log.fill("u", 0, 4)
    val begin = run.start().start(StartPosition.Configured)
    val more  = new SimulatedRun("subscribe" -> "u", "failOnDataLoss" -> "false").settings
    val log   = new SimulatedLog(more.subscription)
    log.create("t", 1)
    log.create("u", 1)
    log.fill("u", 0, 4)
    val context = EnumeratorContext(new MemorySideLog, ReadMode.Stream, run.clock, 2, "run")
    val recheck = new Recheck(1, more.retryInterval, _ => ())
    val e = KafkaEnumerator(more, context, log, new ClockedDiscovery(log, more.discoveryInterval, run.clock), recheck)
    assert(e.advance(begin, Limits.Everything).json == """{"t":{"0":5},"u":{"0":4}}""")
  }
}
