// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.StandardOpenOption.{CREATE_NEW, WRITE}
import java.nio.file.{FileAlreadyExistsException, FileSystemException, Files, Path}

import scala.util.Using

import org.apache.hadoop.fs.{FileSystem, LocalFileSystem, Path => HadoopPath}

/** A file of this machine, past Hadoop: its local file system starts several processes for each file that it makes. */
final private[coordinator] class LocalFile private (file: Path) {

  /** Creates the file whole or not at all: false when it is there already, None when this disk has no hard links. */
  def create(content: Array[Byte]): Option[Boolean] = {
    Files.createDirectories(file.getParent)
    val temporary = file.resolveSibling(AtomicFile.temporaryName(file.getFileName.toString))
    try {
      Using.resource(FileChannel.open(temporary, CREATE_NEW, WRITE)) { channel =>
        val left = ByteBuffer.wrap(content)
        while (left.hasRemaining) channel.write(left)
        channel.force(true)
      }
      // Unlike a rename, a link is never made over a file that is there.
      Files.createLink(file, temporary)
      Some(true)
    } catch {
      case _: FileAlreadyExistsException                             => Some(false)
      case _: UnsupportedOperationException | _: FileSystemException => None
    } finally { val _ = Files.deleteIfExists(temporary) }
  }
}

private[coordinator] object LocalFile {

  /** None when the file is not on Hadoop's own local file system; one that wraps it must see what is written. */
  def of(fs: FileSystem, file: HadoopPath): Option[LocalFile] = fs match {
    case local: LocalFileSystem if local.getClass == classOf[LocalFileSystem] =>
      Some(new LocalFile(local.pathToFile(file).toPath))
    case _ => None
  }
}
