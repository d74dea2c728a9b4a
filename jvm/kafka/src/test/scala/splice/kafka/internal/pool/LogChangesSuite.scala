// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.pool

import java.time.Duration

import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.consumer.OffsetOutOfRangeException
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.SimulatedRun.range
import splice.kafka.internal.metrics.TaskReads
import splice.kafka.internal.options.TopicRecreated
import splice.kafka.internal.reader.SlotWorld
import splice.kafka.internal.split.{Holes, KafkaSplitRange}
import splice.kafka.internal.topicids.BackgroundRequest
import splice.source.errors.SpliceException
import splice.source.runtime.Report
import splice.source.{LogPartition, Poll}
import splice.testkit.LoggedMessages
import splice.testkit.internal.Patient

/** Tests of logs that change after the plan of a batch, with Kafka's MockConsumer. */
final class LogChangesSuite extends AnyFunSuite {

  test("a truncated log fails each attempt of a task, with the offsets whose records differ") {
    val w = new SlotWorld
    w.client.hold(0, 0, 150)
    w.client.truncated = Some(w.client.p(0))
    w.client.divergent = Some(50)
    (1 to 2).foreach { _ =>
      val error = intercept[SpliceException](w.read(of("t", 0, 100, 110)))
      assert(error.getCondition == "SPLICE_KAFKA_DATA.DATA_LOSS" && error.getMessage.contains("t-0 [50, 100)"))
    }
    w.client.bring(0, 40)
    assert(w.read(of("t", 0, 40, 41)) == Seq(0 -> 40L), "the new records are read from before the truncation")
    val warned = new SlotWorld(fail = false)
    warned.client.hold(0, 0, 150)
    warned.client.truncated = Some(warned.client.p(0))
    warned.client.bring(0, 100, 101)
    val messages = lost(assert(warned.read(of("t", 0, 100, 102)).map(_._2) == Seq(100L, 101L)))
    assert(messages.size == 1 && messages.head.contains("t-0 [0, 100)"), messages)
  }

  test("polled records are returned before a truncation of another partition is handled") {
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
    "the warning and the report for a topic that is recreated during a read have all unreturned offsets"
  ) {
    def warnings(planned: KafkaSplitRange, count: Int): Seq[String] = {
      val w = new SlotWorld(recreated = TopicRecreated.Restart)
      w.client.bring(0, 0, 1)
      w.recreate(2, 3, 4)
      val reader           = w.reader(planned)
      val (rows, messages) = LoggedMessages.during("splice.kafka.internal.errors.DataLoss")(SlotWorld.drain(reader))
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

  test("if a topic is deleted during its batch, the other topics continue and the policy applies") {
    val patience = Duration.ofSeconds(2)
    val warned   = new SlotWorld(timeout = patience, failRemoved = false, simulated = true)
    deleteWhileRead(warned)
    val messages = lost(assert(warned.read(range(0, 0, 3), of("u", 0, 0, 9)).map(_._2) == Seq(0L, 1L, 2L)))
    assert(messages.size == 1 && messages.head.contains("u-0 [0, 9)"), messages)
    assert(warned.client.assignment.asScala == Set(warned.client.p(0)) && warned.returned == 1)

    val failed = new SlotWorld(timeout = patience, failRemoved = true, simulated = true)
    deleteWhileRead(failed)
    val error = intercept[SpliceException](failed.read(range(0, 0, 3), of("u", 0, 0, 9)))
    assert(error.getCondition == "SPLICE_KAFKA_DATA.DATA_LOSS" && error.getMessage.contains("u-0 [0, 9)"))
  }

  test("a deleted topic causes no pause while another topic of the slot is read") {
    val w = new SlotWorld
    w.deleted = Set("u")
    (0L until 20L).foreach(o => w.client.bring(0, o))
    val r = w.reader(of("t", 0, 0, 20), of("u", 0, 0, 9))
    (0 until 20).foreach(_ => assert(r.poll(Poll.Forever) == Poll.Found))
    assert(w.requests == 1)
    r.close()
  }

  test("a topic that one task found deleted causes no wait of later tasks, even if the policy is fail") {
    Seq(true, false).foreach { fails =>
      val w = new SlotWorld(timeout = Duration.ofSeconds(2), failRemoved = fails, simulated = true)
      w.deleted = Set("u")
      w.responses += 1
      if (fails) intercept[SpliceException](w.read(of("u", 0, 0, 9)))
      else assert(lost(w.read(of("u", 0, 0, 9))).size == 1)
      // A result Poll.Pending would mean a wait for records.
      val later = w.reader(of("u", 1, 0, 4))
      if (fails) intercept[SpliceException](later.poll(Duration.ZERO))
      else {
        val messages = lost(assert(later.poll(Duration.ZERO) == Poll.Ended))
        assert(messages.size == 1 && messages.head.contains("u-1 [0, 4)"), messages)
      }
      later.close()
    }
  }

  test("a topic that one task found deleted is read by a later task if it exists, as after a stale response") {
    val w = new SlotWorld(timeout = Duration.ofSeconds(2), failRemoved = false, simulated = true)
    w.deleted = Set("u")
    w.responses += 1
    assert(lost(w.read(of("u", 0, 0, 9))).size == 1)
    w.deleted = Set.empty
    w.client.schedulePollTask(() => w.client.add(w.client.u(1), 0, 1))
    assert(w.read(of("u", 1, 0, 2)).map(_._2) == Seq(0L, 1L))
  }

  test("reading continues after a topic was missing for one response") {
    val w = new SlotWorld(timeout = Duration.ofSeconds(8), failRemoved = false, simulated = true)
    w.deleted = Set("u")
    w.responses += 1
    val r = w.reader(of("u", 0, 0, 2))
    while (w.requests < 2) assert(r.poll(Duration.ofMillis(10)) == Poll.Pending)
    w.deleted = Set.empty
    w.client.schedulePollTask(() => w.client.add(w.client.u(0), 0, 1))
    assert(SlotWorld.drain(r).map(_._2) == Seq(0L, 1L))
    r.close()
  }

  test("reading continues after a topic was missing twice, with any time between the responses") {
    val w = new SlotWorld(timeout = Duration.ofSeconds(8), failRemoved = false, simulated = true)
    val r = w.reader(of("u", 0, 0, 2))
    def response(deleted: String*): Unit = {
      val before = w.requests
      w.deleted = deleted.toSet
      w.responses += 1
      while (w.requests == before) assert(r.poll(Duration.ofMillis(10)) == Poll.Pending)
    }
    response("u")
    // A topic counts as deleted if it is missing for half the timeout.
    val later = w.client.now + Duration.ofMillis(4100).toNanos
    response()
    while (w.client.now < later) assert(r.poll(Duration.ofMillis(10)) == Poll.Pending)
    response("u")
    response()
    w.client.schedulePollTask(() => w.client.add(w.client.u(0), 0, 1))
    assert(SlotWorld.drain(r).map(_._2) == Seq(0L, 1L))
    r.close()
  }

  test("the poll timeout applies after each record, and not to all records together") {
    val w = new SlotWorld(timeout = Duration.ofSeconds(5), simulated = true)
    w.client.hold(0, 0, 6)
    val r = w.reader(range(0, 0, 6))
    (0L until 6L).foreach { offset =>
      val later = w.client.now + Duration.ofSeconds(1).toNanos
      while (w.client.now < later) assert(r.poll(Duration.ofMillis(10)) == Poll.Pending)
      w.client.bring(0, offset)
      assert(r.poll(Poll.Forever) == Poll.Found)
    }
    assert(r.poll(Poll.Forever) == Poll.Ended)
    r.close()
  }

  test("a topic that no task has read for ten metadata responses is unassigned") {
    val w = new SlotWorld
    w.client.bring(0, 0)
    w.client.schedulePollTask(() => w.client.add(w.client.u(0), 0))
    w.read(range(0, 0, 1), of("u", 0, 0, 1))
    (1L to 30L).foreach { o =>
      w.client.bring(0, o)
      w.read(range(0, o, o + 1))
      assert(w.client.assignment.contains(w.client.u(0)), "no metadata response has arrived")
    }
    w.responses += 10
    w.client.bring(0, 31)
    w.read(range(0, 31, 32))
    assert(w.client.assignment.asScala == Set(w.client.p(0)))
    w.client.bring(0, 32)
    w.client.schedulePollTask(() => w.client.add(w.client.u(0), 1))
    assert(w.read(range(0, 32, 33), of("u", 0, 1, 2)).map(_._2) == Seq(32L, 1L))
  }

  test("a consumer that may have records of a topic is not used for a recreated topic of that name") {
    val w = new SlotWorld
    w.client.bring(0, 0)
    val r = w.reader(of("t", 0, 0, 1), of("u", 0, 0, 9))
    assert(r.poll(Poll.Forever) == Poll.Found)
    r.close()
    assert(w.returned == 1 && w.consumer.allows(Map("u" -> "other")) && !w.consumer.allows(Map("u" -> "third")))
  }

  /** Makes the next poll fail because the log does not have these positions. */
  private def outOfRange(w: SlotWorld, positions: (Int, Long)*): Unit = w.client.schedulePollTask { () =>
    throw new OffsetOutOfRangeException(positions.map { case (p, at) => w.client.p(p) -> Long.box(at) }.toMap.asJava)
  }

  private def lost(body: => Any): Seq[String] = LoggedMessages.during("splice.kafka.internal.errors.DataLoss")(body)._2

  test("onOutOfRange applies to a position before the log, and failOnDataLoss to a position after its end") {
    def before(w: SlotWorld) = {
      w.client.hold(0, 3, 6)
      outOfRange(w, 0 -> 1L)
      w.client.bring(0, 3, 4, 5)
      w.read(range(0, 1, 6)).map(_._2)
    }
    def after(w: SlotWorld) = {
      w.client.hold(0, 0, 5)
      outOfRange(w, 0 -> 7L)
      w.read(range(0, 7, 9)).map(_._2)
    }
    def error(body: => Any) = {
      val found = intercept[SpliceException](body)
      assert(found.getCondition == "SPLICE_KAFKA_DATA.DATA_LOSS")
      found.getMessage
    }
    assert(lost(assert(before(new SlotWorld(failOutOfRange = Some(false))) == Seq(3, 4, 5))).size == 1)
    assert(error(after(new SlotWorld(failOutOfRange = Some(false)))).contains("t-0 [7, 9)"))
    assert(error(before(new SlotWorld(fail = false, failOutOfRange = Some(true)))).contains("t-0 [1, 3)"))
    val messages = lost(assert(after(new SlotWorld(fail = false, failOutOfRange = Some(true))).isEmpty))
    assert(messages.size == 1 && messages.head.contains("t-0 [7, 9)"), messages)
  }

  test("a log that ends before an open range fails, or is read from its end with a report of the loss") {
    def world(fail: Boolean) = {
      val w = new SlotWorld(fail)
      w.client.hold(0, 0, 5)
      outOfRange(w, 0 -> 7L)
      w.client.bring(0, 5, 6)
      w -> w.reader(range(0, 7, Long.MaxValue))
    }
    assert(intercept[SpliceException](world(fail = true)._2.poll(Poll.Forever)).getMessage.contains("t-0 [7, end)"))
    val (w, reader) = world(fail = false)
    val messages    = lost {
      assert(Seq(5L, 6L).forall { offset =>
        reader.poll(Poll.Forever) == Poll.Found && reader.get().getLong(4) == offset
      })
      assert(reader.unread == Seq(range(0, 7, Long.MaxValue)) && w.client.seeks.contains(0 -> 5L))
    }
    assert(messages.size == 1 && messages.head.contains("t-0 [7, end)"), messages)
  }

  test("each of several partitions with removed records logs a warning and is read from its first record") {
    val w = new SlotWorld(fail = false)
    w.client.hold(0, 3, 6)
    w.client.hold(1, 9, 12)
    outOfRange(w, 0 -> 1L, 1 -> 2L)
    w.client.bring(0, 3, 4)
    val messages = lost(assert(w.read(range(0, 1, 5), range(1, 2, 4)) == Seq(0 -> 3L, 0 -> 4L)))
    assert(messages.size == 2 && messages.exists(_.contains("t-0 [1, 3)")), messages)
    assert(messages.exists(_.contains("t-1 [2, 4)")), "at most the planned range")
  }

  test("a log that ends before its range ends only that range, and the other partitions continue") {
    val w = new SlotWorld(fail = false, timeout = Duration.ofMillis(400), simulated = true)
    w.client.hold(0, 0, 2)
    w.client.hold(1, 0, 3)
    w.client.bring(0, 0, 1)
    val reader   = w.reader(range(0, 0, 4), range(1, 0, 3))
    val messages = lost {
      (0 to 1).foreach(_ => assert(reader.poll(Poll.Forever) == Poll.Found))
      while (!w.client.paused.contains(w.client.p(0))) assert(reader.poll(Duration.ofMillis(10)) == Poll.Pending)
      w.client.bring(1, 0, 1, 2)
      assert(SlotWorld.drain(reader) == Seq(1 -> 0L, 1 -> 1L, 1 -> 2L))
    }
    assert(messages.size == 1 && messages.head.contains("t-0 [2, 4)") && !messages.head.contains("t-1"), messages)
    reader.close()
  }

  test("an outdated end before the end of a range is not a loss, with any value of failOnDataLoss") {
    Seq(true, false).foreach { fail =>
      val w = new SlotWorld(fail, timeout = Duration.ofMillis(50))
      w.client.hold(0, 0, 2)
      w.written = Map(w.client.p(0) -> 4L)
      w.client.bring(0, 0, 1)
      val reader = w.reader(range(0, 0, 4))
      assert(reader.poll(Poll.Forever) == Poll.Found && reader.poll(Poll.Forever) == Poll.Found)
      unavailable(reader.poll(Poll.Forever), "t-0 at offset 2 of [0, 4)")
      reader.close()
      assert(w.client.closed && w.returned == 0, "another client may have the current leader")
    }
  }

  test("a log that ends before its range, with records that the reader has not received, is not skipped") {
    val w = new SlotWorld(fail = false, timeout = Duration.ofMillis(50))
    w.client.hold(0, 0, 2)
    w.written = Map(w.client.p(0) -> 3L)
    w.client.bring(0, 0, 1)
    unavailable(w.read(range(0, 0, 4)), "t-0 at offset 2 of [0, 4)")
  }

  test("an outdated end before a position is not a loss, for ranges with and without an end") {
    for (fail <- Seq(true, false); until <- Seq(9L, Long.MaxValue)) {
      val w = new SlotWorld(fail)
      w.client.hold(0, 0, 5)
      w.written = Map(w.client.p(0) -> 7L)
      outOfRange(w, 0 -> 7L)
      unavailable(w.read(range(0, 7, until)), "t-0 at offset 7")
      assert(w.client.seeks == Seq(0 -> 7L))
    }
  }

  test("an end that the cluster does not confirm is not a loss") {
    val w = new SlotWorld(fail = false, timeout = Duration.ofMillis(50))
    w.client.hold(0, 0, 5)
    w.silent = Set(w.client.p(0))
    outOfRange(w, 0 -> 7L)
    unavailable(w.read(range(0, 7, 9)), "t-0 at offset 7 of [7, 9)")
    unavailable(w.read(range(0, 5, 9)), "t-0 at offset 5 of [5, 9)")
  }

  private def unavailable(read: => Any, partition: String): Unit = {
    val messages = lost {
      val error = intercept[SpliceException](read)
      assert(error.getCondition == "SPLICE_KAFKA_CONNECTION.PARTITION_UNAVAILABLE", error)
      assert(error.getMessage.contains(partition), error)
    }
    assert(messages.isEmpty)
  }

  test("if one of two topics is recreated during a read, the other topic is read to its end") {
    val w = new SlotWorld(recreated = TopicRecreated.Restart)
    w.client.bring(0, 0, 1)
    w.recreate(2, 3)
    w.client.schedulePollTask(() => w.client.add(w.client.u(0), 0, 1))
    val messages = lost {
      val rows = w.read(of("t", 0, 0, 4), of("u", 0, 0, 2))
      assert(rows.map(_._2) == Seq(0L, 1L, 0L, 1L))
    }
    assert(messages.size == 1 && messages.head.contains("t-0 [2, 4)") && !messages.head.contains("u-0"), messages)
    assert(w.client.closed && w.returned == 0)
  }

  test("the records of a recreated topic do not delay the end of a range without records") {
    val w = new SlotWorld(recreated = TopicRecreated.Restart)
    w.client.bring(0, 0, 1)
    w.recreate(2, 3)
    w.client.schedulePollTask { () =>
      assert(!w.client.assignment.contains(w.client.p(0)) || w.client.paused.contains(w.client.p(0)))
      w.client.seek(w.client.u(0), 2)
    }
    val messages = lost(assert(w.read(of("t", 0, 0, 4), of("u", 0, 0, 2)).map(_._2) == Seq(0L, 1L)))
    assert(messages.size == 1 && w.client.closed && w.returned == 0)
  }

  test("an open range of a deleted topic ends if requests run on another thread") {
    assert(readDeleted(pause = Duration.ofSeconds(1)).found.isDeleted("other"))
  }

  test("an open range of a topic that another task found deleted ends soon if requests run on another thread") {
    // Without the other task, the topic counts as deleted after ten seconds.
    val w = readDeleted(pause = Duration.ZERO, "other")
    assert(w.client.now == Duration.ofSeconds(1).toNanos)
  }

  /** Reads a deleted topic to its end. Simulated time passes between polls. */
  private def readDeleted(pause: Duration, known: String*): SlotWorld = {
    val w = new SlotWorld(failRemoved = false, request = new BackgroundRequest(_), simulated = true)
    known.foreach(w.found.deleted)
    w.deleted = Set("u")
    val reader   = w.reader(of("u", 0, 0, Long.MaxValue))
    val messages = lost {
      def isEnded(patience: Duration) = reader.poll(patience) == Poll.Ended
      // The reader requests missing topics after a poll of one second without records.
      if (!isEnded(Duration.ofSeconds(1))) Patient.until("the end of the range") {
        w.client.now += pause.toNanos
        isEnded(Duration.ZERO)
      }
    }
    reader.close()
    assert(messages.size == 1 && messages.head.contains("u-0 [0, end)"), messages)
    w
  }

  private def of(topic: String, partition: Int, from: Long, until: Long): KafkaSplitRange =
    KafkaSplitRange(LogPartition(topic, partition), from, until)(Some(if (topic == "u") "other" else "first"))

  /** After the first poll, each poll without records occurs after a metadata response, as with a real client. */
  private def deleteWhileRead(w: SlotWorld): Unit = {
    w.client.schedulePollTask { () =>
      w.client.add(w.client.p(0), 0, 1, 2)
      w.deleted = Set("u")
      w.responses += 1
    }
  }
}
