// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import java.io.FileNotFoundException
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}

import splice.coordinator.OffsetLog

/** The offset log and the commit log of a checkpoint, for one source.
  *
  * @param source
  *   `sources/<name>` of the checkpoint
  */
final private[spark] class LoggedBatches(source: Path, configuration: Configuration) extends OffsetLog {

  import LoggedBatches._

  private val root = source.getParent.getParent

  /** The source's offset after the last batch that is committed; None when there is no such batch. Spark calls a source's `commit` only
    * when the next batch begins, so the last commit of a run is known from the checkpoint alone.
    */
  def committed(): Option[String] = numbers("commits").maxOption.flatMap(offset)

  override def latest(): Option[String] = numbers("offsets").maxOption.flatMap(offset)

  override def oldest(): Option[String] = numbers("offsets").minOption.filter(_ > First).flatMap(offset)

  private def offset(batch: Long): Option[String] = {
    val lines = read(new Path(new Path(root, "offsets"), batch.toString))
    val own   = lines.headOption match {
      case Some("v1") => source.getName.toIntOption.flatMap(lines.drop(Head).lift)
      case _ => lines.drop(Head).find(_.startsWith(s"${source.getName}:")).map(_.drop(source.getName.length + 1))
    }
    own.filter(_ != Nothing)
  }

  private def numbers(folder: String): Seq[Long] =
    try fs.listStatus(new Path(root, folder)).toSeq.filter(_.isFile).flatMap(_.getPath.getName.toLongOption)
    catch { case _: FileNotFoundException => Nil }

  private def read(file: Path): Seq[String] =
    try Using.resource(fs.open(file))(in => new String(in.readAllBytes(), UTF_8)).linesIterator.toSeq
    catch { case _: FileNotFoundException => Nil }

  private def fs: FileSystem = root.getFileSystem(configuration)
}

private[spark] object LoggedBatches {

  // The number of the first batch, which begins at the initial offset.
  private val First = 0L

  // The version and the metadata of the batch.
  private val Head = 2

  // The text of an offset log for a source of which a batch reads nothing.
  private val Nothing = "-"
}
