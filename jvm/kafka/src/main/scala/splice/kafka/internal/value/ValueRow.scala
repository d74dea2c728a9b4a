// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.value

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.types.UTF8String

import splice.source.internal.rows.RowView

// scalafix:off DisableSyntax.null; Spark's rows and Kafka's records define null for an absent value

/** A row of a record with its parsed value.
  *
  * @param places
  *   the index of each column, as in [[ValuePlan]]
  */
final private[splice] class ValueRow(places: Array[Int], types: Array[DataType]) extends RowView(places.length) {

  // Uninitialised until `show`, since no caller reads a row earlier.
  private var record: InternalRow = _
  private var value: Any          = _
  private var corrupt: Any        = _

  /** Shows another record. `parsed` is its value. If the value cannot be parsed, `poison` describes the record. */
  def show(next: InternalRow, parsed: Any, poison: Any): Unit = {
    record = next
    value = parsed
    corrupt = poison
  }

  override def isNullAt(ordinal: Int): Boolean = places(ordinal) match {
    case ValuePlan.Value   => value == null
    case ValuePlan.Corrupt => corrupt == null
    case place             => record.isNullAt(place)
  }

  override def getInt(ordinal: Int): Int = record.getInt(places(ordinal))

  override def getLong(ordinal: Int): Long = record.getLong(places(ordinal))

  override def getBinary(ordinal: Int): Array[Byte] = record.getBinary(places(ordinal))

  override protected def genericGet(ordinal: Int): Any = places(ordinal) match {
    case ValuePlan.Value   => value
    case ValuePlan.Corrupt => corrupt
    case place             => if (record.isNullAt(place)) null else record.get(place, types(ordinal))
  }

  override def getUTF8String(ordinal: Int): UTF8String = genericGet(ordinal).asInstanceOf[UTF8String]
}
