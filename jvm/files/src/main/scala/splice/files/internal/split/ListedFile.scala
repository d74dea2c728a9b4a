// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.split

import java.util.{Arrays, Comparator}

import scala.collection.immutable.ArraySeq

import org.apache.spark.sql.catalyst.InternalRow

import splice.files.internal.options.FileOrder

/** State of a file at the listing.
  *
  * @param path
  *   path as an encoded URI
  * @param modified
  *   modification time in milliseconds since the epoch
  * @param splittable
  *   true if tasks can read parts of the file
  * @param values
  *   values of the partition columns
  * @param homes
  *   block locations; empty for local files and object stores
  */
final private[splice] case class ListedFile(
    path: String,
    size: Long,
    modified: Long,
    splittable: Boolean,
    values: InternalRow,
    homes: Seq[BlockHome] = Nil
)

private[splice] object ListedFile {

  private val byPath: Comparator[ListedFile] = (a, b) => a.path.compareTo(b.path)

  private val byTime: Comparator[ListedFile] = (a, b) => {
    val times = java.lang.Long.compare(a.modified, b.modified)
    if (times == 0) byPath.compare(a, b) else times
  }

  /** Files in reading order. The order by event time needs footers, so these files are in the order of paths. */
  def sorted(files: Iterable[ListedFile], order: FileOrder): IndexedSeq[ListedFile] = {
    val all = files.toArray
    order match {
      case FileOrder.ModificationTime              => Arrays.parallelSort(all, byTime)
      case FileOrder.Path | FileOrder.EventTime(_) => Arrays.parallelSort(all, byPath)
    }
    ArraySeq.unsafeWrapArray(all)
  }
}

/** Hosts that store a part of a file. */
final private[splice] case class BlockHome(start: Long, length: Long, hosts: Seq[String])
