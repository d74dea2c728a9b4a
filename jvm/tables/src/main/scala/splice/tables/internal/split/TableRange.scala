// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.split

import splice.source.SplitRange
import splice.source.log.Extent

/** One part of consecutive slices.
  *
  * @param from
  *   number of the first slice
  * @param until
  *   number after the last slice
  * @param part
  *   number of the part, from 0
  * @param parts
  *   number of parts
  */
final private[splice] case class TableRange(from: Int, until: Int, part: Int, parts: Int) extends SplitRange {

  override def splitId: String = s"$from-$until:$part"

  /** Part of a block of slices. The numbers of rows stand for the parts of the block. */
  override def extents: Seq[Extent] = {
    val end = if (part == parts - 1) Long.MaxValue else part + 1L
    Seq(Extent(0, from.toLong, until.toLong, Some(part.toLong -> end)))
  }
}
