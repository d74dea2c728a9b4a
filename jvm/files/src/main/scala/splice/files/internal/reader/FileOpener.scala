// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.reader

import scala.collection.mutable

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.catalyst.InternalRow
import org.slf4j.LoggerFactory

import splice.files.internal.access.PathUsers
import splice.files.internal.errors.FileErrors
import splice.files.internal.settings.FileSettings
import splice.files.internal.split.FileBlock
import splice.source.options.FailOrWarn

/** Opens blocks of files after a check that the file equals its listing. One object per task; not thread-safe. */
final private[splice] class FileOpener(
    configuration: Configuration,
    policy: FilePolicy,
    users: PathUsers = PathUsers.Nobody
) {

  private val checked = mutable.Set.empty[String]

  /** Opens a block and returns its rows.
    *
    * @throws splice.source.errors.SpliceException
    *   if the file has changed
    * @throws java.io.FileNotFoundException
    *   if the file is missing
    */
  def open(block: FileBlock, read: FileBlock => Iterator[InternalRow]): Iterator[InternalRow] = {
    if (!checked(block.path)) {
      check(block)
      checked += block.path
    }
    read(block)
  }

  private def check(block: FileBlock): Unit = {
    val path = block.hadoopPath(users)
    val now  = path.getFileSystem(configuration).getFileStatus(path)
    FileOpener.difference(block.size, block.modified, now).foreach { case (property, listed, current) =>
      policy.onChanged match {
        case FailOrWarn.Fail => throw FileErrors.fileChanged(block.path, property, listed, current)
        case FailOrWarn.Warn =>
          FileOpener.logger.warn(FileErrors.fileChangedText(block.path, property, listed, current))
      }
    }
  }

}

private[files] object FileOpener {
  private val logger = LoggerFactory.getLogger(classOf[FileOpener])

  private val Second = 1000L

  /** Returns the property in which a file differs from its listing, with the listed value and the current value. */
  def difference(size: Long, modified: Long, now: FileStatus): Option[(String, String, String)] =
    if (now.getLen != size) Some(("the length", s"$size bytes", s"${now.getLen} bytes"))
    else if (!isSameTime(modified, now.getModificationTime))
      Some(("the modification time", time(modified), time(now.getModificationTime)))
    else None

  private def time(millis: Long): String = java.time.Instant.ofEpochMilli(millis).toString

  /** Some stores return milliseconds in a listing, but whole seconds in the status of one file. */
  private def isSameTime(a: Long, b: Long): Boolean =
    a == b || (Math.floorDiv(a, Second) == Math.floorDiv(b, Second) && Seq(a, b).exists(_ % Second == 0))
}

/** Policies of a task for files that differ from their listing.
  *
  * @param ignoreMissing
  *   skip missing files (Spark's `ignoreMissingFiles`)
  * @param ignoreCorrupt
  *   skip the remaining rows of an unreadable file (Spark's `ignoreCorruptFiles`)
  */
final private[splice] case class FilePolicy(onChanged: FailOrWarn, ignoreMissing: Boolean, ignoreCorrupt: Boolean)

private[splice] object FilePolicy {
  def apply(settings: FileSettings): FilePolicy = {
    val tolerance = settings.tolerance
    FilePolicy(settings.onFileChanged, tolerance.ignoreMissingFiles, tolerance.ignoreCorruptFiles)
  }
}
