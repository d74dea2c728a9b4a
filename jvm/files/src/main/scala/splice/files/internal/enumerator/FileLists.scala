// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.enumerator

import scala.collection.mutable

import splice.source.runtime.SideLog

/** File lists of one checkpoint. The first start creates list 0. A start with changed settings creates the next list
  * if no file was read yet. The scope of that list is `list-<number>`. Positions have the number of their list.
  */
final private[files] class FileLists(log: SideLog) {

  private val logs = mutable.Map.empty[Int, FileListEntries]

  // The last window that was read, because each batch is planned more than once.
  private val windows = mutable.Map.empty[Int, (Int, Int, FileList)]

  /** Persists a list and its end, unless they exist. */
  def create(number: Int)(list: => FileList): Unit = {
    of(number).create(list)
    of(number).close(of(number).stored)
  }

  /** List with the given number; None if the list does not exist or is not closed. */
  def find(number: Int): Option[FileList] = if (of(number).isClosed) Some(apply(number)) else None

  /** True if a list is persisted, completely or in part. */
  def exists(number: Int): Boolean = of(number).exists

  /** Number of files of a list. */
  def size(number: Int): Int = of(number).size

  /** All files of a list, except segments that were merged.
    *
    * @throws splice.source.errors.SpliceException
    *   if the list does not exist or is corrupt
    */
  def apply(number: Int): FileList = window(number, 0, Int.MaxValue)

  /** Files `from` to `until` of a list, and possibly further files. */
  def window(number: Int, from: Int, until: Int): FileList = {
    val size = this.size(number)
    val end  = math.min(until, size)
    windows.get(number).collect {
      case (known, stored, list) if known <= from && list.end.files >= end && stored == size => list
    }.getOrElse {
      val list    = of(number).read(from, end)
      val isWhole = !of(number).isWatched || end == size
      if (of(number).isClosed && isWhole && list.end.files != size)
        throw FileListEntries.wrongSize(size, list.end.files)
      windows(number) = (from, size, list)
      list
    }
  }

  /** Entries of a list. */
  def of(number: Int): FileListEntries =
    logs.getOrElseUpdate(number, new FileListEntries(if (number == 0) log else log.scope(s"list-$number")))
}
