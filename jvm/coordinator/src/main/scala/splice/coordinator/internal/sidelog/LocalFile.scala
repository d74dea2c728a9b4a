// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.sidelog

import java.io.IOException
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.StandardOpenOption.{CREATE_NEW, READ, WRITE}
import java.nio.file.attribute.BasicFileAttributes
import java.nio.file.{
  FileAlreadyExistsException,
  FileSystemException,
  FileVisitResult,
  Files,
  NoSuchFileException,
  Path,
  SimpleFileVisitor
}
import java.util.{Set => JSet}

import scala.util.Using

import org.apache.hadoop.fs.{FileSystem, LocalFileSystem, Path => HadoopPath, RawLocalFileSystem}

/** Writes a local file, or removes files of a local folder, with java.nio. Hadoop's local file system would start
  * processes for each file.
  *
  * @param flush
  *   makes the names in a folder durable
  * @param link
  *   creates a link, the first argument, to an existing file, the second argument
  */
final private[coordinator] class LocalFile(
    file: Path,
    flush: Path => Unit = LocalFile.flush,
    link: (Path, Path) => Unit = LocalFile.link
) {

  import LocalFile._

  /** Creates the file as a whole or not at all. Returns false if the file exists, or None if the disk has no hard
    * links.
    */
  def create(content: Array[Byte]): Option[Boolean] = {
    val folder  = file.toAbsolutePath.getParent
    val missing = Iterator.iterate(folder)(_.getParent).takeWhile(!Files.exists(_)).toSeq
    Files.createDirectories(folder)
    missing.foreach(created => flush(created.getParent))
    val temporary = file.resolveSibling(AtomicFile.temporaryName(file.getFileName.toString))
    try {
      val options = JSet.of(CREATE_NEW, WRITE)
      Using.resource(FileChannel.open(temporary, options)) { channel =>
        val left = ByteBuffer.wrap(content)
        while (left.hasRemaining) channel.write(left)
        channel.force(true)
      }
      val linked = linkedTo(temporary)
      if (linked.contains(true)) flush(folder)
      linked
    } finally { val _ = Files.deleteIfExists(temporary) }
  }

  /** Removes files in this folder and its subfolders. Other processes may remove files at the same time.
    *
    * @param isRemoved
    *   selects a file by its name and by the time of its last change in milliseconds
    */
  def remove(isRemoved: (String, Long) => Boolean): Unit = if (Files.exists(file)) {
    val visitor = new SimpleFileVisitor[Path] {
      override def visitFile(visited: Path, attributes: BasicFileAttributes): FileVisitResult = {
        if (isRemoved(visited.getFileName.toString, attributes.lastModifiedTime.toMillis)) {
          val _ = Files.deleteIfExists(visited)
        }
        FileVisitResult.CONTINUE
      }

      override def visitFileFailed(visited: Path, e: IOException): FileVisitResult = e match {
        case _: NoSuchFileException => FileVisitResult.CONTINUE
        case _                      => throw e
      }
    }
    val _ = Files.walkFileTree(file.toRealPath(), visitor)
  }

  // Unlike a rename, a link never replaces an existing file.
  private def linkedTo(temporary: Path): Option[Boolean] =
    try {
      link(file, temporary)
      Some(true)
    } catch {
      case _: FileAlreadyExistsException                                                                  => Some(false)
      case _: UnsupportedOperationException                                                               => None
      case e: FileSystemException if e.getClass == classOf[FileSystemException] && !Failures(e.getReason) => None
    }
}

private[coordinator] object LocalFile {

  // With Spark's Hive jars on the class path, as in PySpark, Hive's class is the file system of `file:`.
  private val Classes = Set(
    classOf[LocalFileSystem].getName,
    classOf[RawLocalFileSystem].getName,
    "org.apache.hadoop.hive.ql.io.ProxyLocalFileSystem"
  )

  /** Returns the local file, or None if the file is not on one of Hadoop's own local file systems. A file system that
    * wraps one of these must see all writes, so it is not bypassed.
    */
  def of(fs: FileSystem, file: HadoopPath): Option[LocalFile] = fs match {
    case local: LocalFileSystem if Classes(local.getClass.getName) => Some(new LocalFile(local.pathToFile(file).toPath))
    case raw: RawLocalFileSystem if Classes(raw.getClass.getName)  => Some(new LocalFile(raw.pathToFile(file).toPath))
    case _                                                         => None
  }

  private def link(link: Path, existing: Path): Unit = { val _ = Files.createLink(link, existing) }

  // Reasons why a disk with hard links creates no link, in the text of POSIX systems.
  private val Failures =
    Set("No space left on device", "Disk quota exceeded", "Input/output error", "Read-only file system")

  // A system that cannot open a folder makes its names durable immediately, or cannot force names to disk.
  private def flush(folder: Path): Unit =
    try Using.resource(FileChannel.open(folder, READ))(_.force(true))
    catch { case _: IOException => () }
}
