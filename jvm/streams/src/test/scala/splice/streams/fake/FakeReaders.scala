// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.streams.fake

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector
import org.apache.spark.sql.types.{IntegerType, LongType, StringType}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}
import org.apache.spark.unsafe.types.UTF8String

final case class FakePartition(ids: Vector[Long], columnar: Boolean, host: String, text: String)
    extends InputPartition {
  override def preferredLocations: Array[String] = Array(host)
}

/** Readers that reuse one row or one batch. A reader of rows rejects a partition for column batches. */
object FakeReaders extends PartitionReaderFactory {

  override def supportColumnarReads(partition: InputPartition): Boolean =
    partition.asInstanceOf[FakePartition].columnar

  override def createReader(partition: InputPartition): PartitionReader[InternalRow] = {
    require(!supportColumnarReads(partition), "the partition has column batches only")
    val row  = new GenericInternalRow(3)
    val text = textOf(partition)
    new FakeReader[InternalRow](partition.asInstanceOf[FakePartition].ids.grouped(1).toVector) {
      override def get(): InternalRow = {
        row.update(0, current.head)
        row.update(1, text)
        row.update(2, 0)
        row
      }
    }
  }

  override def createColumnarReader(partition: InputPartition): PartitionReader[ColumnarBatch] = {
    val ids   = new OnHeapColumnVector(2, LongType)
    val texts = new OnHeapColumnVector(2, StringType)
    val parts = new OnHeapColumnVector(2, IntegerType)
    val batch = new ColumnarBatch(Array[ColumnVector](ids, texts, parts))
    val text  = textOf(partition)
    new FakeReader[ColumnarBatch](partition.asInstanceOf[FakePartition].ids.grouped(2).toVector) {
      override def get(): ColumnarBatch = {
        Seq(ids, texts, parts).foreach(_.reset())
        current.zipWithIndex.foreach { case (id, row) =>
          ids.putLong(row, id)
          val _ = texts.putByteArray(row, text.getBytes)
          parts.putInt(row, 0)
        }
        batch.setNumRows(current.size)
        batch
      }
    }
  }

  private def textOf(partition: InputPartition) = UTF8String.fromString(partition.asInstanceOf[FakePartition].text)

  abstract private class FakeReader[T](groups: Vector[Vector[Long]]) extends PartitionReader[T] {
    private var read                                             = 0
    protected def current: Vector[Long]                          = groups(read - 1)
    override def next(): Boolean                                 = { read += 1; read <= groups.size }
    override def close(): Unit                                   = ()
    override def currentMetricsValues(): Array[CustomTaskMetric] = {
      val rows = groups.take(read).map(_.size).sum.toLong
      Array(new CustomTaskMetric {
        override def name: String = FakeRows.Name
        override def value: Long  = rows
      })
    }
  }
}
