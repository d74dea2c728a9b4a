// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.consumer

import org.apache.spark.sql.types.{DataType, Decimal}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarArray, ColumnarMap}
import org.apache.spark.unsafe.types.UTF8String

/** A column without data. The column shows the data of another object, and is reused in many batches. The column
  * supports only the getters that a subclass overrides.
  */
abstract private[kafka] class ViewVector(kind: DataType) extends ColumnVector(kind) {

  override def hasNull: Boolean = false

  // Spark only checks whether there are nulls, and does not use their number.
  override def numNulls: Int = if (hasNull) 1 else 0

  override def isNullAt(i: Int): Boolean                               = false
  override def getBinary(i: Int): Array[Byte]                          = throw other
  override def getUTF8String(i: Int): UTF8String                       = throw other
  override def getInt(i: Int): Int                                     = throw other
  override def getLong(i: Int): Long                                   = throw other
  override def getBoolean(i: Int): Boolean                             = throw other
  override def getByte(i: Int): Byte                                   = throw other
  override def getShort(i: Int): Short                                 = throw other
  override def getFloat(i: Int): Float                                 = throw other
  override def getDouble(i: Int): Double                               = throw other
  override def getArray(i: Int): ColumnarArray                         = throw other
  override def getMap(i: Int): ColumnarMap                             = throw other
  override def getDecimal(i: Int, precision: Int, scale: Int): Decimal = throw other
  override def getChild(ordinal: Int): ColumnVector                    = throw other

  // Spark closes the columns after each batch, and the next batch has the same columns.
  override def close(): Unit = ()

  private def other = new UnsupportedOperationException(s"a column of $kind has no value of this kind")
}
