// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.counting

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.ColumnVector

/** Column whose values Spark stores as integers of any width. */
final private[splice] class Integers(val ordinal: Int, width: Int) {

  def of(row: InternalRow): Long =
    if (width == 8) row.getLong(ordinal)
    else if (width == 4) row.getInt(ordinal).toLong
    else if (width == 2) row.getShort(ordinal).toLong
    else row.getByte(ordinal).toLong

  /** Returns the first values of a column vector without nulls. */
  def of(vector: ColumnVector, rows: Int): Array[Long] =
    if (width == 8) vector.getLongs(0, rows)
    else {
      val all = new Array[Long](rows)
      var i   = 0
      if (width == 4) {
        val narrow = vector.getInts(0, rows)
        while (i < rows) {
          all(i) = narrow(i).toLong
          i += 1
        }
      } else
        while (i < rows) {
          all(i) = if (width == 2) vector.getShort(i).toLong else vector.getByte(i).toLong
          i += 1
        }
      all
    }
}

private[splice] object Integers {
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
