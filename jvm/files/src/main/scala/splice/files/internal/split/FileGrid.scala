// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.split

import org.apache.hadoop.fs.{Path => HadoopPath}
import org.apache.spark.paths.SparkPath
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.PartitionedFile

import splice.files.internal.access.PathUsers
import splice.source.log.Extent

/** Blocks of one file, for files that several batches read. Positions refer to these blocks.
  *
  * A block starts at a multiple of the `maxPartitionBytes` of the list. A file of more than 4,000 such blocks has
  * larger blocks, which limits the length of a position. A file that is not splittable is one block. The grid depends
  * on the persisted list only, so positions remain valid if an option changes.
  */
final private[splice] class FileGrid(number: Int, file: ListedFile, maxPartitionBytes: Long) {

  // An empty file is also one block, because a format may return a row for an empty file.
  private val end = math.max(file.size, 1L)

  private val step =
    if (!file.splittable) end
    else {
      val unit = math.max(maxPartitionBytes, 1L)
      unit * FileGrid.ceil(FileGrid.ceil(end, unit), FileGrid.MaxBlocks)
    }

  def contains(start: Long): Boolean = start < end && start % step == 0

  /** Block that starts at the given byte. */
  def block(start: Long): FilePart = FilePart(number, start, math.min(step, file.size - start))

  /** Identifiers of all blocks in file order. */
  def blocks: Iterator[BlockId] = Iterator.iterate(0L)(_ + step).takeWhile(_ < end).map(BlockId(number, _))
}

private object FileGrid {

  private val MaxBlocks = 4000L

  private def ceil(a: Long, b: Long): Long = (a - 1) / b + 1
}

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
