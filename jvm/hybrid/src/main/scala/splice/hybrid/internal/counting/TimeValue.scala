// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.counting

import java.time.{Instant, LocalDate, LocalDateTime, ZoneId, ZoneOffset}

import org.apache.spark.sql.types._

import splice.hybrid.internal.history.RecordTime

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

  /** Returns the range of milliseconds that a value may represent. A date represents its whole day. A timestamp of a
    * whole second represents that second, because columns with timestamps in seconds have the same type.
    */
  def millis(value: Long): RecordTime = kind match {
    case DateType => RecordTime(midnight(value).toEpochMilli, midnight(value + 1).toEpochMilli)
    case _        =>
      val time  = instant(value)
      val first = time.toEpochMilli
      RecordTime(first, first + (if (time.getNano == 0) 1000L else 1L))
  }

  private def midnight(day: Long): Instant = LocalDate.ofEpochDay(day).atStartOfDay(zone).toInstant

  private def ofMicros(micros: Long): Instant =
    Instant.ofEpochSecond(Math.floorDiv(micros, 1000000L), Math.floorMod(micros, 1000000L) * 1000L)
}
