// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.cluster

import java.time.Duration

import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.consumer.{ConsumerRecord, MockConsumer, OffsetOutOfRangeException, OffsetResetStrategy}
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.errors.TimeoutException
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.SimulatedRun.t
import splice.source.LogPartition
import splice.testkit.internal.Patient

/** Tests of the first records of ranges, with Kafka's MockConsumer. */
final class FirstRecordsSuite extends AnyFunSuite {

  final private class World {
    val client = new MockConsumer[Array[Byte], Array[Byte]](OffsetResetStrategy.NONE)

    def p(partition: Int) = new TopicPartition("t", partition)

    def bring(records: (Int, Long)*): Unit = client.schedulePollTask { () =>
      records.foreach { case (partition, offset) =>
        client.addRecord(new ConsumerRecord("t", partition, offset, Array.empty[Byte], Array.empty[Byte]))
      }
    }

    def begin(partition: Int, offset: Long): Unit =
      client.updateBeginningOffsets(Map(p(partition) -> Long.box(offset)).asJava)

    def read(patience: Duration = Patient.Limit, tolerant: Boolean = false)(
        ranges: (Int, (Long, Long))*
    ): Map[LogPartition, Long] = {
      val wanted = ranges.map { case (partition, range) => (t(partition): LogPartition) -> range }.toMap
      FirstRecords(client, wanted, patience, tolerant).map { case (partition, record) => partition -> record.offset }
    }
  }

  test("the first record of each range is found, and a record at the end offset is excluded") {
    val w = new World
    w.bring(0 -> 4L, 0 -> 5L, 1 -> 3L, 2 -> 2L)
    assert(w.read()(0 -> (2L -> 10L), 1 -> (0L -> 3L), 2 -> (0L -> 3L)) == Map(t(0) -> 4L, t(2) -> 2L))
  }

  test("a later record does not replace the first record of a partition") {
    val w = new World
    w.bring(0 -> 2L)
    w.bring(0 -> 3L, 1 -> 0L)
    assert(w.read()(0 -> (0L -> 9L), 1 -> (0L -> 9L)) == Map(t(0) -> 2L, t(1) -> 0L))
    assert(w.client.paused.asScala == Set(w.p(0), w.p(1)))
  }

  test("a range without a record ends by position") {
    val w = new World
    w.client.schedulePollTask(() => w.client.seek(w.p(0), 3))
    w.bring(1 -> 0L)
    assert(w.read()(0 -> (0L -> 3L), 1 -> (0L -> 9L)) == Map(t(1) -> 0L))
  }

  test("a range that is no longer in the log has no record, or is an error") {
    val w = new World
    w.begin(0, 5)
    w.bring(0 -> 5L)
    w.bring(1 -> 0L)
    assert(w.read(tolerant = true)(0 -> (1L -> 2L), 1 -> (0L -> 9L)) == Map(t(1) -> 0L))
    val strict = new World
    strict.begin(0, 5)
    strict.bring(0 -> 5L)
    intercept[OffsetOutOfRangeException](strict.read()(0 -> (1L -> 2L)))
  }

  test("the error for an unresponsive broker names the remaining partitions") {
    val w     = new World
    w.bring(0 -> 0L)
    val error = intercept[TimeoutException](w.read(Duration.ZERO)(0 -> (0L -> 9L), 1 -> (0L -> 9L)))
    assert(error.getMessage.contains("t-1") && !error.getMessage.contains("t-0"))
  }
}
