// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.counting

import java.time.{Instant, LocalDate, LocalDateTime, ZoneId, ZoneOffset}

import org.apache.spark.sql.types._

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
