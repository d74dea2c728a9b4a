// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.sidelog

import java.util.UUID

import scala.util.Using
import scala.util.control.NonFatal

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

import splice.source.errors.CheckpointErrors
import splice.source.internal.entries.CheckpointStore

/** Creates a file as a whole or not at all, and never replaces an existing file. A failed write leaves no file.
  *
  * On a local disk, a temporary file is linked to the name. On HDFS, a temporary file is renamed. On S3A, the upload
  * has a condition. Each operation fails if the name exists. Other storage is an error, unless the user accepts it.
  */
private[splice] object AtomicFile {

  // The NameNode checks the name and renames the file in one step.
  private val RenamesAtomically = Set("hdfs", "webhdfs", "swebhdfs")

  /** Returns the name of a file while it is written. */
  def temporaryName(name: String): String = s".$name.${UUID.randomUUID()}.tmp"

  /** True if a name is hidden, as the names of temporary files and of checksums are. */
  def isHidden(name: String): Boolean = name.startsWith(".")

  /** Creates the file. Returns false, and changes nothing, if the file exists.
    *
    * @throws splice.source.errors.SpliceException
    *   if the storage may replace an existing file, and `store` does not accept that
    */
  def create(
      fs: FileSystem,
      file: Path,
      configuration: Configuration,
      content: Array[Byte],
      store: CheckpointStore
  ): Boolean = {
    def unsafe(why: String)(create: => Boolean): Boolean = store match {
      case CheckpointStore.Unsafe => create
      case CheckpointStore.Atomic => throw CheckpointErrors.storeNotAtomic(file.toString, why)
    }
    def hasCapability(name: String) = fs.hasPathCapability(file.getParent, name)
    def renamed                     = rename(fs, file, configuration, content)
    if (fs.exists(file)) false
    else if (hasCapability(Upload.Conditional)) Upload(fs, file, content, isConditional = true)
    else if (RenamesAtomically(fs.getUri.getScheme)) renamed
    else
      LocalFile.of(fs, file) match {
        case Some(local) => local.create(content).getOrElse(unsafe("the disk has no hard links")(renamed))
        case None        =>
          unsafe(s"the file system '${fs.getUri.getScheme}' has no conditional writes") {
            // A rename in an object store copies the object.
            if (hasCapability(CommonPathCapabilities.ABORTABLE_STREAM)) Upload(fs, file, content, isConditional = false)
            else renamed
          }
      }
  }

  // Only FileContext rejects a rename over an existing file on every file system. Some file systems have no
  // FileContext.
  private def rename(fs: FileSystem, file: Path, configuration: Configuration, content: Array[Byte]): Boolean = {
    val temporary = new Path(file.getParent, temporaryName(file.getName))
    try {
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
    } catch {
      case NonFatal(e) =>
        try { val _ = fs.delete(temporary, false) }
        catch { case NonFatal(more) => e.addSuppressed(more) }
        throw e
    }
  }
}
