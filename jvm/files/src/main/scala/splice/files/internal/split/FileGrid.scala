// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.split

/** The blocks of one file that positions name, for a file that several batches read.
  *
  * A block starts at a multiple of the `maxPartitionBytes` of the list. A file of more than 4,000 such blocks has
  * larger blocks, which limits the length of a position. A file that is not splittable is one block. The grid depends on
  * the persisted list only, so a changed option leaves positions valid.
  */
final private[splice] class FileGrid(number: Int, file: ListedFile, maxPartitionBytes: Long) {

  // A file without bytes is one block too, because formats may return a row for it.
  private val end = math.max(file.size, 1L)

  private val step =
    if (!file.splittable) end
    else {
      val unit = math.max(maxPartitionBytes, 1L)
      unit * FileGrid.ceil(FileGrid.ceil(end, unit), FileGrid.MaxBlocks)
    }

  def contains(start: Long): Boolean = start < end && start % step == 0

  /** The block that starts at a byte. */
  def block(start: Long): FilePart = FilePart(number, start, math.min(step, file.size - start))

  /** The names of all blocks, in the order of the file. */
  def blocks: Iterator[BlockId] = Iterator.iterate(0L)(_ + step).takeWhile(_ < end).map(BlockId(number, _))
}

private object FileGrid {

  private val MaxBlocks = 4000L

  private def ceil(a: Long, b: Long): Long = (a - 1) / b + 1
}
