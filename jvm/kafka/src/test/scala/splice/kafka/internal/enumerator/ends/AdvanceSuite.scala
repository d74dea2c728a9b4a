// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator.ends

import java.time.Duration

import org.apache.kafka.clients.consumer.{MockConsumer, OffsetResetStrategy}
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.KafkaFailures
import splice.kafka.internal.consumer.SlotConsumer
import splice.kafka.internal.enumerator.SimulatedRun
import splice.kafka.internal.enumerator.SimulatedRun.{at, range, t}
import splice.kafka.internal.pool.{ReaderKey, ReaderPool}
import splice.kafka.internal.split.KafkaPosition
import splice.source.{Limits, LogPartition, StartPosition}

/** Tests of the ends of batches. */
final class AdvanceSuite extends AnyFunSuite with KafkaFailures {

  private def world(options: (String, String)*): SimulatedRun = {
    val run = new SimulatedRun(("startingOffsets" -> "earliest") +: options: _*)
    run.log.create("t", 2)
    run.log.fill("t", 0, 10)
    run.log.fill("t", 1, 30)
    run
  }

  test("a batch advances to the ends, and the next batch does not advance") {
    val e     = world().start()
    val begin = e.start(StartPosition.Configured)
    val until = e.advance(begin, Limits.Everything)
    assert(until == at(0 -> 10, 1 -> 30))
    assert(e.advance(until, Limits.Everything) eq until)
    assert(e.splits(begin, until) == Seq(range(0, 0, 10), range(1, 0, 30)))
    assert(e.splits(until, until).isEmpty)
  }

  test("an idle trigger requests only the ends, once") {
    val run   = world()
    val e     = run.start()
    val until = e.advance(e.start(StartPosition.Configured), Limits.Everything)
    run.log.calls.clear()
    (1 to 5).foreach(_ => e.advance(until, Limits.Everything))
    assert(run.log.calls == Seq.fill(5)("ends"))
    e.figures(until)
    e.splits(at(0 -> 0, 1 -> 0), until)
    assert(run.log.calls.size == 5)
  }

  test("rows are distributed by backlog, and a batch waits for the minimum number of rows") {
    val e     = world("maxOffsetsPerTrigger" -> "8", "minOffsetsPerTrigger" -> "5").start()
    val begin = e.start(StartPosition.Configured)
    assert(e.limits(begin) == Limits.Limited(rows = Some(8), minRows = Some(5)))
    assert(e.advance(begin, e.limits(begin)) == at(0 -> 2, 1 -> 6))
    val late = at(0 -> 8, 1 -> 28)
    assert(e.advance(late, e.limits(late)) eq late)
    assert(e.advance(late, e.limits(late).withoutMinimum) == at(0 -> 10, 1 -> 30))
  }

  test("a stale lower end is neither progress nor an error") {
    val run  = world()
    val e    = run.start()
    val from = e.advance(e.start(StartPosition.Configured), Limits.Everything)
    run.log.answerEnds(Map(t(0) -> 4L))
    assert(e.advance(from, Limits.Everything) eq from)
    assert(run.pauses == 1)
  }

  test("a persistent lower end is data loss: an error with partition and range, or a warning") {
    val failing = world()
    val e       = failing.start()
    val from    = e.advance(e.start(StartPosition.Configured), Limits.Everything)
    failing.log.truncate("t", 0, 4)
    assert(failure("KAFKA_DATA.DATA_LOSS")(e.advance(from, Limits.Everything)).contains("t-0 [4, 10)"))

    val warning = world("failOnDataLoss" -> "false")
    val w       = warning.start()
    val wFrom   = w.advance(w.start(StartPosition.Configured), Limits.Everything)
    warning.log.truncate("t", 0, 4)
    val down = w.advance(wFrom, Limits.Everything)
    assert(down == at(0 -> 4, 1 -> 30))
    assert(w.splits(wFrom, down).isEmpty)
    warning.log.fill("t", 0, 3)
    assert(w.splits(down, w.advance(down, Limits.Everything)) == Seq(range(0, 4, 7)))
  }

  test("records that are removed before they are read are also detected") {
    val run  = world("maxOffsetsPerTrigger" -> "4")
    val e    = run.start()
    val from = e.start(StartPosition.Configured)
    val next = e.advance(from, e.limits(from))
    run.log.truncate("t", 1, 20)
    assert(failure("KAFKA_DATA.DATA_LOSS")(e.advance(next, e.limits(next))).contains("t-1 [20, 30)"))
  }

  test("limits apply with starts from a checkpoint of Spark's source") {
    val e = world().start()
    assert(e.advance(KafkaPosition.read("""{"t":{"1":29,"0":9}}"""), Limits.Everything) == at(0 -> 10, 1 -> 30))
  }

  test("the report has position, splits and unread rows") {
    val e        = world("maxOffsetsPerTrigger" -> "8").start()
    val begin    = e.start(StartPosition.Configured)
    val until    = e.advance(begin, e.limits(begin))
    val reported = e.figures(until)
    assert(reported("position") == """{"t":{"0":2,"1":6}}""")
    assert((reported("splits"), reported("rowsBehind")) == ("2" -> "32"))
    assert(reported("topics") == """{"t":{"partitions":2,"rowsBehind":32}}""")
    assert(reported("lagging").startsWith("""[{"partition":"t-1","rowsBehind":24}"""))
    assert((reported("discoveryAgeMs"), reported("discoveryFailuresTotal")) == ("0" -> "0"))
  }

  test("committed offsets are sent to the group if the option is set") {
    val quiet = world()
    quiet.start().committed(at(0 -> 3))
    assert(quiet.log.commits.isEmpty)
    val run = world("commitToGroup" -> "true", "kafka.group.id" -> "g")
    val e   = run.start()
    val one = e.advance(e.start(StartPosition.Configured), Limits.Everything)
    assert(run.log.commits.isEmpty)
    e.committed(one)
    assert(run.log.commits == Seq(Map(t(0) -> 10L, t(1) -> 30L)))
  }

  test("a run with read_committed never moves a position back, even if an earlier run has read an open transaction") {
    val run   = world("kafka.isolation.level" -> "read_uncommitted")
    val e     = run.start()
    val until = e.advance(e.start(StartPosition.Configured), Limits.Everything)
    // The last 4 records of partition 0 belong to an open transaction.
    run.log.open = Map(t(0) -> 4L)
    val own   = new SimulatedRun("kafka.isolation.level" -> "read_committed", "failOnDataLoss" -> "false").settings
    val later = run.start(own = own)
    assert(later.advance(until, Limits.Everything) eq until)
    assert(run.pauses == 0)
    run.log.fill("t", 1, 2)
    val next = later.advance(until, Limits.Everything)
    assert(next == at(0 -> 10, 1 -> 32))
    run.log.open = Map.empty
    run.log.fill("t", 0, 1)
    assert(later.splits(next, later.advance(next, Limits.Everything)) == Seq(range(0, 10, 11)))
  }

  test("close releases the readers of the run even if a client fails to close") {
    val run      = world()
    val key      = ReaderKey("simulated", run.settings.client, None)
    val consumer = new MockConsumer[Array[Byte], Array[Byte]](OffsetResetStrategy.NONE)
    ReaderPool.ofExecutor.giveBack(key, new SlotConsumer(consumer), Duration.ofMinutes(1))
    run.log.closing = () => throw new InterruptedException("stopped")
    intercept[InterruptedException](run.start().close())
    assert(ReaderPool.ofExecutor.count(_.run == "simulated") == 0)
  }

  test("offsets of unsubscribed or deleted topics are not committed to the group") {
    val group = Seq("startingOffsets" -> "earliest", "commitToGroup" -> "true", "kafka.group.id" -> "g")
    val run   = new SimulatedRun(group ++ Seq("subscribe" -> "t,u,v", "onTopicRemoved" -> "drain"): _*)
    Seq("t", "u", "v").foreach { topic =>
      run.log.create(topic, 1)
      run.log.fill(topic, 0, 3)
    }
    val e    = run.start()
    val from = e.advance(e.start(StartPosition.Configured), Limits.Everything)
    run.log.delete("v")
    val own = new SimulatedRun(group ++ Seq("subscribe" -> "t,v", "onTopicRemoved" -> "drain"): _*).settings
    run.log.subscribed = own.subscription
    val later = run.start(own = own)
    run.log.fill("t", 0, 1)
    run.log.fill("u", 0, 1)
    val until = later.advance(from, Limits.Everything)
    assert(until.topics == Set("t", "u", "v") && until.get(LogPartition("u", 0)).contains(3L))
    later.committed(until)
    assert(run.log.commits == Seq(Map(t(0) -> 4L)))
  }

  test("unsubscribed or deleted topics have no lag") {
    val run = new SimulatedRun("startingOffsets" -> "earliest", "subscribe" -> "t,u", "onTopicRemoved" -> "drain")
    Seq("t", "u").foreach { topic =>
      run.log.create(topic, 1)
      run.log.fill(topic, 0, 3)
    }
    val e    = run.start()
    val from = e.start(StartPosition.Configured)
    val one  = e.advance(from, Limits.Limited(rows = Some(2)))
    assert((e.figures(one)("rowsBehind"), e.figures(one)("splits")) == ("4" -> "2"))
    run.log.delete("u")
    run.later()
    val two = e.advance(one, Limits.Limited(rows = Some(1)))
    assert((e.figures(two)("rowsBehind"), e.figures(two)("splits")) == ("1" -> "1"))
    assert(e.figures(two)("position") == two.json && two.json.contains("u"))
    val own = new SimulatedRun("startingOffsets" -> "earliest", "subscribe" -> "t").settings
    run.log.subscribed = own.subscription
    val later = run.start(own = own)
    val three = later.advance(two, Limits.Everything)
    assert(later.figures(three)("minOffsetsBehindLatest") == "0" && later.figures(three)("splits") == "1")
    run.log.fill("t", 0, 2)
    later.advance(three, Limits.Everything)
    assert(later.figures(three)("minOffsetsBehindLatest") == "2")
  }

  test(
    "a batch that waits for more rows changes no position, even with new partitions or removed records"
  ) {
    val run  = world("onOutOfRange" -> "earliest")
    val e    = run.start()
    val from = e.start(StartPosition.Configured)
    run.log.expire("t", 0, 5)
    run.log.create("t", 3)
    run.log.fill("t", 2, 1)
    run.later()
    assert(e.advance(from, Limits.Limited(minRows = Some(1000))) eq from)
    val until = e.advance(from, Limits.Limited(minRows = Some(36)))
    assert(e.splits(from, until) == Seq(range(0, 5, 10), range(1, 0, 30), range(2, 0, 1)))
  }

  test("brokers that return ids only sometimes cause no further discovery") {
    val run  = world()
    val e    = run.start()
    val from = e.advance(e.start(StartPosition.Configured), Limits.Everything)
    run.log.tellsIds = false
    run.log.fill("t", 0, 1)
    run.log.calls.clear()
    e.advance(from, Limits.Everything)
    assert(!run.log.calls.contains("describe") && run.log.calls.count(_ == "ends") == 1)
  }

  test("close closes the clients") {
    val run = world()
    run.start().close()
    assert(run.log.closed)
  }
}
