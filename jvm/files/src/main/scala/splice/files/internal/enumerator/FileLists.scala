// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.enumerator

import scala.collection.mutable

import splice.source.runtime.SideLog

/** The lists of one checkpoint. List 0 is that of the first start. A start that has read no file and has other settings makes the
  * next list, with entries below `list-<number>`; positions name their list.
  */
final private[files] class FileLists(log: SideLog) {

  private val logs  = mutable.Map.empty[Int, FileListLog]
  private val sizes = mutable.Map.empty[Int, Int]
  private val known = mutable.Map.empty[Int, FileList]

  /** Persists a list and its end, unless they are there. */
  def create(number: Int)(list: => FileList): Unit = {
    logOf(number).create(list)
    logOf(number).close(load(number).files.size)
  }

  /** A list, if it is there. */
  def find(number: Int): Option[FileList] = if (logOf(number).isClosed) Some(apply(number)) else None

  /** Whether a list is persisted, at least in part. */
  def exists(number: Int): Boolean = logOf(number).exists

  /** The number of files of a list. Reads no segment. */
  def size(number: Int): Int = sizes.getOrElseUpdate(number, logOf(number).size)

  /** @throws splice.source.errors.SpliceException when there is no such list, or it is damaged */
  def apply(number: Int): FileList = {
    val list = load(number)
    if (list.files.size != size(number)) throw FileListLog.wrongSize(size(number), list.files.size)
    list
  }

  private def load(number: Int): FileList = known.getOrElseUpdate(number, logOf(number).read())

  private def logOf(number: Int): FileListLog =
    logs.getOrElseUpdate(number, new FileListLog(if (number == 0) log else log.scope(s"list-$number")))
}
