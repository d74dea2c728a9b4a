// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.slices

import org.apache.spark.sql.Column
import org.apache.spark.sql.functions.lit

/** Division of the rows of a table into numbered slices. Each row belongs to exactly one slice, regardless of the values
  * that were known when the slices were made.
  *
  * Slices of values come first, in ascending order. The last slice has the rows without a value.
  */
sealed private[tables] trait Slices {

  /** Number of slices. */
  def size: Int

  /** Predicate of the rows of consecutive slices. None for all rows of the table.
    *
    * @param from
    *   number of the first slice
    * @param until
    *   number after the last slice, greater than `from`
    */
  def predicate(from: Int, until: Int): Option[Column]
}

private[tables] object Slices {

  /** Table without rows. */
  case object Empty extends Slices {
    override def size: Int                                        = 0
    override def predicate(from: Int, until: Int): Option[Column] = Some(lit(false))
  }

  /** Table that is one slice. */
  case object Whole extends Slices {
    override def size: Int                                        = 1
    override def predicate(from: Int, until: Int): Option[Column] = None
  }

  /** Slices by the values of a column: `x < b1`, `b1 <= x < b2`, …, `x >= bn`, and `x IS NULL`.
    *
    * @param bounds
    *   bounds in ascending order, each the first value of a slice
    * @param last
    *   greatest value of the last slice of values; None if this slice has no end
    */
  final case class ByColumn(column: SliceColumn, bounds: Vector[String], last: Option[String] = None) extends Slices {

    private def values = bounds.size + 1

    override def size: Int = values + 1

    override def predicate(from: Int, until: Int): Option[Column] = {
      val lower    = Option.when(from > 0 && from <= bounds.size)(column.from(bounds(from - 1)))
      val upper    = if (until < values) Some(column.below(bounds(until - 1))) else last.map(column.atMost)
      val ofValues = (lower ++ upper).reduceOption(_ && _)
      if (from >= values) Some(column.isNull)
      else if (until <= values) Some(ofValues.getOrElse(!column.isNull))
      else ofValues.map(_ || column.isNull)
    }
  }
}
