// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.split

import org.apache.hadoop.fs.{Path => HadoopPath}
import org.apache.spark.paths.SparkPath
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.PartitionedFile

import splice.files.internal.access.PathUsers
import splice.source.log.Extent

/** File or part of a file that one task reads. Executors receive many blocks, so this class is minimal.
  *
  * @param file
  *   number of the file in the list
  * @param path
  *   path as an encoded URI
  * @param length
  *   length of the block; `size` is the length of the file
  * @param modified
  *   modification time of the file at the listing, in milliseconds since the epoch
  * @param values
  *   values of the partition columns; blocks of a folder share one object
  * @param rows
  *   span of rows to read; None = all rows
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

  /** Identifier of the block in a position. Valid only for blocks of the [[FileGrid]]. */
  def id: BlockId = BlockId(file, start)

  /** Extent of the block in the list. The extent of the last block of a file is open-ended. */
  def extent: Extent = {
    val until = if (start + length >= size) Long.MaxValue else start + length
    Extent(file, start, until, rows.map(span => span.from -> span.until))
  }

  /** Remaining block after `read` further rows. */
  def after(read: Long): FileBlock = {
    val all = rows.getOrElse(RowSpan.All)
    copy(rows = Some(all.copy(from = all.from + read)))
  }

  /** Path of the file for Hadoop's file system, with the users and passwords of `users`. */
  def hadoopPath(users: PathUsers): HadoopPath = sparkPath(users).toPath

  /** The block for Spark's readers, which append `constants` to each row. */
  def partitioned(constants: InternalRow, users: PathUsers): PartitionedFile =
    PartitionedFile(constants, sparkPath(users), start, length, modificationTime = modified, fileSize = size)

  private def sparkPath(users: PathUsers): SparkPath = SparkPath.fromUrlString(users.restore(path))

  override def toString: String = s"$path:$start+$length" + rows.fold("")(r => s" rows ${r.from} until ${r.until}")
}
