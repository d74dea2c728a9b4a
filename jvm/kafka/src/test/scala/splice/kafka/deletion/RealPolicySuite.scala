// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.deletion

import java.time.{Clock, Duration}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.kafka.clients.admin.RecordsToDelete
import org.apache.kafka.common.TopicPartition
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.KafkaFailures
import splice.kafka.broker.RealLog
import splice.source.runtime.Boundedness
import splice.source.{EnumeratorContext, ReadMode, SplitEnumerator}
import splice.testkit.internal.broker.SharedKafka

/** Tests of policies for changed logs with a real broker. */
final class RealPolicySuite extends AnyFunSuite with KafkaFailures {

  private lazy val real = new RealLog(SharedKafka.east)

  private val earliest = "startingOffsets"   -> "earliest"
  private val rarely   = "discoveryInterval" -> "1h"
  private val often    = "discoveryInterval" -> "200ms"

  private def offsets(topic: String)(of: Int*): String =
    of.zipWithIndex.map { case (o, p) => s""""$p":$o""" }.mkString(s"""{"$topic":{""", ",", "}}")

  private def recreate(topic: String, records: Int): Unit = {
    real.delete(topic)
    real.create(topic, 1)
    real.write(topic, 1, 0, records)
  }

  test("the next batch detects a topic that was recreated within the discovery interval, and fails") {
    real.create("window", 1)
    real.write("window", 1, 0, 10)
    real.run(real.source("subscribe" -> "window", earliest, rarely)) { c =>
      val until = real.all(c, c.initial())
      recreate("window", 50)
      assert(failure("KAFKA_DATA.TOPIC_RECREATED")(real.moved(c, until)).contains("Topic window "))
    }
  }

  test("with restart, a recreated topic is read from its beginning, within the interval and after a restart") {
    real.create("restarts", 1)
    real.write("restarts", 1, 0, 10)
    val source = real.source("subscribe" -> "restarts", earliest, rarely, "onTopicRecreated" -> "restart")
    val log    = new MemorySideLog
    val second = real.run(source, log) { c =>
      val first = real.all(c, c.initial())
      recreate("restarts", 12)
      val until = real.moved(c, first)
      assert(until.json == """{"restarts":{"00":12}}""")
      assert(real.rows(source, c.tasks(first, until), "restarts").map(_._2) == (0L until 12L))
      until
    }
    recreate("restarts", 4)
    real.run(source, log, slots = 1) { c =>
      val until = real.moved(c, source.position(second.json))
      assert(until.json == """{"restarts":{"000":4}}""")
      assert(real.rows(source, c.tasks(second, until), "restarts-again").map(_._2) == (0L until 4L))
      assert(real.all(c, until) == until)
    }
  }

  test("a removed topic is dropped and no longer requested, and a new topic of its name is read") {
    real.create("exits", 1)
    real.create("rests", 1)
    real.write("exits", 1, 0, 5)
    real.write("rests", 1, 0, 5)
    val fast   = Seq("kafka.default.api.timeout.ms" -> "3000", "kafka.request.timeout.ms" -> "2000")
    val source = real.source(Seq("subscribePattern" -> "exits|rests", earliest, often, "onTopicRemoved" -> "drop") ++
      fast: _*)
    real.run(source) { c =>
      val one = real.all(c, c.initial())
      real.delete("exits")
      val at = real.until(c, one)(_.json == offsets("rests")(5))
      real.write("rests", 1, 5, 8)
      val two = real.moved(c, at)
      assert(two.json == offsets("rests")(8))
      assert(Seq.fill(20)(real.all(c, two)).forall(_ == two))
      real.create("exits", 1)
      real.write("exits", 1, 0, 3)
      val three = real.until(c, two)(_ == source.position("""{"exits":{"00":3},"rests":{"0":8}}"""))
      assert(real.rows(source, c.tasks(two, three), "exits").map(_._2) == Seq(0L, 1L, 2L))
    }
  }

  test("removed records are an error when a batch is planned, or the policy sets the position to continue") {
    real.create("passed", 1)
    real.write("passed", 1, 0, 100)
    val from = offsets("passed")(10)
    real.admin(_.deleteRecords(Map(new TopicPartition("passed", 0) ->
      RecordsToDelete.beforeOffset(40)).asJava).all().get())
    def range(policy: String): String = {
      val source = real.source("subscribe" -> "passed", "onOutOfRange" -> policy)
      real.run(source)(c => c.ranges(source.position(from), real.all(c, source.position(from))).mkString)
    }
    assert(failure("KAFKA_DATA.DATA_LOSS")(range("fail")).contains("passed-0 [10, 40)"))
    assert(range("earliest") == "passed-0 [40, 100)")
    assert(range("latest") == "")
    assert(range("timestamp:1") == "passed-0 [40, 100)")
  }

  test("new partitions begin at their end with newPartitionsStartAt = latest") {
    real.create("ends", 1)
    val source = real.source("subscribePattern" -> "ends.*", earliest, often, "newPartitionsStartAt" -> "latest")
    real.run(source) { c =>
      val begin = c.initial()
      real.create("ends-later", 1)
      real.write("ends-later", 1, 0, 7)
      val at = real.until(c, begin)(_.json.contains("ends-later"))
      real.write("ends-later", 1, 7, 9)
      val until = real.moved(c, at)
      assert(real.rows(source, c.tasks(at, until), "ends").map(_._3).forall(Set("v7", "v8")))
      assert(until.json.contains(""""ends-later":{"0":9}"""))
    }
  }

  test("committed offsets are sent to the group, are flushed at the close, and can be start and end of another query") {
    real.create("group", 2)
    real.write("group", 2, 0, 100)
    val group  = "kafka.group.id" -> "lag-tool"
    val source = real.source("subscribe" -> "group", earliest, group, "commitToGroup" -> "true")
    def held   = real.admin(_.listConsumerGroupOffsets("lag-tool").partitionsToOffsetAndMetadata().get()).asScala
      .map { case (p, o) => p.partition -> o.offset }.toMap
    real.run(source) { c =>
      val begin = c.initial()
      val until = real.all(c, begin)
      assert(held.isEmpty)
      c.committed(until)
      real.eventually("the offsets are committed")(held == Map(0 -> 50, 1 -> 50))
      (51 to 70).foreach(o => c.committed(source.position(offsets("group")(o, 50))))
    }
    assert(held == Map(0 -> 70, 1 -> 50))
    real.write("group", 2, 0, 100)
    val begins = real.source("subscribe" -> "group", group, "startingOffsets" -> "committed")
    assert(real.run(begins)(_.initial().json) == offsets("group")(70, 50))
    val ends = real.source("subscribe" -> "group", group, earliest, "endingOffsets" -> "committed")
    assert(ends.boundedness == Boundedness.Bounded)
    real.run(ends) { c =>
      val until = real.all(c, c.initial())
      assert(until.json == offsets("group")(70, 50) && c.evidence(until).nonEmpty)
    }
    real.run(real.source(
      "subscribe" -> "group",
      group,
      earliest,
      "endingOffsets" -> offsets("group")(60, -1)
    ))(c => assert(real.all(c, c.initial()).json == offsets("group")(60, 100)))
  }

  test("the last commit fails while the group has members, and succeeds in a later run") {
    real.create("busy", 1)
    real.write("busy", 1, 0, 10)
    val group    = "kafka.group.id" -> "busy"
    val source   = real.source("subscribe" -> "busy", earliest, group, "commitToGroup" -> "true")
    def commit() = {
      val context = EnumeratorContext(new MemorySideLog, ReadMode.Stream, Clock.systemUTC(), 1, "run")
      Using.resource(SplitEnumerator.untyped(source, context))(_.commitEnd(source.position(offsets("busy")(7))))
    }
    def held = real.admin(_.listConsumerGroupOffsets("busy").partitionsToOffsetAndMetadata().get()).asScala
      .map { case (p, o) => p.partition -> o.offset }.toMap
    Using.resource(real.consumer("group.id" -> "busy")) { member =>
      member.subscribe(Set("busy").asJava)
      real.eventually("the member has joined") {
        val _ = member.poll(Duration.ofMillis(100))
        !member.assignment.isEmpty
      }
      assert(!commit() && held.isEmpty)
    }
    assert(commit() && held == Map(0 -> 7L))
  }

  test("a failed commit is repeated with the same offsets in the same run") {
    real.create("repeated", 1)
    real.write("repeated", 1, 0, 10)
    val source =
      real.source("subscribe" -> "repeated", earliest, "kafka.group.id" -> "repeated", "commitToGroup" -> "true")
    val context = EnumeratorContext(new MemorySideLog, ReadMode.Stream, Clock.systemUTC(), 1, "run")
    Using.resource(SplitEnumerator.untyped(source, context)) { run =>
      val end = source.position(offsets("repeated")(7))
      Using.resource(real.consumer("group.id" -> "repeated")) { member =>
        member.subscribe(Set("repeated").asJava)
        real.eventually("the member has joined") {
          val _ = member.poll(Duration.ofMillis(100))
          !member.assignment.isEmpty
        }
        assert(!run.commitEnd(end))
      }
      assert(run.commitEnd(end))
    }
    val held = real.admin(_.listConsumerGroupOffsets("repeated").partitionsToOffsetAndMetadata().get()).asScala
    assert(held.values.map(_.offset).toSeq == Seq(7L))
  }
}
