// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.reader

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.Decimal
import org.apache.spark.unsafe.types.UTF8String

import splice.hybrid.internal.select.RowShape.{Cell, View}
import splice.source.internal.rows.RowView

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
