// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.log

/** A part of a source whose rows a range holds, for example some bytes of a file. Disjoint extents hold different rows.
  *
  * @param unit
  *   numbers the units of the source, such as the files of a list or the partitions of a log
  * @param from
  *   the first place in the unit; 0 or more
  * @param until
  *   one past the last place; `Long.MaxValue` = the end of the unit
  * @param rows
  *   the numbers of the rows from `from` on, first included and last excluded; None = all rows
  */
final case class Extent(unit: Int, from: Long, until: Long, rows: Option[(Long, Long)] = None)

object Extent {

  /** All rows of a unit. */
  def whole(unit: Int): Extent = Extent(unit, 0L, Long.MaxValue)
}
