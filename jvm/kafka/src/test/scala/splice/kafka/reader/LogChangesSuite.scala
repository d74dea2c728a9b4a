// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.reader

import java.time.Duration

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.enumerator.SimulatedRun.range
import splice.kafka.lag.TaskReads
import splice.kafka.options.TopicRecreated
import splice.kafka.split.{Holes, KafkaSplitRange}
import splice.source.{LogPartition, Poll, Report, SpliceException}
import splice.testkit.LoggedMessages

/** Logs that change after a batch was planned, read over Kafka's own mock of a consumer. */
final class LogChangesSuite extends AnyFunSuite {

  test("records that a poll returned are handed over before a truncation of another partition is applied") {
    val w = new SlotWorld(fail = false)
    w.client.hold(1, 0, 4)
    w.client.schedulePollTask { () =>
      w.client.add(w.client.p(0), 0, 1, 2)
      w.client.truncated = Some(w.client.p(1))
    }
    w.client.bring(1, 1, 2, 3)
    val read = w.read(range(0, 0, 3), range(1, 0, 4))
    assert(read == Seq(0 -> 0L, 0 -> 1L, 0 -> 2L, 1 -> 1L, 1 -> 2L, 1 -> 3L))
  }

  test(
    "the warning and the report for a topic that is created again while it is read have all offsets that were not handed over"
  ) {
    def warnings(planned: KafkaSplitRange, count: Int): Seq[String] = {
      val w = new SlotWorld(recreated = TopicRecreated.Restart)
      w.client.bring(0, 0, 1)
      w.recreate(2, 3, 4)
      val reader           = w.reader(planned)
      val (rows, messages) = LoggedMessages.during("splice.kafka.DataLoss")(SlotWorld.drain(reader))
      reader.close()
      assert(rows == Seq(0 -> 0L, 0 -> 1L))
      assert(reader.report(ended = true).collect { case Report(_, own: TaskReads) => own.skipped } == Seq(count))
      messages
    }
    val lost = warnings(of("t", 0, 0, 4), 2)
    assert(lost.size == 1 && lost.head.contains("t-0 [2, 4)"), lost)
    val holes   = Holes(Vector(0L -> 2L, 3L -> 4L, 7L -> 9L), None)
    val ofHoles = warnings(KafkaSplitRange(LogPartition("t", 0), 0, 9, Some(holes))(Some("first")), 3)
    assert(ofHoles.size == 1 && ofHoles.head.contains("t-0 [3, 4), t-0 [7, 9)"), ofHoles)
  }

  test("a topic that is deleted while its batch is read: the others continue, and the policy decides") {
    val patience = Duration.ofSeconds(2)
    val warned   = new SlotWorld(timeout = patience, failRemoved = false)
    deleteWhileRead(warned)
    assert(warned.read(range(0, 0, 3), of("u", 0, 0, 9)).map(_._2) == Seq(0L, 1L, 2L))
    assert(warned.client.assignment.asScala == Set(warned.client.p(0)) && warned.returned == 1)

    val failed = new SlotWorld(timeout = patience, failRemoved = true)
    deleteWhileRead(failed)
    val error = intercept[SpliceException](failed.read(range(0, 0, 3), of("u", 0, 0, 9)))
    assert(error.getCondition == "SPLICE_KAFKA.DATA_LOSS" && error.getMessage.contains("u-0"))
  }

  test("a deleted topic costs no pause while another topic of the slot is read") {
    val w = new SlotWorld
    w.deleted = Set("u")
    (0L until 20L).foreach(o => w.client.bring(0, o))
    val r = w.reader(of("t", 0, 0, 20), of("u", 0, 0, 9))
    (0 until 20).foreach(_ => assert(r.poll(Poll.Forever) == Poll.Found))
    assert(w.questions == 1)
    r.close()
  }

  test("a topic that is missing for a moment only is read on") {
    val w = new SlotWorld(timeout = Duration.ofSeconds(8), failRemoved = false)
    w.deleted = Set("u")
    w.responses += 1
    val r = w.reader(of("u", 0, 0, 2))
    while (w.questions < 2) assert(r.poll(Duration.ofMillis(10)) == Poll.Pending)
    w.deleted = Set.empty
    w.client.schedulePollTask(() => w.client.add(w.client.u(0), 0, 1))
    assert(SlotWorld.drain(r).map(_._2) == Seq(0L, 1L))
    r.close()
  }

  test("a topic that is missing for two moments is read on, however long the time between them") {
    val w                              = new SlotWorld(timeout = Duration.ofSeconds(8), failRemoved = false)
    val r                              = w.reader(of("u", 0, 0, 2))
    def answer(deleted: String*): Unit = {
      val before = w.questions
      w.deleted = deleted.toSet
      w.responses += 1
      while (w.questions == before) assert(r.poll(Duration.ofMillis(10)) == Poll.Pending)
    }
    answer("u")
    // A topic counts as deleted if it is missing for half the timeout.
    val later = System.nanoTime() + Duration.ofMillis(4100).toNanos
    answer()
    while (System.nanoTime() < later) assert(r.poll(Duration.ofMillis(10)) == Poll.Pending)
    answer("u")
    answer()
    w.client.schedulePollTask(() => w.client.add(w.client.u(0), 0, 1))
    assert(SlotWorld.drain(r).map(_._2) == Seq(0L, 1L))
    r.close()
  }

  test("a topic that no task has read for ten metadata responses is not assigned any more") {
    val w = new SlotWorld
    w.client.bring(0, 0)
    w.client.schedulePollTask(() => w.client.add(w.client.u(0), 0))
    w.read(range(0, 0, 1), of("u", 0, 0, 1))
    (1L to 30L).foreach { o =>
      w.client.bring(0, o)
      w.read(range(0, o, o + 1))
      assert(w.client.assignment.contains(w.client.u(0)), "no metadata response has come")
    }
    w.responses += 10
    w.client.bring(0, 31)
    w.read(range(0, 31, 32))
    assert(w.client.assignment.asScala == Set(w.client.p(0)))
    w.client.bring(0, 32)
    w.client.schedulePollTask(() => w.client.add(w.client.u(0), 1))
    assert(w.read(range(0, 32, 33), of("u", 0, 1, 2)).map(_._2) == Seq(32L, 1L))
  }

  test("a consumer that may have records of a topic is not used for another topic of that name") {
    val w = new SlotWorld
    w.client.bring(0, 0)
    val r = w.reader(of("t", 0, 0, 1), of("u", 0, 0, 9))
    assert(r.poll(Poll.Forever) == Poll.Found)
    r.close()
    assert(w.returned == 1 && w.consumer.allows(Map("u" -> "other")) && !w.consumer.allows(Map("u" -> "third")))
  }

  private def of(topic: String, partition: Int, from: Long, until: Long): KafkaSplitRange =
    KafkaSplitRange(LogPartition(topic, partition), from, until)(Some(if (topic == "u") "other" else "first"))

  /** After the first poll, each poll without records takes place after a metadata response, as with a real client. */
  private def deleteWhileRead(w: SlotWorld): Unit = {
    w.client.schedulePollTask { () =>
      w.client.add(w.client.p(0), 0, 1, 2)
      w.deleted = Set("u")
      w.responses += 1
    }
  }
}
