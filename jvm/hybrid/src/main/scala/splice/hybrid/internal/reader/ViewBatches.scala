// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.reader

import org.apache.spark.sql.execution.vectorized.ConstantColumnVector
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}
import org.apache.spark.unsafe.types.UTF8String

import splice.hybrid.internal.select.RowShape.{Cell, View}
import splice.source.SplitReader
import splice.source.internal.ForwardingReader

/** Forwards column vectors of a leg in the order of a view and adds constants. The reader of the leg still owns its
  * vectors.
  */
final private[splice] class ViewBatches(inner: SplitReader[ColumnarBatch], view: View)
    extends ForwardingReader[ColumnarBatch, ColumnarBatch](inner) {

  private var seen: Option[(ColumnarBatch, ColumnarBatch)] = None

  // The reader of a leg may reuse one batch object.
  override def get(): ColumnarBatch = {
    val batch = inner.get()
    val shown = seen match {
      case Some((same, created)) if same eq batch => created
      case _                                      => new ColumnarBatch(vectors(batch))
    }
    shown.setNumRows(batch.numRows)
    seen = Some(batch -> shown)
    shown
  }

  private def vectors(batch: ColumnarBatch): Array[ColumnVector] = view.cells.indices.map { i =>
    view.cells(i) match {
      case Cell.Column(ordinal) => batch.column(ordinal)
      case Cell.Constant(value) => constant(i, value)
    }
  }.toArray

  // A constant vector uses its number of rows only to count nulls.
  private def constant(i: Int, value: Any): ColumnVector = {
    val vector = new ConstantColumnVector(1, view.types(i))
    value match {
      case text: UTF8String => vector.setUtf8String(text)
      case _                => vector.setNull()
    }
    vector
  }
}
