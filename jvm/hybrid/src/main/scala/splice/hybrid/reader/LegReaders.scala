// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.reader

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.vectorized.ColumnarBatch

import splice.hybrid.select.RowShape
import splice.source.{ForwardingReader, SplitReader, SplitReaderFactory, TaskRanges}

/** The readers of one leg, and how their rows become the hybrid's. */
final private[hybrid] case class LegReaders(inner: SplitReaderFactory, shape: RowShape) {

  def columnar: Boolean = inner.columnar && shape.columnar

  def rows(task: TaskRanges): SplitReader[InternalRow] = {
    val reader = inner.rows(task)
    shape match {
      case RowShape.Same            => reader
      case view: RowShape.View      => new ViewReader(reader, new ViewRow(view))
      case RowShape.Computed(steps) => new ComputedReader(reader, new RowSteps(steps))
    }
  }

  def batches(task: TaskRanges): SplitReader[ColumnarBatch] = {
    val reader = inner.batches(task)
    shape match {
      case view: RowShape.View => new ViewBatches(reader, view)
      case _                   => reader
    }
  }
}

/** Gives on a leg's rows as a view. */
final private[reader] class ViewReader(inner: SplitReader[InternalRow], view: ViewRow)
    extends ForwardingReader[InternalRow, InternalRow](inner) {
  override def get(): InternalRow = view.over(inner.get())
}

/** Gives on a leg's rows as its `select` computes them. */
final private[reader] class ComputedReader(inner: SplitReader[InternalRow], steps: RowSteps)
    extends ForwardingReader[InternalRow, InternalRow](inner) {
  override def get(): InternalRow = steps(inner.get())
}
