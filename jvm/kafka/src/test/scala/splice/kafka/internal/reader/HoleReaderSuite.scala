// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.reader

import java.time.Duration
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.SimulatedRun.{range, t}
import splice.kafka.internal.metrics.{KafkaMetrics, TaskReads}
import splice.kafka.internal.split.{Holes, KafkaSplitRange}
import splice.source.errors.SpliceException
import splice.source.log.OffsetRuns
import splice.source.runtime.Report
import splice.source.{Poll, SplitReader}
import splice.testkit.LoggedMessages
import splice.testkit.internal.Patient

/** Tests of readers that return only missing offsets of a history, with Kafka's MockConsumer. */
final class HoleReaderSuite extends AnyFunSuite {

  private def holes(ranges: (Long, Long)*)(held: (Long, Long)*): KafkaSplitRange = KafkaSplitRange(
    t(0),
    ranges.head._1,
    ranges.last._2,
    Some(Holes(ranges.toVector, Option.when(held.nonEmpty)(OffsetRuns.of(held: _*))))
  )(None)

  private def rows(offsets: Long*): Seq[(Int, Long)] = offsets.map(0 -> _)

  test("only records in holes are returned") {
    val w = new SlotWorld
    w.client.bring(0, 2L until 20L: _*)
    assert(w.read(holes(2L -> 4L, 7L -> 8L, 15L -> 18L)()) == rows(2, 3, 7, 15, 16, 17))
    assert(w.client.seeks == Seq(0 -> 2L))
  }

  test("offsets of the history are dropped within a range of merged holes") {
    val w = new SlotWorld
    w.client.bring(0, 2L until 20L: _*)
    assert(w.read(holes(2L -> 10L, 15L -> 18L)(3L -> 5L, 9L -> 10L, 15L -> 16L)) == rows(2, 5, 6, 7, 8, 16, 17))
  }

  test("a chunk without records to return is skipped, and the next chunk is read") {
    val w = new SlotWorld
    w.client.bring(0, 2L until 5L: _*)
    w.client.schedulePollTask(() => ())
    w.client.bring(0, 5L until 9L: _*)
    w.client.schedulePollTask(() => ())
    w.client.bring(0, 9L until 12L: _*)
    assert(w.read(holes(2L -> 3L, 10L -> 12L)()) == rows(2, 10, 11))
  }

  test("leftover records of a poll after the holes begin the next range, without a seek") {
    val w = new SlotWorld
    w.client.bring(0, 0L until 12L: _*)
    assert(w.read(holes(0L -> 1L, 3L -> 5L)()) == rows(0, 3, 4))
    assert(w.read(range(0, 5, 8)) == rows(5, 6, 7))
    assert(w.read(holes(8L -> 9L, 10L -> 11L)()) == rows(8, 10))
    assert(w.read(range(0, 11, 12)) == rows(11))
    assert(w.client.seeks == Seq(0 -> 0L))
  }

  test("a range that begins after the leftover records needs a seek") {
    val w = new SlotWorld
    w.client.bring(0, 0L until 12L: _*)
    assert(w.read(holes(0L -> 1L, 3L -> 5L)()) == rows(0, 3, 4))
    w.client.bring(0, 8L until 12L: _*)
    assert(w.read(holes(8L -> 9L)()) == rows(8))
    assert(w.client.seeks == Seq(0 -> 0L, 0 -> 8L))
  }

  test("holes without records end by position") {
    val w = new SlotWorld
    w.client.bring(0, 0, 1)
    w.client.schedulePollTask(() => w.client.seek(w.client.p(0), 9))
    assert(w.read(holes(0L -> 1L, 5L -> 8L)()) == rows(0))
  }

  test("a long distance of the history is skipped by a seek, and a short distance is read") {
    val w = new SlotWorld
    w.client.bring(0, 0, 1, 2)
    w.client.schedulePollTask(() => ())
    w.client.bring(0, 500000, 500001, 500002, 500003)
    assert(w.read(holes(0L -> 2L, 500000L -> 500002L)()) == rows(0, 1, 500000, 500001))
    assert(w.client.seeks == Seq(0 -> 0L, 0 -> 500000L))

    val near = new SlotWorld
    near.client.bring(0, 0, 1, 2)
    near.client.schedulePollTask(() => ())
    near.client.bring(0, 3, 50, 51)
    assert(near.read(holes(0L -> 2L, 50L -> 51L)()) == rows(0, 1, 50))
    assert(near.client.seeks == Seq(0 -> 0L))
  }

  test("a long distance of the history within merged holes is also skipped by a seek") {
    val w = new SlotWorld
    w.client.bring(0, 0, 1, 2)
    w.client.schedulePollTask(() => ())
    w.client.bring(0, 500000, 500001)
    assert(w.read(holes(0L -> 500001L)(1L -> 500000L)) == rows(0, 500000))
    assert(w.client.seeks == Seq(0 -> 0L, 0 -> 500000L))
  }

  test("a range ends before remaining offsets of the history, and the next range begins at its end") {
    val w = new SlotWorld
    w.client.bring(0, 0, 1, 2)
    assert(w.read(holes(0L -> 500000L)(1L -> 500000L)) == rows(0))
    w.client.bring(0, 500000, 500001)
    assert(w.read(range(0, 500000, 500002)) == rows(500000, 500001))
    assert(w.client.seeks.last == 0 -> 500000L)
  }

  test("partitions with holes and without are read together") {
    val w = new SlotWorld
    w.client.bring(0, 0, 1, 2)
    w.client.bring(1, 4, 5)
    assert(w.read(holes(0L -> 1L, 2L -> 3L)(), range(1, 4, 6)).sorted == rows(0, 2) ++ Seq(1 -> 4L, 1 -> 5L))
  }

  test("column batches have the same records") {
    val w = new SlotWorld
    w.client.bring(0, 0L until 8L: _*)
    w.client.schedulePollTask(() => ())
    w.client.bring(0, 8L until 12L: _*)
    val reader  = w.batches(holes(0L -> 5L, 7L -> 8L, 9L -> 10L)(2L -> 4L))
    val batches = SplitReader.items(reader).map { batch =>
      val seen = batch.rowIterator.asScala.map(_.getLong(4)).toVector
      assert(batch.numRows == seen.size)
      seen
    }.toVector
    reader.close()
    assert(batches == Seq(Seq(0, 1, 4, 7), Seq(9)))
    assert(w.read(range(0, 10, 12)) == rows(10, 11))
    assert(w.client.seeks == Seq(0 -> 0L) && w.returned == 2)
  }

  test("the metrics count the returned records") {
    val w = new SlotWorld
    w.client.bring(0, 0L until 8L: _*)
    val reader = w.reader(holes(0L -> 2L, 6L -> 7L)())
    assert(SlotWorld.drain(reader) == rows(0, 1, 6))
    val counted = reader.metrics.map(m => m.name -> m.value).toMap
    assert(counted(KafkaMetrics.Records) == 3)
  }

  test("removed records of the history are not a loss, and removed holes are reported") {
    val calm = new SlotWorld
    calm.client.hold(0, 30, 60)
    calm.client.bring(0, 30L until 60L: _*)
    calm.client.schedulePollTask(() => ())
    assert(calm.read(holes(20L -> 50L)(20L -> 30L)) == rows(30L until 50L: _*))

    val failing = new SlotWorld
    failing.client.hold(0, 30, 60)
    failing.client.bring(0, 30L until 60L: _*)
    val error = intercept[SpliceException](failing.read(holes(10L -> 15L, 18L -> 25L, 28L -> 40L)(20L -> 22L)))
    assert(error.getCondition == "SPLICE_KAFKA_DATA.DATA_LOSS")
    assert("t-0 \\[\\d+, \\d+\\)".r.findAllIn(error.getMessage).toSeq ==
      Seq("t-0 [10, 15)", "t-0 [18, 20)", "t-0 [22, 25)", "t-0 [28, 30)"))

    val warning = new SlotWorld(fail = false)
    warning.client.hold(0, 30, 60)
    warning.client.bring(0, 30L until 60L: _*)
    assert(warning.read(holes(10L -> 15L, 28L -> 33L)()) == rows(30, 31, 32))
  }

  test("a reader waits for holes after the start of an open transaction and does not report a loss") {
    Seq(true, false).foreach { fail =>
      val w = new SlotWorld(fail = fail, timeout = Duration.ofMillis(50))
      // For a client with read_committed, the log ends at the first open transaction.
      w.client.hold(0, 0, 2)
      w.written = Map(w.client.p(0) -> 4L)
      w.client.bring(0, 0, 1)
      val reader = w.reader(holes(0L -> 4L)())
      assert(reader.poll(Poll.Forever) == Poll.Found && reader.poll(Poll.Forever) == Poll.Found)
      val error = intercept[SpliceException](reader.poll(Poll.Forever))
      assert(error.getCondition == "SPLICE_KAFKA_CONNECTION.PARTITION_UNAVAILABLE" &&
        error.getMessage.contains("t-0 at offset 2 of [0, 4)"))
      reader.close()
    }
  }

  test("a log that ends before holes is a loss of these holes") {
    val w = new SlotWorld(timeout = Duration.ofMillis(50))
    w.client.hold(0, 0, 2)
    w.client.bring(0, 0, 1)
    val error = intercept[SpliceException](w.read(holes(0L -> 4L, 7L -> 9L)(2L -> 3L)))
    assert(error.getCondition == "SPLICE_KAFKA_DATA.DATA_LOSS" && error.getMessage.contains("t-0 [3, 4), t-0 [7, 9)"))
  }

  /** A reader of holes in a batch with open ranges. The log of 2 offsets was truncated, and both offsets were returned. */
  private def truncated(fail: Boolean = true): (SlotWorld, KafkaSplitReader) = {
    val w = new SlotWorld(fail, timeout = Duration.ofMillis(50), waits = true)
    w.client.hold(0, 0, 2)
    w.written = Map(w.client.p(0) -> 2L)
    w.client.bring(0, 0, 1)
    val reader = w.reader(holes(0L -> 4L, 7L -> 9L)(2L -> 3L))
    assert(Seq.fill(2)(reader.poll(Duration.ZERO)) == Seq.fill(2)(Poll.Found))
    (w, reader)
  }

  /** Polls until the result is not Poll.Pending, or a condition is true. */
  private def next(reader: KafkaSplitReader)(isDone: => Boolean): Poll = {
    val limit  = System.nanoTime() + Patient.Limit.toNanos
    var result = reader.poll(Duration.ofMillis(5))
    while (result == Poll.Pending && !isDone) {
      assert(System.nanoTime() < limit)
      result = reader.poll(Duration.ofMillis(5))
    }
    result
  }

  test("in a batch with open ranges, a log that ends before holes is a loss of these holes") {
    val (_, failing) = truncated()
    val error        = intercept[SpliceException](next(failing)(false))
    assert(error.getCondition == "SPLICE_KAFKA_DATA.DATA_LOSS" && error.getMessage.contains("t-0 [3, 4), t-0 [7, 9)"))

    val (w, warning)  = truncated(fail = false)
    val (_, messages) = LoggedMessages.during("splice.kafka.internal.errors.DataLoss") {
      assert(next(warning)(false) == Poll.Ended)
    }
    assert(messages.size == 1 && messages.head.contains("t-0 [3, 4), t-0 [7, 9)"), messages)
    assert(warning.report(ended = true).collect { case Report(_, own: TaskReads) => own.skipped } == Seq(3))
    assert(warning.unread.isEmpty && w.client.seeks.last == 0 -> 9L)
  }

  test("in a batch with open ranges, a reader waits for holes if no end of a log confirms a loss") {
    Seq[SlotWorld => Unit](
      w => w.written = Map(w.client.p(0) -> 9L),
      w => w.written = Map(w.client.p(0) -> 3L),
      w => w.silent = Set(w.client.p(0)),
      w => w.onEnds = () => throw new InterruptedException("cancelled")
    ).foreach { change =>
      val (w, reader) = truncated()
      change(w)
      val requests = new AtomicInteger
      val before   = w.onEnds
      w.onEnds = () => {
        requests.incrementAndGet()
        before()
      }
      assert(next(reader)(requests.get == 3) == Poll.Pending)
      reader.close()
      assert(w.returned == 1)
    }
  }

  test(
    "in a batch with open ranges, a reader does not wait for the ends of logs, and ignores an end of earlier records"
  ) {
    val (w, reader) = truncated()
    val requests    = new AtomicInteger
    val release     = new CountDownLatch(1)
    w.onEnds = () => if (requests.incrementAndGet() == 1) assert(release.await(1, TimeUnit.MINUTES))
    assert(next(reader)(requests.get == 1) == Poll.Pending && release.getCount == 1)
    w.client.bring(0, 3)
    assert(next(reader)(false) == Poll.Found && reader.get().getLong(4) == 3)
    w.written = Map(w.client.p(0) -> 9L)
    release.countDown()
    assert(next(reader)(requests.get == 2) == Poll.Pending)
    w.client.bring(0, 7, 8)
    assert(SlotWorld.drain(reader) == rows(7, 8))
  }

  test("each record is returned once, for any holes and polls") {
    (1 to 1000).foreach { seed =>
      val random = new Random(seed.toLong)
      val kinds  = Vector.fill(60)(random.nextInt(4)).updated(0, 2).updated(59, 2)
      // Kinds 0 and 1 are between ranges, 2 is a hole, and 3 is in the history within a range.
      val in     = kinds.indices.filter(i => kinds(i) >= 2)
      val ranges = in.foldLeft(Vector.empty[(Long, Long)]) {
        case (before :+ ((a, b)), i) if b == i => before :+ (a        -> (i + 1L))
        case (before, i)                       => before :+ (i.toLong -> (i + 1L))
      }
      val held   = kinds.indices.filter(kinds(_) == 3).map(i => i.toLong -> (i + 1L))
      val absent = kinds.indices.filter(_ => random.nextInt(10) == 0).toSet
      val w      = new SlotWorld
      kinds.indices.filterNot(absent).map(_.toLong).grouped(1 + random.nextInt(20)).foreach { some =>
        w.client.bring(0, some: _*)
        w.client.schedulePollTask(() => ())
      }
      w.client.schedulePollTask(() => if (w.client.position(w.client.p(0)) < 60) w.client.seek(w.client.p(0), 60))
      val wanted = kinds.indices.filter(i => kinds(i) == 2 && !absent(i)).map(_.toLong)
      assert(w.read(holes(ranges: _*)(held: _*)) == rows(wanted: _*), s"seed $seed")
    }
  }
}
