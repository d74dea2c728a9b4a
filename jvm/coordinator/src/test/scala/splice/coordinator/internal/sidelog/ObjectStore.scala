// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.sidelog

import java.io.{ByteArrayOutputStream, IOException, OutputStream}
import java.nio.file.{Files, Path}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{
  Abortable,
  CommonPathCapabilities,
  FSDataOutputStream,
  FSDataOutputStreamBuilder,
  LocalFileSystem,
  Path => HadoopPath
}

/** The local file system with the writes of an object store. An object is uploaded when its stream is closed, if its
  * name is free.
  *
  * @param most
  *   the number of bytes that can be written before the store fails
  * @param isConditional
  *   true if an upload can have the condition that the name is free
  */
final class ObjectStore(most: Int, isConditional: Boolean = true) extends LocalFileSystem {

  initialize(java.net.URI.create("file:///"), new Configuration(false))

  /** Runs before an upload. */
  var beforeClose: () => Unit = () => ()

  /** Runs before the store checks whether an object exists. */
  var beforeExists: () => Unit = () => ()

  /** The number of completed uploads. */
  var uploads = 0

  /** The names of the objects that were uploaded. */
  var uploaded: Vector[String] = Vector.empty

  /** The number of aborted uploads. */
  var aborted = 0

  override def hasPathCapability(path: HadoopPath, capability: String): Boolean = capability match {
    case Upload.Conditional                      => isConditional
    case CommonPathCapabilities.ABORTABLE_STREAM => true
    case other                                   => super.hasPathCapability(path, other)
  }

  override def exists(path: HadoopPath): Boolean = {
    beforeExists()
    super.exists(path)
  }

  override def create(path: HadoopPath, overwrite: Boolean): FSDataOutputStream = {
    require(!isConditional && !overwrite, "an upload without a condition")
    new FSDataOutputStream(new Part(pathToFile(path).toPath), None.orNull)
  }

  override def createFile(path: HadoopPath): Builder = new Builder(path)

  final class Builder(path: HadoopPath)
      extends FSDataOutputStreamBuilder[FSDataOutputStream, Builder](ObjectStore.this, path) {
    override def getThisBuilder: Builder     = this
    override def build(): FSDataOutputStream = {
      require(getMandatoryKeys.contains(Upload.Conditional), "an upload without a condition")
      new FSDataOutputStream(new Part(pathToFile(path).toPath), None.orNull)
    }
  }

  final private class Part(file: Path) extends OutputStream with Abortable {
    private val content = new ByteArrayOutputStream
    private var open    = true

    override def write(byte: Int): Unit = {
      if (content.size >= most) throw new IOException("no space left for parts")
      content.write(byte)
    }

    override def abort(): Abortable.AbortableResult = {
      open = false
      aborted += 1
      new Abortable.AbortableResult {
        override def alreadyClosed: Boolean           = false
        override def anyCleanupException: IOException = None.orNull
      }
    }

    override def close(): Unit = if (open) {
      open = false
      beforeClose()
      if (Files.exists(file)) throw new IOException("412")
      val _ = Files.createDirectories(file.getParent)
      val _ = Files.write(file, content.toByteArray)
      uploads += 1
      uploaded :+= file.getFileName.toString
    }
  }
}
