// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.split

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
