// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.end

import java.time.{Instant, LocalDate, LocalDateTime, ZoneId, ZoneOffset}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._

import splice.source.TimeRange

/** Finds the least and the greatest value of a time column.
  *
  * @param zone
  *   the session's time zone: it says which instant a date's midnight or a timestamp without time zone is
  */
final private[files] class EventTimeScan(column: HandOverColumn, zone: ZoneId) {

  def over(scan: ListScan): Option[TimeRange] = {
    val read  = EventTimeScan.extremes(column.field.dataType)
    val parts = scan.map(StructType(Seq(column.field)))(read).collect()
    Option.when(parts.nonEmpty)(TimeRange(instant(parts.map(_._1).min), instant(parts.map(_._2).max)))
  }

  private def instant(value: Long): Instant = column.field.dataType match {
    case DateType         => LocalDate.ofEpochDay(value).atStartOfDay(zone).toInstant
    case TimestampNTZType =>
      LocalDateTime.ofInstant(EventTimeScan.ofMicros(value), ZoneOffset.UTC).atZone(zone).toInstant
    case _ => EventTimeScan.ofMicros(value)
  }
}

private[files] object EventTimeScan {

  val Expected = "a timestamp or a date"

  val fits: PartialFunction[DataType, Unit] = { case TimestampType | TimestampNTZType | DateType => () }

  /** Least and greatest internal value of the first column of some rows; nothing when all are null. */
  private def extremes(kind: DataType): Iterator[InternalRow] => Seq[(Long, Long)] = {
    val isDate = kind == DateType
    rows => {
      var least    = Long.MaxValue
      var greatest = Long.MinValue
      rows.foreach { row =>
        if (!row.isNullAt(0)) {
          val value = if (isDate) row.getInt(0).toLong else row.getLong(0)
          least = math.min(least, value)
          greatest = math.max(greatest, value)
        }
      }
      if (least <= greatest) Seq(least -> greatest) else Nil
    }
  }

  private def ofMicros(micros: Long): Instant =
    Instant.ofEpochSecond(Math.floorDiv(micros, 1000000L), Math.floorMod(micros, 1000000L) * 1000L)
}
