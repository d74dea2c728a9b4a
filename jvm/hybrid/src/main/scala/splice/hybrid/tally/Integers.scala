// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.tally

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.ColumnVector

/** A column whose values Spark keeps as whole numbers of any width. */
final private[tally] class Integers(val ordinal: Int, width: Int) {

  def of(row: InternalRow): Long =
    if (width == 8) row.getLong(ordinal)
    else if (width == 4) row.getInt(ordinal).toLong
    else if (width == 2) row.getShort(ordinal).toLong
    else row.getByte(ordinal).toLong

  /** The value of a row of this column's vector. */
  def of(vector: ColumnVector, row: Int): Long =
    if (width == 8) vector.getLong(row)
    else if (width == 4) vector.getInt(row).toLong
    else if (width == 2) vector.getShort(row).toLong
    else vector.getByte(row).toLong
}

private[tally] object Integers {
  def apply(cell: CountPlan.Cell): Integers = new Integers(
    cell.ordinal,
    cell.kind match {
      case IntegerType | DateType => 4
      case ShortType              => 2
      case ByteType               => 1
      case _                      => 8
    }
  )
}
