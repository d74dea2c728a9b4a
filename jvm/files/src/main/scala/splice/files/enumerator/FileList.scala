// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.enumerator

import splice.files.split.{FileRange, FileSchemas, ListedFile, Packing}

/** The files of a source in the order in which they are read, and what else was fixed with them at the first start.
  *
  * @param splitBy
  *   the option of the format by which files are split or read whole, and its value
  */
final private[splice] class FileList(
    val schemas: FileSchemas,
    val packing: Packing,
    val files: IndexedSeq[ListedFile],
    val splitBy: Option[(String, Boolean)] = None
) {

  private lazy val bytesBefore: Array[Long] = files.iterator.map(_.size).scanLeft(0L)(_ + _).toArray

  /** The bytes of the files from number `from` until number `until`. */
  def bytes(from: Int, until: Int): Long = bytesBefore(until) - bytesBefore(from)

  /** The tasks that read the files from number `from` until number `until`. */
  def ranges(from: Int, until: Int): Seq[FileRange] = packing.ranges(files.slice(from, until), from, schemas)

  /** How far a batch that begins at `from` goes: at least one file, if there is one. */
  def reach(from: Int, maxFiles: Option[Int], maxBytes: Option[Long]): Int = {
    val byCount = maxFiles.fold(files.size)(n => math.min(files.size.toLong, from.toLong + n).toInt)
    val byBytes =
      maxBytes.fold(files.size)(n => (from + 1 to files.size).takeWhile(bytes(from, _) <= n).lastOption.getOrElse(from))
    math.min(files.size, math.max(from + 1, math.min(byCount, byBytes)))
  }
}
