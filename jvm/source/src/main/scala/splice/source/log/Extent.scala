// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.log

/** Part of a source whose rows a range contains, for example some bytes of a file. Disjoint extents contain different
  * rows.
  *
  * @param unit
  *   number of a unit of the source, such as a file of a list or a partition of a log
  * @param from
  *   first position in the unit, 0 or greater
  * @param until
  *   position after the last position of the extent. `Long.MaxValue` = the end of the unit
  * @param rows
  *   numbers of the rows, counted from `from`: first row (included) and last row (excluded), or None for all rows
  */
final case class Extent(unit: Int, from: Long, until: Long, rows: Option[(Long, Long)] = None)

object Extent {

  /** Returns the extent of all rows of a unit. */
  def whole(unit: Int): Extent = Extent(unit, 0L, Long.MaxValue)
}
