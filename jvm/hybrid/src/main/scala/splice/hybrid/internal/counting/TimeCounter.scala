// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.counting

import java.time.{Instant, LocalDate, LocalDateTime, ZoneId, ZoneOffset}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.ColumnarBatch

import splice.source.TimeRange

/** Finds the minimum and the maximum of a time column. */
final private[splice] class TimeCounter(cell: CountPlan.Cell, zone: ZoneId) extends ColumnCounter {

  private val column = Integers(cell)
  private val value  = new TimeValue(cell.kind, zone)

  private var least    = Long.MaxValue
  private var greatest = Long.MinValue

  override def add(row: InternalRow): Unit = if (!row.isNullAt(column.ordinal)) widen(column.of(row))

  override def add(batch: ColumnarBatch): Unit = {
    val vector = batch.column(column.ordinal)
    val rows   = batch.numRows
    var i      = 0
    if (vector.hasNull)
      while (i < rows) {
        add(batch.getRow(i))
        i += 1
      }
    else {
      val values = column.of(vector, rows)
      while (i < rows) {
        widen(values(i))
        i += 1
      }
    }
  }

  /** Range of the values; None if no row has a value. */
  def result: Option[TimeRange] =
    Option.when(least <= greatest)(TimeRange(value.instant(least), value.instant(greatest)))

  private def widen(value: Long): Unit = {
    if (value < least) least = value
    if (value > greatest) greatest = value
  }
}

/** Conversion of the values of a time column.
  *
  * @param zone
  *   time zone to convert dates and timestamps without time zone
  */
final private[splice] class TimeValue(kind: DataType, zone: ZoneId) {

  /** Converts a value to an instant. A date is converted to its midnight. */
  def instant(value: Long): Instant = kind match {
    case DateType         => midnight(value)
    case TimestampNTZType => LocalDateTime.ofInstant(ofMicros(value), ZoneOffset.UTC).atZone(zone).toInstant
    case _                => ofMicros(value)
  }

  private def midnight(day: Long): Instant = LocalDate.ofEpochDay(day).atStartOfDay(zone).toInstant

  private def ofMicros(micros: Long): Instant =
    Instant.ofEpochSecond(Math.floorDiv(micros, 1000000L), Math.floorMod(micros, 1000000L) * 1000L)
}
