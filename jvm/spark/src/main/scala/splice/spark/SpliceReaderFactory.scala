// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}
import org.apache.spark.sql.vectorized.ColumnarBatch

import splice.source.{SplitReader, SplitReaderFactory}

/** Gives a source's readers to Spark, and reports on which executor each slot ran. */
final private[spark] class SpliceReaderFactory(readers: SplitReaderFactory, homes: SlotHomes)
    extends PartitionReaderFactory {

  override def createReader(partition: InputPartition): PartitionReader[InternalRow] = {
    val own = partition.asInstanceOf[SpliceInputPartition]
    homes.report(own.task)
    new SplicePartitionReader(readers.rows(own.task))
  }

  override def createColumnarReader(partition: InputPartition): PartitionReader[ColumnarBatch] =
    new SplicePartitionReader(readers.batches(partition.asInstanceOf[SpliceInputPartition].task))

  override def supportColumnarReads(partition: InputPartition): Boolean =
    partition.asInstanceOf[SpliceInputPartition].columnar
}

final private[spark] class SplicePartitionReader[T](reader: SplitReader[T]) extends PartitionReader[T] {
  override def next(): Boolean                                 = reader.next()
  override def get(): T                                        = reader.get()
  override def currentMetricsValues(): Array[CustomTaskMetric] = reader.metrics
  override def close(): Unit                                   = reader.close()
}
