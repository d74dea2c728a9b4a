// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.slices

import java.time.LocalDate

import scala.math.BigDecimal.RoundingMode

import org.apache.spark.sql.types.DateType

import splice.tables.internal.options.SliceStep

/** Bounds of the slices between the least and the greatest value of a column. A pure function of its arguments. */
private[tables] object SliceBounds {

  private val MicrosPerDay = BigDecimal(86400000000L)

  /** Bounds at the multiples of a width that are greater than the least value, up to the greatest value.
    *
    * @param most
    *   greatest number of bounds
    * @return
    *   None if there are more bounds
    */
  def every(
      column: SliceColumn,
      least: String,
      greatest: String,
      step: SliceStep,
      most: Int
  ): Option[Vector[String]] = {
    val (first, last) = (column.place(least), column.place(greatest))
    step match {
      case SliceStep.OfMonths(months) => byMonths(column, first, last, months, most)
      case SliceStep.OfNumber(width)  => multiples(column, first, last, width, most)
      case SliceStep.OfTime(width)    =>
        val micros = BigDecimal(width.toNanos / 1000)
        multiples(column, first, last, if (column.kind == DateType) micros / MicrosPerDay else micros, most)
    }
  }

  /** Bounds of slices of equal width. The number of bounds is less than `count` if the values are whole numbers that are
    * close to each other.
    */
  def count(column: SliceColumn, least: String, greatest: String, count: Int): Vector[String] = {
    val (first, last) = (column.place(least), column.place(greatest))
    val bounds        = (1 until count).map(i => column.text(first + (last - first) * i / count))
    ascending(column, bounds, first)
  }

  private def multiples(column: SliceColumn, first: BigDecimal, last: BigDecimal, width: BigDecimal, most: Int) = {
    val from   = (first / width).setScale(0, RoundingMode.FLOOR) + 1
    val number = (last / width).setScale(0, RoundingMode.FLOOR) - from + 1
    Option.when(number <= most) {
      ascending(column, (0 until number.toInt.max(0)).map(i => column.text((from + i) * width)), first)
    }
  }

  private def byMonths(column: SliceColumn, first: BigDecimal, last: BigDecimal, months: Int, most: Int) = {
    val isDate               = column.kind == DateType
    def day(at: BigDecimal)  = if (isDate) at else (at / MicrosPerDay).setScale(0, RoundingMode.FLOOR)
    def place(at: LocalDate) = if (isDate) BigDecimal(at.toEpochDay) else BigDecimal(at.toEpochDay) * MicrosPerDay
    val begin                = LocalDate.ofEpochDay(day(first).toLong)
    val total                = begin.getYear * 12 + begin.getMonthValue - 1
    val start                = Math.floorDiv(total, months) * months
    val bounds               = Iterator
      .from(1)
      .map(i => start + i * months)
      .map(month => place(LocalDate.of(Math.floorDiv(month, 12), Math.floorMod(month, 12) + 1, 1)))
      .takeWhile(_ <= last)
      .take(most + 1)
      .map(column.text)
      .toVector
    Option.when(bounds.size <= most)(bounds)
  }

  // Rounding may repeat a bound, and a bound at the least value would be an empty first slice.
  private def ascending(column: SliceColumn, bounds: Seq[String], first: BigDecimal): Vector[String] =
    bounds.foldLeft((Vector.empty[String], first)) { case ((known, before), bound) =>
      val at = column.place(bound)
      if (at > before) (known :+ bound, at) else (known, before)
    }._1
}
