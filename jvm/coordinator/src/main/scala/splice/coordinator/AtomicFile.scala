// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import java.util.UUID

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{
  CommonPathCapabilities,
  FileAlreadyExistsException,
  FileContext,
  FileSystem,
  Options,
  Path,
  UnsupportedFileSystemException
}

/** Creates a file whole, or not at all, and never over one that is there. */
private[splice] object AtomicFile {

  private val Temporary = ".tmp"

  /** What a file is called while it is written. */
  def temporaryName(name: String): String = s".$name.${UUID.randomUUID()}$Temporary"

  /** Whether a file of this name is a leftover of a crash. */
  def isTemporary(name: String): Boolean = name.startsWith(".")

  /** False when the file was there already; it is left as it is then. */
  def create(fs: FileSystem, file: Path, configuration: Configuration, content: Array[Byte]): Boolean =
    if (fs.exists(file)) false
    else if (fs.hasPathCapability(file.getParent, CommonPathCapabilities.ABORTABLE_STREAM)) put(fs, file, content)
    else LocalFile.of(fs, file).flatMap(_.create(content)).getOrElse(rename(fs, file, configuration, content))

  // An object store shows an object only once its stream is closed, and a rename there is a copy.
  private def put(fs: FileSystem, file: Path, content: Array[Byte]): Boolean =
    try {
      Using.resource(fs.create(file, false))(_.write(content))
      true
    } catch { case _: FileAlreadyExistsException => false }

  // Only a FileContext refuses to rename over a file on every file system, and not every file system has one.
  private def rename(fs: FileSystem, file: Path, configuration: Configuration, content: Array[Byte]): Boolean = {
    val temporary = new Path(file.getParent, temporaryName(file.getName))
    Using.resource(fs.create(temporary, false)) { out =>
      out.write(content)
      out.hsync()
    }
    val renamed =
      try {
        FileContext.getFileContext(file.toUri, configuration).rename(temporary, file, Options.Rename.NONE)
        true
      } catch {
        case _: FileAlreadyExistsException     => false
        case _: UnsupportedFileSystemException => fs.rename(temporary, file)
      }
    if (!renamed) fs.delete(temporary, false)
    renamed
  }
}
