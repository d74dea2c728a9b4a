// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.stream

import java.io.FileNotFoundException
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}

import splice.coordinator.internal.OffsetLog
import splice.spark.internal.checkpoint.OffsetFile

/** The offset log and the commit log of a checkpoint, for one source.
  *
  * @param source
  *   `sources/<name>` of the checkpoint
  */
final private[spark] class LoggedBatches(source: Path, configuration: Configuration) extends OffsetLog {

  import LoggedBatches._

  private val root = source.getParent.getParent

  /** Returns the offset of the source after the last committed batch, or None if no batch is committed. Spark calls
    * `commit` of a source only when the next batch begins, so only the checkpoint has the last commit of a run.
    */
  def committed(): Option[String] = numbers("commits").maxOption.flatMap(offset)

  /** Returns the batches after the last committed batch, in order. */
  def uncommitted(): Seq[Long] = {
    val last = numbers("commits").maxOption
    numbers("offsets").filter(batch => last.forall(_ < batch)).sorted
  }

  /** Returns the offset of the source after a batch. */
  def end(batch: Long): Option[String] = offset(batch)

  /** Returns the last batch that has an offset, if this batch is an epoch of continuous mode. */
  def lastEpoch(): Option[Long] = numbers("offsets").maxOption.filter(isEpoch)

  /** True if a batch is an epoch of continuous mode. Spark logs no metadata for an epoch. */
  def isEpoch(batch: Long): Boolean = file(batch).isEpoch

  /** Removes the offset of a batch, and the checksum files that Spark and Hadoop keep for the offset. */
  def remove(batch: Long): Unit = files("offsets").map(_.getPath).filter { file =>
    file.getName == batch.toString || file.getName.stripPrefix(".").startsWith(s"$batch.")
  }.foreach(fs.delete(_, false))

  override def latest(): Option[String] = numbers("offsets").maxOption.flatMap(offset)

  override def oldest(): Option[String] = numbers("offsets").minOption.filter(_ > First).flatMap(offset)

  private def offset(batch: Long): Option[String] = file(batch).position(source.getName)

  private def file(batch: Long): OffsetFile = read(new Path(new Path(root, "offsets"), batch.toString))

  private def numbers(folder: String): Seq[Long] = files(folder).flatMap(_.getPath.getName.toLongOption)

  private def files(folder: String): Seq[FileStatus] =
    try fs.listStatus(new Path(root, folder)).toSeq.filter(_.isFile)
    catch { case _: FileNotFoundException => Nil }

  private def read(file: Path): OffsetFile =
    try OffsetFile.read(Using.resource(fs.open(file))(in => new String(in.readAllBytes(), UTF_8)))
    catch { case _: FileNotFoundException => OffsetFile(Nil) }

  private def fs: FileSystem = root.getFileSystem(configuration)
}

private[spark] object LoggedBatches {

  // The number of the first batch, which begins at the initial offset.
  private val First = 0L
}
