// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.enumerator

import scala.collection.mutable

import splice.source.runtime.SideLog

/** File lists of one checkpoint. The first start creates list 0. A start with changed settings creates the next list
  * if no file was read yet. The scope of that list is `list-<number>`. Positions have the number of their list.
  */
final private[files] class FileLists(log: SideLog) {

  private val logs  = mutable.Map.empty[Int, FileListEntries]
  private val sizes = mutable.Map.empty[Int, Int]
  private val known = mutable.Map.empty[Int, FileList]

  /** Persists a list and its end, unless they exist. */
  def create(number: Int)(list: => FileList): Unit = {
    logOf(number).create(list)
    logOf(number).close(load(number).files.size)
  }

  /** List with the given number; None if the list does not exist or is not closed. */
  def find(number: Int): Option[FileList] = if (logOf(number).isClosed) Some(apply(number)) else None

  /** True if a list is persisted, completely or in part. */
  def exists(number: Int): Boolean = logOf(number).exists

  /** Number of files of a list. Reads no segment. */
  def size(number: Int): Int = sizes.getOrElseUpdate(number, logOf(number).size)

  /** @throws splice.source.errors.SpliceException if the list does not exist or is corrupt */
  def apply(number: Int): FileList = {
    val list = load(number)
    if (list.files.size != size(number)) throw FileListEntries.wrongSize(size(number), list.files.size)
    list
  }

  private def load(number: Int): FileList = known.getOrElseUpdate(number, logOf(number).read())

  private def logOf(number: Int): FileListEntries =
    logs.getOrElseUpdate(number, new FileListEntries(if (number == 0) log else log.scope(s"list-$number")))
}
