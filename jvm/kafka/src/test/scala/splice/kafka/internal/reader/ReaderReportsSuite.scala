// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.reader

import java.time.Duration
import java.util.Optional

import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.consumer.{ConsumerRecord, MockConsumer, OffsetOutOfRangeException, OffsetResetStrategy}
import org.apache.kafka.common.header.internals.RecordHeaders
import org.apache.kafka.common.record.TimestampType
import org.apache.kafka.common.{Metric, MetricName}
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.consumer.SlotConsumer
import splice.kafka.internal.enumerator.SimulatedRun.{range, t}
import splice.kafka.internal.metrics.{KafkaMetrics, PartitionRead, TaskReads}
import splice.kafka.internal.split.{Holes, KafkaSplitRange}
import splice.source.Poll
import splice.source.runtime.Report

/** Tests of the counts of a reader. */
final class ReaderReportsSuite extends AnyFunSuite {

  /** Creates a record with a key of 2 bytes and a value of 5 bytes, or with null. */
  private def record(partition: Int, offset: Long, millis: Long, isNull: Boolean = false) =
    new ConsumerRecord(
      "t",
      partition,
      offset,
      millis,
      TimestampType.CREATE_TIME,
      if (isNull) ConsumerRecord.NULL_SIZE else 2,
      if (isNull) ConsumerRecord.NULL_SIZE else 5,
      new Array[Byte](2),
      new Array[Byte](5),
      new RecordHeaders(),
      Optional.empty[Integer]()
    )

  private def reads(reader: KafkaSplitReader): TaskReads = {
    val Seq(Report("run", found: TaskReads)) = reader.report(ended = true): @unchecked
    found
  }

  test("readers report no least and no greatest time, unless batches end at one time") {
    val w = new SlotWorld()
    w.client.schedulePollTask(() => w.client.addRecord(record(0, 0, 70)))
    val reader = w.reader(range(0, 0, 1))
    assert(SlotWorld.drain(reader).size == 1)
    assert(reads(reader).partitions.values.forall(read => read.millis == 70 && read.least > read.greatest))
    reader.close()
  }

  test("rows, bytes and times are counted for each partition") {
    val w = new SlotWorld(reused = true, isTimed = true)
    w.client.schedulePollTask { () =>
      Seq(record(0, 0, 70), record(0, 1, 90), record(0, 2, 99), record(1, 0, 20)).foreach(w.client.addRecord)
    }
    w.client.schedulePollTask { () =>
      Seq(record(1, 1, 10), record(1, 2, 15, isNull = true)).foreach(w.client.addRecord)
    }
    val reader = w.reader(range(0, 0, 2), range(1, 0, 3))
    assert(SlotWorld.drain(reader).size == 5)
    val found = reads(reader)
    assert(found.partitions == Map(t(0) -> PartitionRead(2, 14, 90, 70, 90), t(1) -> PartitionRead(3, 14, 20, 10, 20)))
    assert(found.filled == 0 && found.reused == 1 && found.opened == 0)
    val counted = reader.metrics.map(m => m.name -> m.value).toMap
    assert(counted(KafkaMetrics.Records) == 5 && counted(KafkaMetrics.Bytes) == 28)
    assert(counted(KafkaMetrics.ReadersReused) == 1)
    reader.close()
  }

  test("the report has the offsets that the reader has skipped, and not the offset of a truncated log to read next") {
    val w = new SlotWorld(fail = false, timeout = Duration.ofMillis(400))
    w.client.hold(0, 2, 9)
    w.client.hold(1, 0, 2)
    w.client.hold(2, 0, 4)
    def outOfRange(partition: Int, at: Long) = w.client.schedulePollTask { () =>
      throw new OffsetOutOfRangeException(Map(w.client.p(partition) -> Long.box(at)).asJava)
    }
    outOfRange(0, 0)
    outOfRange(2, 3)
    w.client.bring(0, 2, 3, 4, 5, 6, 7)
    w.client.bring(1, 0, 1)
    w.client.bring(2, 3)
    val holes  = KafkaSplitRange(t(0), 0, 8, Some(Holes(Vector(1L -> 8L), None)))(None)
    val reader = w.reader(holes, range(1, 0, 6), range(2, 3, 4))
    assert(reader.skipped.isEmpty)
    assert(SlotWorld.drain(reader).size == 9)
    assert(reads(reader).unread.map(_.toString) == Seq("t-0 [1, 2)", "t-1 [2, 6)"))
    assert(reader.skipped == Seq(Report("run", TaskReads(unread = reads(reader).unread))))
    reader.close()
  }

  test("the report has the unread offsets of a deleted topic") {
    val w = new SlotWorld(failRemoved = false)
    w.client.bring(0, 0)
    val reader = w.reader(KafkaSplitRange(t(0), 0, 5)(Some("first")))
    assert(reader.poll(Poll.Forever) == Poll.Found)
    w.found.deleted("first")
    w.deleted = Set("t")
    assert(SlotWorld.drain(reader).isEmpty && reads(reader).unread.map(_.toString) == Seq("t-0 [1, 5)"))
    reader.close()
  }

  test("only the rows of ranges with holes are counted as filled") {
    val w = new SlotWorld
    w.client.bring(0, 0, 1, 2)
    w.client.bring(1, 0, 1, 2)
    val holes  = KafkaSplitRange(t(0), 0, 3, Some(Holes(Vector(0L -> 1L, 2L -> 3L), None)))(None)
    val reader = w.reader(holes, range(1, 0, 3))
    assert(SlotWorld.drain(reader).size == 5)
    assert(reads(reader).filled == 2)
    reader.close()
  }

  test("the fetch time covers all fetches of the client since the last report") {
    final class Figures extends MockConsumer[Array[Byte], Array[Byte]](OffsetResetStrategy.NONE) {
      var total = 4.0
      var mean  = 2.5

      private def figure(name: String, value: Double, tags: String*): (MetricName, Metric) = {
        val own = new MetricName(name, "consumer-fetch-manager-metrics", "", tags.map(_ -> "a").toMap.asJava)
        own -> new Metric {
          override def metricName: MetricName = own
          override def metricValue: Object    = Double.box(value)
        }
      }

      override def metrics(): java.util.Map[MetricName, _ <: Metric] = Map(
        figure("fetch-total", total, "client-id"),
        figure("fetch-latency-avg", mean, "client-id"),
        figure("fetch-total", 1000, "client-id", "topic"),
        figure("fetch-latency-avg", 1000, "client-id", "topic")
      ).asJava
    }
    val client   = new Figures
    val consumer = new SlotConsumer(client)
    assert(consumer.fetchMillis() == 10)
    client.total = 6
    client.mean = 3
    assert(consumer.fetchMillis() == 6 && consumer.fetchMillis() == 0)
    client.total = 9
    client.mean = Double.NaN
    assert(consumer.fetchMillis() == 0)
  }
}
