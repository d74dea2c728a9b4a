// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.split

import org.apache.spark.sql.catalyst.InternalRow

import splice.source.log.Extent

/** A file, or a part of one, that one task reads. Many are shipped to executors, so it holds nothing more.
  *
  * @param file
  *   the number of the file in the list
  * @param path
  *   encoded as a URI
  * @param length
  *   of the block; `size` is the file's
  * @param modified
  *   the file's modification time when it was listed, in milliseconds since the epoch
  * @param values
  *   of the partition columns, shared by the blocks of a folder
  * @param rows
  *   None = all rows
  */
final private[splice] case class FileBlock(
    file: Int,
    path: String,
    start: Long,
    length: Long,
    size: Long,
    modified: Long,
    values: InternalRow,
    rows: Option[RowSpan] = None
) {

  /** The name of the block in a position, if it is a block of the [[FileGrid]]. */
  def id: BlockId = BlockId(file, start)

  /** The rows of the block as a part of the list. The extent of the last block of a file ends with the file. */
  def extent: Extent = {
    val until = if (start + length >= size) Long.MaxValue else start + length
    Extent(file, start, until, rows.map(span => span.from -> span.until))
  }

  /** What is left of the block after its next rows were read. */
  def after(read: Long): FileBlock = {
    val all = rows.getOrElse(RowSpan.All)
    copy(rows = Some(all.copy(from = all.from + read)))
  }

  override def toString: String = s"$path:$start+$length" + rows.fold("")(r => s" rows ${r.from} until ${r.until}")
}
