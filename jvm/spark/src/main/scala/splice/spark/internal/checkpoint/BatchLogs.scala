// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.checkpoint

import java.io.{FileNotFoundException, IOException}
import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.immutable.SortedSet
import scala.util.Using

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}

/** Offset log and commit log of a checkpoint: one file per batch in the folders `offsets` and `commits`.
  *
  * A running query writes and purges the files at any time.
  */
final private[spark] class BatchLogs(fs: FileSystem, checkpoint: Path) {

  import BatchLogs._

  /** Numbers of the batches that have an offset. */
  def offsets: SortedSet[Long] = numbers(Offsets)

  /** Numbers of the batches that have a commit. */
  def commits: SortedSet[Long] = numbers(Commits)

  /** File of the offset of a batch. */
  def offset(batch: Long): Path = file(Offsets, batch)

  /** Reads the offset of a batch. None if the file does not exist. */
  def readOffset(batch: Long): Option[OffsetFile] = read(offset(batch)).map(OffsetFile.read)

  /** Reads the commit of a batch. None if the file does not exist. */
  def readCommit(batch: Long): Option[String] = read(file(Commits, batch))

  /** Removes the offset of a batch, with the checksum files that Spark and Hadoop keep for the file. */
  def removeOffset(batch: Long): Unit =
    list(Offsets).map(_.getPath).filter { file =>
      file.getName == batch.toString || file.getName.stripPrefix(".").startsWith(s"$batch.")
    }.foreach(file => if (!fs.delete(file, false)) throw new IOException(s"The file $file could not be deleted."))

  /** Folders of the logs that exist. */
  def folders: Seq[Path] = Seq(Offsets, Commits).map(new Path(checkpoint, _)).filter(fs.exists)

  /** Time of the last change of a file, in milliseconds since 1970. 0 without a file. */
  def modified: Long = Seq(Offsets, Commits).flatMap(list).map(_.getModificationTime).maxOption.getOrElse(0L)

  private def numbers(folder: String) = SortedSet.from(list(folder).flatMap(_.getPath.getName.toLongOption))

  private def file(folder: String, batch: Long) = new Path(new Path(checkpoint, folder), batch.toString)

  private def list(folder: String): Seq[FileStatus] =
    try fs.listStatus(new Path(checkpoint, folder)).toSeq.filter(_.isFile)
    catch { case _: FileNotFoundException => Nil }

  private def read(file: Path): Option[String] =
    try Some(Using.resource(fs.open(file))(in => new String(in.readAllBytes(), UTF_8)))
    catch { case _: FileNotFoundException => None }
}

private object BatchLogs {
  private val Offsets = "offsets"
  private val Commits = "commits"
}
