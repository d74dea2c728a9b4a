// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.slices

import java.time.{Instant, LocalDate, LocalDateTime, ZoneOffset}

import scala.math.BigDecimal.RoundingMode

import org.apache.spark.sql.Column
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types._

/** Column that divides a table into slices. A value of the column is a text, which an entry stores. */
final private[tables] case class SliceColumn(name: String, kind: DataType) {

  private def column: Column = col(SliceColumn.quoted(name))

  /** Column of the texts of the values. Null stays null. */
  def texts(of: Column = column): Column = kind match {
    case DateType      => unix_date(of).cast(StringType)
    case TimestampType => unix_micros(of).cast(StringType)
    case _             => of.cast(StringType)
  }

  /** Column of the values without NaN and infinite numbers, which have no place on a scale. */
  def finite: Column = kind match {
    case DoubleType | FloatType => when(!isnan(column) && abs(column) < lit(Double.PositiveInfinity), column)
    case _                      => column
  }

  def value(text: String): Column = kind match {
    case DateType         => lit(LocalDate.ofEpochDay(text.toLong))
    case TimestampType    => lit(SliceColumn.instant(text.toLong))
    case TimestampNTZType => lit(SliceColumn.local(text))
    case DoubleType       => lit(text.toDouble)
    case FloatType        => lit(text.toFloat)
    case BooleanType      => lit(text.toBoolean)
    case of: DecimalType  => lit(new java.math.BigDecimal(text)).cast(of)
    case of: NumericType  => lit(text.toLong).cast(of)
    case _                => lit(text)
  }

  def below(text: String): Column = column < value(text)

  def atMost(text: String): Column = column <= value(text)

  def from(text: String): Column = column >= value(text)

  def isNull: Column = column.isNull

  /** Place of a value on a scale: microseconds of a timestamp, days of a date, or the number itself. */
  def place(text: String): BigDecimal = kind match {
    case TimestampNTZType => BigDecimal(SliceColumn.micros(SliceColumn.local(text).toInstant(ZoneOffset.UTC)))
    case _                => BigDecimal(text)
  }

  /** Text of the least value at this place or after. */
  def text(place: BigDecimal): String = kind match {
    case TimestampNTZType =>
      val at = SliceColumn.instant(up(place).toLong)
      LocalDateTime.ofInstant(at, ZoneOffset.UTC).toString.replace('T', ' ')
    case DoubleType     => place.toDouble.toString
    case FloatType      => place.toFloat.toString
    case d: DecimalType => place.setScale(d.scale, RoundingMode.CEILING).bigDecimal.toPlainString
    case _              => up(place).toBigInt.toString
  }

  private def up(place: BigDecimal): BigDecimal = place.setScale(0, RoundingMode.CEILING)
}

private[tables] object SliceColumn {

  /** True for a type whose values have a stable order. */
  def hasOrder(kind: DataType): Boolean = hasScale(kind) || kind == BooleanType || kind == StringType

  /** True for a type whose values are places on a scale. */
  def hasScale(kind: DataType): Boolean = kind.isInstanceOf[NumericType] || isTime(kind)

  def isTime(kind: DataType): Boolean = kind match {
    case DateType | TimestampType | TimestampNTZType => true
    case _                                           => false
  }

  def quoted(name: String): String = name.replace("`", "``").mkString("`", "", "`")

  private def instant(micros: Long): Instant =
    Instant.ofEpochSecond(Math.floorDiv(micros, 1000000L), Math.floorMod(micros, 1000000L) * 1000L)

  private def micros(at: Instant): Long = at.getEpochSecond * 1000000L + at.getNano / 1000

  private def local(text: String): LocalDateTime = LocalDateTime.parse(text.replace(' ', 'T'))
}
