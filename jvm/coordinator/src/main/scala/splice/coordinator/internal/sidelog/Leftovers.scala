// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.sidelog

import java.io.{FileNotFoundException, InterruptedIOException}
import java.time.{Clock, Duration}

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{LocatedFileStatus, Path}
import org.apache.hadoop.util.functional.RemoteIterators
import org.slf4j.LoggerFactory

/** Temporary files of drivers that were killed during a write. A write of a live driver takes seconds, so the age of a
  * file identifies a leftover.
  */
private[splice] object Leftovers {

  /** The minimum age of a leftover. The age includes a margin for a difference between the clocks of driver and
    * storage.
    */
  val Age: Duration = Duration.ofHours(1)

  private val logger = LoggerFactory.getLogger(Leftovers.getClass)

  // The name of a temporary file, or of the checksum that Hadoop's local file system writes for a temporary file.
  private val Name = """\.{1,2}.+\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp(\.crc)?""".r

  /** Removes the leftovers in a folder and in its subfolders. A failure is logged. */
  def remove(folder: Path, configuration: Configuration, clock: Clock): Unit = {
    val before = clock.instant().minus(Age).toEpochMilli
    try {
      val fs                                       = folder.getFileSystem(configuration)
      def isLeftover(name: String, modified: Long) = modified < before && Name.matches(name)
      LocalFile.of(fs, folder) match {
        case Some(local) => local.remove(isLeftover)
        // An object store lists all folders in one request.
        case None =>
          val _ = RemoteIterators.foreach(
            fs.listFiles(folder, true),
            (file: LocatedFileStatus) =>
              if (isLeftover(file.getPath.getName, file.getModificationTime)) {
                val _ = fs.delete(file.getPath, false)
              }
          )
      }
    } catch {
      case _: FileNotFoundException  => ()
      case e: InterruptedIOException => throw e
      case NonFatal(e)               => logger.warn(s"Temporary files below $folder could not be removed.", e)
    }
  }
}
