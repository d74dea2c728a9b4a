// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.identity

import org.scalatest.LoneElement._
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.SimulatedRun
import splice.kafka.internal.enumerator.SimulatedRun.{at, range, t}
import splice.kafka.internal.options.TopicRecreated
import splice.kafka.internal.split.KafkaPosition
import splice.source.errors.SpliceException
import splice.source.{Limits, LogPartition, StartPosition}
import splice.testkit.LoggedMessages

/** Tests of recreated topics and swapped clusters, with `onTopicRecreated` = restart. */
final class RecreationSuite extends AnyFunSuite {

  private def world(options: (String, String)*): SimulatedRun = {
    val run = new SimulatedRun(Seq("startingOffsets" -> "earliest", "onTopicRecreated" -> "restart") ++ options: _*)
    run.log.create("t", 1)
    run.log.fill("t", 0, 10)
    run
  }

  private def recreate(run: SimulatedRun, records: Int, partitions: Int = 1): Unit = {
    run.log.delete("t")
    run.log.create("t", partitions)
    run.log.fill("t", 0, records)
  }

  private def second(offset: Long): KafkaPosition = at(0 -> offset).as("t", 1)

  test("the new topic is read from its beginning, even with as many records as the old topic") {
    Seq(3, 10, 50).foreach { records =>
      val run  = world()
      val e    = run.start()
      val from = e.advance(e.start(StartPosition.Configured), Limits.Everything)
      recreate(run, records)
      run.later()
      val until = e.advance(from, Limits.Everything)
      assert(until == second(records.toLong))
      assert(e.splits(from, until) == Seq(range(0, 0, records.toLong)))
      assert(e.advance(until, Limits.Everything) eq until)
      assert(from.precedes(until) && !until.precedes(from))
    }
  }

  test("a recreated topic with records is detected before the next discovery") {
    val run  = world("discoveryInterval" -> "1h")
    val e    = run.start()
    val from = e.advance(e.start(StartPosition.Configured), Limits.Everything)
    recreate(run, 30)
    run.log.calls.clear()
    assert(e.advance(from, Limits.Everything) == second(30))
    assert(run.log.calls.count(_ == "ids") == 1)
  }

  test("the warning counts only records of the old topic, even if the new topic is longer") {
    def warned(unread: Int): Seq[String] = {
      val run  = world("discoveryInterval" -> "1h")
      val e    = run.start()
      val from = e.advance(e.start(StartPosition.Configured), Limits.Everything)
      run.log.fill("t", 0, unread)
      e.advance(from, Limits.Everything)
      recreate(run, 30)
      val (until, messages) = LoggedMessages.during("splice.kafka.internal.identity.Recreation") {
        e.advance(from, Limits.Everything)
      }
      assert(until == second(30))
      messages
    }
    Seq(0, 4).foreach { unread =>
      assert(warned(unread).map(_.split(": ").last) == Seq(s"$unread records."))
    }
  }

  test("an unsubscribed recreated topic is not added to a position") {
    val run = world("subscribe" -> "t,u")
    run.log.create("u", 1)
    val e = run.start()
    e.advance(e.advance(e.start(StartPosition.Configured), Limits.Everything), Limits.Everything)
    val from = KafkaPosition.of(Seq(LogPartition("u", 0) -> 0L))
    recreate(run, 5)
    run.later()
    assert(e.advance(from, Limits.Everything).hasTopic("t"))
    val other = new SimulatedRun("subscribe" -> "u", "onTopicRecreated" -> "restart")
    Seq("t", "u").foreach(other.log.create(_, 1))
    other.log.fill("u", 0, 3)
    val until = other.start(sideLog = run.side).advance(from, Limits.Everything)
    assert(until == KafkaPosition.of(Seq(LogPartition("u", 0) -> 3L)))
  }

  test("with fail, the error occurs as early") {
    val run = new SimulatedRun("startingOffsets" -> "earliest", "discoveryInterval" -> "1h")
    run.log.create("t", 1)
    run.log.fill("t", 0, 10)
    val e    = run.start()
    val from = e.advance(e.start(StartPosition.Configured), Limits.Everything)
    recreate(run, 30)
    val error = intercept[SpliceException](e.advance(from, Limits.Everything))
    assert(error.getCondition == "SPLICE_KAFKA_DATA.TOPIC_RECREATED" && error.getMessage.contains("'onTopicRecreated'"))
  }

  test("the offset has the generation in a form that Spark's source reads as equal numbers") {
    assert(second(7).json == """{"t":{"00":7}}""")
    assert(KafkaPosition.read("""{"t":{"00":7}}""") == second(7))
    val two = KafkaPosition.of(Seq(t(0) -> 1L, t(10) -> 2L)).as("t", 2)
    assert(two.json == """{"t":{"000":1,"0010":2}}""" && KafkaPosition.read(two.json) == two)
    implicit val formats: org.json4s.Formats = org.json4s.DefaultFormats
    val sparks = org.json4s.jackson.Serialization.read[Map[String, Map[Int, Long]]](two.json)
    assert(sparks == Map("t" -> Map(0 -> 1L, 10 -> 2L)))
    assert(intercept[SpliceException](KafkaPosition.read("""{"t":{"0":1,"01":2}}""")).getCondition ==
      "SPLICE_CHECKPOINT.OTHER_SOURCE")
  }

  test("the start is decided once, and neither a crash before the offset nor retention change it") {
    val run  = world("onOutOfRange" -> "earliest")
    val one  = run.start()
    val from = one.advance(one.start(StartPosition.Configured), Limits.Everything)
    recreate(run, 8)
    run.log.expire("t", 0, 2)
    run.later()
    val until = one.advance(from, Limits.Everything)
    assert(one.splits(from, until) == Seq(range(0, 2, 8)))
    run.log.expire("t", 0, 5)
    val two = run.start()
    assert(two.splits(from, until) == Seq(range(0, 2, 8)))
    val again = two.advance(from, Limits.Everything)
    assert(again == until && two.splits(from, again) == Seq(range(0, 5, 8)))
  }

  test("a restart before a stored recreation reports the records of the old topic, or fails") {
    val run   = world()
    val e     = run.start()
    val begin = e.start(StartPosition.Configured)
    val from  = e.advance(begin, Limits.Everything)
    recreate(run, 30)
    run.later()
    e.advance(from, Limits.Everything)
    def warned(at: KafkaPosition): Seq[String] = {
      val f                 = run.start()
      val (until, messages) = LoggedMessages.during(classOf[Recreation].getName)(f.advance(at, Limits.Everything))
      assert(f.splits(at, until) == Seq(range(0, 0, 30)))
      messages
    }
    assert(warned(from).isEmpty, "the first driver has reported the records")
    assert(warned(begin).loneElement.endsWith("of the previous topic: 0 records and an unknown number of t-0."))
    val failing = run.settings.copy(policies = run.settings.policies.copy(recreated = TopicRecreated.Fail))
    val error   = intercept[SpliceException](run.start(own = failing).settle(begin))
    assert(error.getCondition == "SPLICE_KAFKA_DATA.TOPIC_RECREATED")
  }

  test("a batch of the old topic is not read from the new topic") {
    val run   = world()
    val begin = run.start().start(StartPosition.Configured)
    val until = run.start().advance(begin, Limits.Everything)
    recreate(run, 30)
    val e = run.start()
    e.replay(begin, until)
    assert(e.splits(begin, until).isEmpty)
    val next = e.advance(until, Limits.Everything)
    assert(e.splits(until, next) == Seq(range(0, 0, 30)))
    assert(run.start().splits(begin, next) == Seq(range(0, 0, 30)))
  }

  test("a topic can be recreated again, and later partitions begin in their topic") {
    val run = world()
    val e   = run.start()
    val a   = e.advance(e.start(StartPosition.Configured), Limits.Everything)
    recreate(run, 4)
    run.later()
    val b = e.advance(a, Limits.Everything)
    recreate(run, 6, partitions = 2)
    run.log.fill("t", 1, 3)
    run.later()
    val c = e.advance(b, Limits.Everything)
    assert(c == at(0 -> 6, 1 -> 3).as("t", 2))
    assert(e.splits(b, c) == Seq(range(0, 0, 6), range(1, 0, 3)))
    run.log.create("t", 3)
    run.log.fill("t", 2, 2)
    run.later()
    val d = e.advance(c, Limits.Everything)
    assert(e.splits(c, d) == Seq(range(2, 0, 2)))
    assert(run.start().splits(b, d) == Seq(range(0, 0, 6), range(1, 0, 3), range(2, 0, 2)))
  }

  test("a stale response does not count as a new topic") {
    val run = world()
    val e   = run.start()
    val a   = e.advance(e.start(StartPosition.Configured), Limits.Everything)
    val old = run.log.describe()
    recreate(run, 4)
    run.later()
    val b = e.advance(a, Limits.Everything)
    run.log.response(old)
    run.later()
    assert(e.advance(b, Limits.Everything) eq b)
  }

  test("another cluster at the same address is read from its beginning, and so is the first cluster after its return") {
    Seq(true, false).foreach { tellsIds =>
      val run = world()
      run.log.tellsIds = tellsIds
      val e    = run.start()
      val from = e.advance(e.start(StartPosition.Configured), Limits.Everything)
      run.log.clusterId = Some("cluster-b")
      run.later()
      val until = e.advance(from, Limits.Everything)
      assert(until == second(10) && e.splits(from, until) == Seq(range(0, 0, 10)))
      assert(run.start().advance(until, Limits.Everything) == until)
      run.log.clusterId = Some("cluster-a")
      val back = run.start().advance(until, Limits.Everything)
      assert(back == at(0 -> 10).as("t", 2))
    }
  }

  test("a frozen run reads the new topic to its end") {
    val run = world("maxOffsetsPerTrigger" -> "4")
    val e   = run.start()
    e.freeze()
    val a = e.advance(e.start(StartPosition.Configured), Limits.Limited(rows = Some(4)))
    recreate(run, 3)
    run.later()
    val b = e.advance(a, Limits.Limited(rows = Some(4)))
    assert(b == second(3) && (e.advance(b, Limits.Everything) eq b))
  }

  test("offsets that Spark's source wrote for the new topic belong to the new topic") {
    val run = world()
    val e   = run.start()
    val a   = e.advance(e.start(StartPosition.Configured), Limits.Everything)
    recreate(run, 20)
    run.later()
    e.advance(a, Limits.Everything)
    run.log.fill("t", 0, 5)
    val spark = KafkaPosition.read("""{"t":{"0":22}}""")
    val f     = run.start()
    val until = f.advance(spark, Limits.Everything)
    assert(until == second(25) && f.splits(spark, until) == Seq(range(0, 22, 25)))
  }

  test("a checkpoint with a deleted side log continues in the current topic") {
    val run   = world()
    val fresh = new splice.coordinator.internal.sidelog.MemorySideLog
    val e     = run.start(sideLog = fresh)
    val until = e.advance(second(4), Limits.Everything)
    assert(until == at(0 -> 10) && e.splits(second(4), until) == Seq(range(0, 4, 10)))
    assert(run.start(sideLog = fresh).splits(second(4), until) == Seq(range(0, 4, 10)))
    assert(run.start(sideLog = fresh).splits(second(4), second(7)) == Seq(range(0, 4, 7)))
  }

  test("a topic that was recreated before its first read is new") {
    val run = new SimulatedRun("subscribePattern" -> "[tu]", "startingOffsets" -> "earliest")
    run.log.create("t", 1)
    val begin = run.start().start(StartPosition.Configured)
    run.log.create("u", 1)
    run.log.fill("u", 0, 9)
    run.start().advance(begin, Limits.Everything)
    run.log.delete("u")
    run.log.create("u", 1)
    run.log.fill("u", 0, 4)
    val e     = run.start()
    val until = e.advance(begin, Limits.Everything)
    assert(e.splits(begin, until).map(_.toString) == Seq("u-0 [0, 4)"))
  }

  test("brokers without a cluster id are read") {
    val run = world()
    run.log.clusterId = None
    val e     = run.start()
    val begin = e.start(StartPosition.Configured)
    assert(e.advance(begin, Limits.Everything) == at(0 -> 10))
    run.log.clusterId = Some("cluster-a")
    assert(run.start().advance(begin, Limits.Everything) == at(0 -> 10))
  }
}
