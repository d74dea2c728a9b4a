// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.reader

import java.time.Duration
import java.util.concurrent.CountDownLatch

import scala.jdk.CollectionConverters._

import org.apache.kafka.common.KafkaException
import org.apache.kafka.common.errors.InterruptException
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.SimulatedRun.{range, t}
import splice.kafka.internal.metrics.{KafkaMetrics, TaskReads}
import splice.kafka.internal.options.TopicRecreated
import splice.kafka.internal.split.KafkaSplitRange
import splice.source.Poll
import splice.source.errors.SpliceException
import splice.source.runtime.Report
import splice.testkit.internal.Patient

/** Tests of seeks, pauses and the return of consumers by readers, with Kafka's MockConsumer. */
final class KafkaSplitReaderSuite extends AnyFunSuite {

  test("a reader reads its ranges with one consumer and returns the consumer once") {
    val w = new SlotWorld
    w.client.bring(0, 5, 6, 7)
    w.client.bring(1, 0, 1)
    assert(w.read(range(0, 5, 8), range(1, 0, 2)).sorted == Seq(0 -> 5L, 0 -> 6L, 0 -> 7L, 1 -> 0L, 1 -> 1L))
    assert(w.client.seeks.sorted == Seq(0 -> 5L, 1 -> 0L))
    assert(w.returned == 1 && !w.client.closed)
    assert(w.client.paused.asScala == Set(w.client.p(0), w.client.p(1)))
  }

  test("a reader reports its records and its open, even if it is closed before the end of its ranges") {
    val w = new SlotWorld
    w.client.bring(0, 5, 6, 7)
    w.client.bring(1, 0, 1)
    Seq[(Seq[KafkaSplitRange], Map[Int, Long], Boolean)](
      (Seq(range(0, 5, 8)), Map(0 -> 3L), true),
      (Seq(range(1, 0, 9)), Map(1 -> 2L), false)
    ).foreach { case (ranges, rows, isRead) =>
      val reader = w.reader(ranges: _*)
      rows.valuesIterator.foreach(n => (0L until n).foreach(_ => assert(reader.poll(Duration.ZERO) == Poll.Found)))
      val last = reader.poll(Duration.ZERO)
      assert((last == Poll.Ended) == isRead)
      val Seq(Report("run", found: TaskReads)) = reader.report(last == Poll.Ended): @unchecked
      assert(found.partitions.map { case (p, read) => p.partition -> read.rows } == rows)
      assert(found.opened + found.reused == 1)
      reader.close()
    }
  }

  test("a poll without a wait sends a request and loses no record of the later response") {
    val w = new SlotWorld
    w.client.schedulePollTask(() => ())
    w.client.bring(0, 5, 6, 7)
    w.client.schedulePollTask(() => ())
    w.client.bring(0, 8)
    val reader = w.reader(range(0, 5, 9))
    val poll   = () => reader.poll(Duration.ZERO)
    assert(Seq.fill(4)(poll()) == Seq(Poll.Pending, Poll.Found, Poll.Found, Poll.Found))
    assert(reader.get().getLong(4) == 7)
    assert(Seq.fill(2)(poll()) == Seq(Poll.Pending, Poll.Found))
    assert(reader.get().getLong(4) == 8)
    assert(Seq.fill(2)(poll()) == Seq(Poll.Ended, Poll.Ended))
    reader.close()
    assert(w.returned == 1)
  }

  test("leftover records of a poll begin the next range, without a seek") {
    val w = new SlotWorld
    w.client.bring(0, 0, 1, 2, 3, 4)
    assert(w.read(range(0, 0, 2)) == Seq(0 -> 0L, 0 -> 1L))
    assert(w.read(range(0, 2, 4)) == Seq(0 -> 2L, 0 -> 3L))
    w.client.bring(0, 5, 6)
    assert(w.read(range(0, 4, 7)) == Seq(0 -> 4L, 0 -> 5L, 0 -> 6L))
    assert(w.client.seeks == Seq(0 -> 0L))
  }

  test("a range with another start needs a seek, and leftover records are dropped") {
    val w = new SlotWorld
    w.client.bring(0, 0, 1, 2, 3, 4)
    w.read(range(0, 0, 2))
    w.client.bring(0, 1, 2, 3)
    assert(w.read(range(0, 1, 3)) == Seq(0 -> 1L, 0 -> 2L))
    assert(w.client.seeks == Seq(0 -> 0L, 0 -> 1L))
    assert(w.consumer.fits(Seq(range(0, 3, 9))) == 1 && w.consumer.fits(Seq(range(0, 2, 9))) == 0)
  }

  test("a range ends by position, because markers and compaction may remove its last record") {
    val w = new SlotWorld
    w.client.bring(0, 0, 1)
    w.client.schedulePollTask(() => w.client.seek(w.client.p(0), 5))
    assert(w.read(range(0, 0, 5)) == Seq(0 -> 0L, 0 -> 1L))
  }

  test("a range that ends without a record causes no wait after the other ranges have ended") {
    val w = new SlotWorld
    w.client.schedulePollTask { () =>
      w.client.add(w.client.p(0), 0, 1, 2)
      w.client.seek(w.client.p(1), 5)
    }
    assert(w.read(range(0, 0, 3), range(1, 0, 5)) == Seq(0 -> 0L, 0 -> 1L, 0 -> 2L))
    assert(w.client.timeouts.size > 1 && w.client.timeouts.tail.forall(_.isZero), w.client.timeouts)
  }

  test("a poll waits if a range of the last records is not at its end, or if the last poll returned no record") {
    val w = new SlotWorld
    w.client.bring(0, 0, 1)
    w.client.bring(0, 2)
    w.client.schedulePollTask(() => ())
    w.client.bring(1, 0)
    assert(w.read(range(0, 0, 3), range(1, 0, 1)).size == 4)
    assert(w.client.timeouts.map(_.isZero) == Seq(false, false, true, false))
  }

  test("a range ends when the next record is after its end, and the next range begins with that record") {
    val w = new SlotWorld
    w.client.bring(0, 0, 9)
    assert(w.read(range(0, 0, 5)) == Seq(0 -> 0L))
    assert(w.read(range(0, 5, 8)).isEmpty)
    assert(w.read(range(0, 8, 10)) == Seq(0 -> 9L))
    assert(w.client.seeks == Seq(0 -> 0L))
  }

  test("a reused consumer after the end of a range reads nothing and does not wait") {
    val w = new SlotWorld
    w.client.schedulePollTask(() => w.client.seek(w.client.p(0), 9))
    assert(w.read(range(0, 0, 5)).isEmpty)
    assert(w.read(range(0, 5, 8)).isEmpty)
  }

  test("partitions without offsets to read stay paused") {
    val w = new SlotWorld
    w.client.bring(0, 0, 1)
    w.client.bring(1, 0, 1)
    w.read(range(0, 0, 2), range(1, 0, 2))
    w.client.bring(0, 2)
    w.client.schedulePollTask(() => assert(w.client.paused.asScala == Set(w.client.p(1))))
    assert(w.read(range(0, 2, 3)) == Seq(0 -> 2L))
  }

  test("a reader that is closed early returns its consumer once, and the next task seeks to the first unread record") {
    val w = new SlotWorld
    w.client.bring(0, 0, 1, 2)
    val r = w.reader(range(0, 0, 3))
    assert(r.poll(Poll.Forever) == Poll.Found)
    r.close()
    r.close()
    assert(!w.client.closed && w.returned == 1)
    w.client.bring(0, 0, 1, 2)
    assert(w.read(range(0, 0, 3)) == Seq(0 -> 0L, 0 -> 1L, 0 -> 2L))
    assert(w.client.seeks == Seq(0 -> 0L, 0 -> 0L) && w.returned == 2)
  }

  test("a failed reader, or a reader that another thread closes, closes its consumer") {
    val read = new SlotWorld
    read.client.bring(0, 0, 1, 2)
    val r      = read.reader(range(0, 0, 3))
    val thread = new Thread(() => { val _ = r.poll(Poll.Forever) })
    thread.start()
    thread.join()
    r.close()
    assert(read.client.closed && read.returned == 0)

    val failed = new SlotWorld
    failed.client.setPollException(new KafkaException("refused"))
    val other = failed.reader(range(0, 0, 3))
    intercept[SpliceException](other.poll(Poll.Forever))
    other.close()
    assert(failed.client.closed && failed.returned == 0)
  }

  test("a reader that is closed by an interrupted thread closes its consumer") {
    val w = new SlotWorld
    w.client.bring(0, 0, 1, 2)
    val r = w.reader(range(0, 0, 3))
    assert(r.poll(Poll.Forever) == Poll.Found)
    Thread.currentThread().interrupt()
    r.close()
    assert(Thread.interrupted() && w.client.closed && w.returned == 0)
  }

  test("an interrupt is an InterruptedException, and the consumer is closed") {
    val w = new SlotWorld
    w.client.schedulePollTask(() => throw new InterruptException("stop"))
    val r = w.reader(range(0, 0, 3))
    intercept[InterruptedException](r.poll(Poll.Forever))
    assert(!Thread.currentThread().isInterrupted)
    Thread.currentThread().interrupt()
    r.close()
    assert(Thread.interrupted() && w.client.closed)
  }

  test("another thread may close a reader during a poll") {
    val w       = new SlotWorld
    val polling = new CountDownLatch(1)
    w.client.schedulePollTask(() => polling.countDown())
    val r                                  = w.reader(range(0, 0, 3))
    @volatile var ended: Option[Throwable] = None
    val thread                             = new Thread(() =>
      try while (r.poll(Poll.Forever) == Poll.Found) ()
      catch { case e: Throwable => ended = Some(e) }
    )
    thread.start()
    polling.await()
    r.close()
    thread.join(Patient.Limit.toMillis)
    assert(ended.exists(_.isInstanceOf[InterruptedException]) && w.client.closed && w.returned == 0)
  }

  test("removed records are an error with partition and range, or are skipped with a warning") {
    val failing = new SlotWorld
    failing.client.hold(0, 3, 6)
    failing.client.bring(0, 3, 4, 5)
    val error = intercept[SpliceException](failing.read(range(0, 1, 6)))
    assert(error.getCondition == "SPLICE_KAFKA_DATA.DATA_LOSS" && error.getMessage.contains("t-0 [1, 3)"))

    val warning = new SlotWorld(fail = false)
    warning.client.hold(0, 3, 6)
    warning.client.bring(0, 3, 4, 5)
    assert(warning.read(range(0, 1, 6)) == Seq(0 -> 3L, 0 -> 4L, 0 -> 5L))

    val whole = new SlotWorld(fail = false)
    whole.client.hold(0, 9, 12)
    whole.client.bring(0, 9, 10)
    assert(whole.read(range(0, 1, 6)).isEmpty)
  }

  test("a poll timeout is an error with the position") {
    val w = new SlotWorld(timeout = Duration.ofMillis(50))
    w.client.hold(0, 0, 10)
    w.client.bring(0, 0, 1)
    val error = intercept[SpliceException](w.read(range(0, 0, 4)))
    assert(error.getCondition == "SPLICE_KAFKA_CONNECTION.PARTITION_UNAVAILABLE")
    assert(error.getMessage.contains("50 ms") && error.getMessage.contains("t-0 at offset 2 of [0, 4)"))
  }

  test("a log that ends before the range is data loss") {
    val w = new SlotWorld(timeout = Duration.ofMillis(50))
    w.client.hold(0, 0, 2)
    w.client.bring(0, 0, 1)
    val error = intercept[SpliceException](w.read(range(0, 0, 4)))
    assert(error.getCondition == "SPLICE_KAFKA_DATA.DATA_LOSS" && error.getMessage.contains("t-0 [2, 4)"))
  }

  test("with a warning, reading continues at the end of a range if the log ends before the range") {
    val w = new SlotWorld(fail = false, timeout = Duration.ofMillis(50))
    w.client.hold(0, 0, 2)
    w.client.bring(0, 0, 1)
    assert(w.read(range(0, 0, 4)) == Seq(0 -> 0L, 0 -> 1L))
    w.client.bring(0, 2, 3, 4, 5)
    assert(w.read(range(0, 4, 6)) == Seq(0 -> 4L, 0 -> 5L))
  }

  private def planned(from: Long, until: Long) = KafkaSplitRange(t(0), from, until)(Some("first"))

  test("a recreated topic fails the task before any of its records is returned") {
    val w = new SlotWorld
    w.client.bring(0, 0, 1)
    w.recreate(2, 3)
    val r = w.reader(planned(0, 4))
    assert(r.poll(Poll.Forever) == Poll.Found && r.poll(Poll.Forever) == Poll.Found)
    assert(intercept[SpliceException](r.poll(Poll.Forever)).getCondition == "SPLICE_KAFKA_DATA.TOPIC_RECREATED")
    r.close()
    assert(w.client.closed && w.returned == 0)
  }

  test("a recreated topic is also detected if none of its records can be read, and is requested only then") {
    val w = new SlotWorld(timeout = Duration.ofSeconds(2), simulated = true)
    w.client.hold(0, 0, 0)
    w.topicId = "second"
    w.responses += 1
    val r = w.reader(planned(0, 4))
    assert(r.poll(Duration.ZERO) == Poll.Pending && w.requests == 0)
    assert(intercept[SpliceException](r.poll(Poll.Forever)).getCondition == "SPLICE_KAFKA_DATA.TOPIC_RECREATED")
    assert(w.requests == 2, "one request for existence and one for the id")
    r.close()
  }

  test("with restart, the remaining range of a recreated topic is skipped, and the consumer is not reused") {
    val w = new SlotWorld(recreated = TopicRecreated.Restart)
    w.client.bring(0, 0, 1)
    w.recreate(2, 3)
    assert(w.read(planned(0, 4)) == Seq(0 -> 0L, 0 -> 1L))
    assert(w.client.closed && w.returned == 0)
  }

  test("leftover records of a topic are returned even if the topic was recreated") {
    val w = new SlotWorld
    w.client.bring(0, 0, 1, 2, 3)
    assert(w.read(planned(0, 2)) == Seq(0 -> 0L, 0 -> 1L))
    w.topicId = "second"
    w.responses += 1
    assert(w.read(planned(2, 4)) == Seq(0 -> 2L, 0 -> 3L))
    assert(w.returned == 2 && !w.consumer.allows(Map("t" -> "second")))
  }

  test("the metrics count rows, bytes and reuse") {
    val w = new SlotWorld
    w.client.bring(0, 0, 1, 2)
    val r = w.reader(range(0, 0, 2))
    SlotWorld.drain(r)
    val counted = r.metrics.map(m => m.name -> m.value).toMap
    assert(counted(KafkaMetrics.Records) == 2 && counted(KafkaMetrics.ReadersReused) == 0)
    assert(KafkaMetrics.declared.map(_.name).toSet == counted.keySet)
    KafkaMetrics.declared.foreach(m => m.getClass.getConstructor().newInstance())
  }
}
