// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.sidelog

import java.io.IOException

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Options.CreateFileOptionKeys
import org.apache.hadoop.fs.{
  FSDataOutputStream,
  FSDataOutputStreamBuilder,
  FileAlreadyExistsException,
  FileSystem,
  Path
}

/** Creates an object in a store that makes an object visible when its stream is closed. */
private[coordinator] object Upload {

  /** The path capability, and the option, of an upload that fails if the object exists. */
  val Conditional: String = CreateFileOptionKeys.FS_OPTION_CREATE_CONDITIONAL_OVERWRITE

  /** Returns false if the object exists. The existing object may be from this upload, if the response to its first
    * attempt was lost.
    */
  def apply(fs: FileSystem, file: Path, content: Array[Byte], isConditional: Boolean): Boolean =
    try {
      val out = if (isConditional) open(fs, file) else fs.create(file, false)
      try out.write(content)
      catch {
        case NonFatal(e) =>
          abort(out, e)
          throw e
      }
      finish(fs, file, out)
    } catch { case _: FileAlreadyExistsException => false }

  private def open(fs: FileSystem, file: Path): FSDataOutputStream = {
    val builder: FSDataOutputStreamBuilder[_ <: FSDataOutputStream, _] = fs.createFile(file)

    val _ = builder.recursive()
    val _ = builder.must(Conditional, true)
    builder.build()
  }

  // Closing the stream would upload the partial content.
  private def abort(out: FSDataOutputStream, cause: Throwable): Unit =
    try { val _ = out.abort() }
    catch { case NonFatal(e) => cause.addSuppressed(e) }

  // Each store has a different error for an existing object.
  private def finish(fs: FileSystem, file: Path, out: FSDataOutputStream): Boolean =
    try {
      out.close()
      true
    } catch { case e: IOException => if (exists(fs, file, e)) false else throw e }

  private def exists(fs: FileSystem, file: Path, cause: IOException): Boolean =
    try fs.exists(file)
    catch {
      case e: IOException =>
        cause.addSuppressed(e)
        false
    }
}
