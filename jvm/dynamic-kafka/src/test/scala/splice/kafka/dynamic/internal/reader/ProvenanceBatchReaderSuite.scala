// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.reader

import java.time.Duration

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.types.{LongType, StringType, StructType}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.consumer.ViewVector
import splice.kafka.internal.value.KafkaSchema
import splice.source.{Poll, SplitReader}

/** Tests of column batches with columns of the origin of rows. */
final class ProvenanceBatchReaderSuite extends AnyFunSuite {

  final private class Offsets(first: Long) extends ViewVector(LongType) {
    override def getLong(i: Int): Long = first + i
  }

  final private class Topic(name: String) extends ViewVector(StringType) {
    override def getUTF8String(i: Int): UTF8String = UTF8String.fromString(name)
  }

  /** Reader of batches of offsets, with their topics. */
  final private class Batches(all: (String, Long, Int)*) extends SplitReader[ColumnarBatch] {
    private val left  = all.iterator
    private var batch = new ColumnarBatch(Array.empty[ColumnVector])

    override def poll(patience: Duration): Poll = left.nextOption().fold[Poll](Poll.Ended) {
      case (topic, first, rows) =>
        batch = new ColumnarBatch(Array[ColumnVector](new Offsets(first), new Topic(topic)), rows)
        Poll.Found
    }

    override def get(): ColumnarBatch = batch
    override def close(): Unit        = ()
  }

  test("each batch has the cluster and the stream of its topic among the requested columns") {
    val schema    = KafkaSchema(includeHeaders = false)
    val requested = StructType(Seq(
      DynamicColumns.all(DynamicColumns.Stream),
      schema(KafkaSchema.Offset),
      DynamicColumns.all(DynamicColumns.Cluster)
    ))
    val plan = ProvenancePlan(requested, schema).get
    assert(plan.inner.fieldNames.toSeq == Seq(KafkaSchema.Offset, KafkaSchema.Topic))
    val reader = new ProvenanceBatchReader(
      new Batches(("a", 5L, 2), ("b", 0L, 1)),
      plan,
      new Origin("east", Map("a" -> "orders", "b" -> "returns"))
    )
    val rows = SplitReader.items(reader).flatMap { batch =>
      batch.rowIterator.asScala.map(r => (r.getString(0), r.getLong(1), r.getString(2))).toVector
    }
    assert(rows.toSeq == Seq(("orders", 5L, "east"), ("orders", 6L, "east"), ("returns", 0L, "east")))
  }
}
