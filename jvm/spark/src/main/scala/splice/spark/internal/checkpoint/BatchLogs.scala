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
  def offsets: SortedSet[Long] = numbers(Offsets, _.isFile)

  /** Numbers of the batches that have a commit. */
  def commits: SortedSet[Long] = numbers(Commits, _.isFile)

  /** File of the offset of a batch. */
  def offset(batch: Long): Path = file(Offsets, batch)

  /** Reads the offset of a batch. None if the file does not exist. */
  def readOffset(batch: Long): Option[OffsetFile] = read(offset(batch)).map(OffsetFile.read)

  /** Reads the offset of a source after a batch. None without an offset, and if the source of an offset is unknown. */
  def position(batch: Long, source: String): Option[String] =
    readOffset(batch).flatMap(file => name(source, file.sources).flatMap(file.position))

  // Spark logs one offset for each use of a source, for example in a union of two filters, and keeps one folder per
  // source. The uses of one source have the same offset in each batch. A source of another project may have no folder.
  private def name(source: String, uses: Seq[String]): Option[String] = {
    val count = numbers(Sources, _.isDirectory).lastOption.fold(0)(_.toInt + 1)
    if (source.toIntOption.isEmpty || uses.sizeIs <= count) Some(source)
    else {
      val files    = offsets.toSeq.flatMap(readOffset)
      val distinct = uses.distinctBy(use => files.map(_.position(use)))
      // Several sources of one topic may have the same offsets.
      if (distinct.sizeIs == 1) distinct.headOption
      else source.toIntOption.filter(_ => distinct.sizeIs >= count).flatMap(distinct.lift)
    }
  }

  /** Reads the commit of a batch. None if the file does not exist. */
  def readCommit(batch: Long): Option[String] = read(file(Commits, batch))

  /** Removes the offset of a batch, with the checksum files that Spark and Hadoop keep for the file. */
  def removeOffset(batch: Long): Unit =
    list(Offsets).filter(_.isFile).map(_.getPath).filter { file =>
      file.getName == batch.toString || file.getName.stripPrefix(".").startsWith(s"$batch.")
    }.foreach(file => if (!fs.delete(file, false)) throw new IOException(s"The file $file could not be deleted."))

  private def numbers(folder: String, kind: FileStatus => Boolean) =
    SortedSet.from(list(folder).filter(kind).flatMap(_.getPath.getName.toLongOption))

  private def file(folder: String, batch: Long) = new Path(new Path(checkpoint, folder), batch.toString)

  private def list(folder: String): Seq[FileStatus] =
    try fs.listStatus(new Path(checkpoint, folder)).toSeq
    catch { case _: FileNotFoundException => Nil }

  private def read(file: Path): Option[String] =
    try Some(Using.resource(fs.open(file))(in => new String(in.readAllBytes(), UTF_8)))
    catch { case _: FileNotFoundException => None }
}

private object BatchLogs {
  private val Offsets = "offsets"
  private val Commits = "commits"
  private val Sources = "sources"
}
