// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.reader

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.vectorized.ConstantColumnVector
import org.apache.spark.sql.types.Decimal
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}
import org.apache.spark.unsafe.types.UTF8String

import splice.hybrid.internal.select.RowShape.{Cell, View}
import splice.source.SplitReader
import splice.source.internal.ForwardingReader
import splice.source.internal.rows.RowView

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

/** Row that maps its columns to columns of another row or to constants. */
final private[splice] class ViewRow(view: View) extends RowView(view.cells.size) {

  private val ordinals  = view.cells.map { case Cell.Column(o) => o; case Cell.Constant(_) => -1 }.toArray
  private val constants = view.cells.map { case Cell.Constant(value) => value; case Cell.Column(_) => () }.toArray
  private val types     = view.types.toArray

  private var row: InternalRow = InternalRow.empty

  /** Sets the underlying row. Returns this view. */
  def over(next: InternalRow): ViewRow = {
    row = next
    this
  }

  override def isNullAt(i: Int): Boolean =
    if (ordinals(i) >= 0) row.isNullAt(ordinals(i)) else Option(constants(i)).isEmpty

  override protected def genericGet(i: Int): Any =
    if (ordinals(i) < 0) constants(i)
    else if (row.isNullAt(ordinals(i))) None.orNull
    else row.get(ordinals(i), types(i))

  override def getBoolean(i: Int): Boolean = if (ordinals(i) >= 0) row.getBoolean(ordinals(i)) else super.getBoolean(i)

  override def getInt(i: Int): Int = if (ordinals(i) >= 0) row.getInt(ordinals(i)) else super.getInt(i)

  override def getLong(i: Int): Long = if (ordinals(i) >= 0) row.getLong(ordinals(i)) else super.getLong(i)

  override def getDouble(i: Int): Double = if (ordinals(i) >= 0) row.getDouble(ordinals(i)) else super.getDouble(i)

  override def getUTF8String(i: Int): UTF8String =
    if (ordinals(i) >= 0) row.getUTF8String(ordinals(i)) else super.getUTF8String(i)

  override def getBinary(i: Int): Array[Byte] = if (ordinals(i) >= 0) row.getBinary(ordinals(i)) else super.getBinary(i)

  override def getDecimal(i: Int, precision: Int, scale: Int): Decimal =
    if (ordinals(i) >= 0) row.getDecimal(ordinals(i), precision, scale) else super.getDecimal(i, precision, scale)
}
