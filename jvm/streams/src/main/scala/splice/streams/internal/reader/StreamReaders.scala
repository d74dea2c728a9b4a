// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.streams.internal.reader

import java.time.Duration
import java.util.{Collections, Iterator => JIterator}

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.{InternalRow, ProjectingInternalRow}
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.read.{PartitionReader, PartitionReaderFactory}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch

import splice.source.{Poll, SplitReader, SplitReaderFactory, TaskRanges}
import splice.streams.internal.split.StreamRange

/** Readers of the partitions that a wrapped stream has planned.
  *
  * @param inner
  *   readers of the stream, whose rows have all columns of the stream
  * @param columns
  *   columns to read
  * @param order
  *   ordinals of these columns in a row of the stream; None if these are all columns in the order of the stream
  */
final private[streams] class StreamReaders(
    inner: PartitionReaderFactory,
    columns: StructType,
    order: Option[Array[Int]],
    override val columnar: Boolean
) extends SplitReaderFactory {

  override def rows(task: TaskRanges): SplitReader[InternalRow] = {
    val partition = StreamReaders.partition(task)
    val rows      =
      if (columnar) new RowsOfBatches(inner.createColumnarReader(partition)) else inner.createReader(partition)
    order.fold(new PartitionSplitReader[InternalRow](rows, identity)) { ordinals =>
      val view = new ProjectingInternalRow(columns, ordinals.toIndexedSeq)
      new PartitionSplitReader[InternalRow](
        rows,
        row => {
          view.project(row)
          view
        }
      )
    }
  }

  override def batches(task: TaskRanges): SplitReader[ColumnarBatch] = new PartitionSplitReader[ColumnarBatch](
    inner.createColumnarReader(StreamReaders.partition(task)),
    batch =>
      order.fold(batch)(ordinals => new ColumnarBatch(ordinals.map(batch.column), batch.numRows))
  )
}

private[streams] object StreamReaders {

  /** @param all columns of the stream, in the order of its rows */
  def apply(
      inner: PartitionReaderFactory,
      all: StructType,
      columns: StructType,
      ranges: Seq[StreamRange]
  ): StreamReaders = {
    val ordinals = columns.fieldNames.map(all.fieldIndex)
    val order    = Option.unless(ordinals.toSeq == all.indices)(ordinals)
    val columnar = ranges.nonEmpty && ranges.forall(range => inner.supportColumnarReads(range.partition))
    new StreamReaders(inner, columns, order, columnar)
  }

  // The coordinator gives each range without a slot a task of its own.
  private def partition(task: TaskRanges) = task.ranges match {
    case Seq(range: StreamRange) => range.partition
    case other                   => throw new IllegalArgumentException(s"$other is not one partition of a stream")
  }
}

/** Reader of one partition of the wrapped stream.
  *
  * @param arrange
  *   selects the columns of an item
  */
final private class PartitionSplitReader[T](inner: PartitionReader[T], arrange: T => T) extends SplitReader[T] {
  override def poll(patience: Duration): Poll   = if (inner.next()) Poll.Found else Poll.Ended
  override def get(): T                         = arrange(inner.get())
  override def metrics: Array[CustomTaskMetric] = inner.currentMetricsValues()
  override def close(): Unit                    = inner.close()
}

/** Rows of a reader of column batches. */
final private class RowsOfBatches(batches: PartitionReader[ColumnarBatch]) extends PartitionReader[InternalRow] {

  private var rows: JIterator[InternalRow] = Collections.emptyIterator[InternalRow]

  @tailrec override def next(): Boolean =
    if (rows.hasNext) true
    else if (batches.next()) {
      rows = batches.get().rowIterator()
      next()
    } else false

  override def get(): InternalRow                              = rows.next()
  override def currentMetricsValues(): Array[CustomTaskMetric] = batches.currentMetricsValues()
  override def close(): Unit                                   = batches.close()
}
