// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import java.io.{FileNotFoundException, IOException}
import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.mutable
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import splice.source.{CheckpointErrors, SideLog}

/** A side log in a folder of the checkpoint, on any file system that Hadoop reaches. Used by one thread.
  *
  * The folder is listed once, when it is opened; an entry is a file that [[AtomicFile]] makes whole or not at all.
  *
  * @param folder
  *   `sources/<n>/splice` of the checkpoint, or a folder below it
  */
final class HadoopSideLog(folder: Path, configuration: Configuration) extends SideLog {

  private lazy val fs = folder.getFileSystem(configuration)

  private lazy val known: mutable.SortedSet[String] =
    try
      mutable.SortedSet.from(
        fs.listStatus(folder).iterator.filter(_.isFile).map(_.getPath.getName).filterNot(AtomicFile.isTemporary)
      )
    catch { case _: FileNotFoundException => mutable.SortedSet.empty[String] }

  override def get(key: String): Option[Seq[String]] =
    if (known(key)) Some(read(key)) else None

  override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] = get(key).getOrElse {
    val decided = decide
    val created =
      AtomicFile.create(fs, new Path(folder, key), configuration, SideLogFormat.write(decided).getBytes(UTF_8))
    known += key
    if (created) decided else read(key)
  }

  override def keys(prefix: String): Seq[String] = known.rangeFrom(prefix).takeWhile(_.startsWith(prefix)).toSeq

  override def remove(key: String): Unit = {
    fs.delete(new Path(folder, key), false)
    known -= key
  }

  override def scope(name: String): SideLog = new HadoopSideLog(new Path(folder, name), configuration)

  private def read(key: String): Seq[String] = {
    val file  = new Path(folder, key)
    val bytes =
      try Using.resource(fs.open(file))(_.readAllBytes())
      catch {
        case _: FileNotFoundException => throw CheckpointErrors.missingEntry(file.toString)
        case e: IOException if e.getClass.getSimpleName == "ChecksumException" =>
          throw CheckpointErrors.corrupt(file.toString, e.getMessage)
      }
    SideLogFormat.read(file.toString, new String(bytes, UTF_8))
  }
}
