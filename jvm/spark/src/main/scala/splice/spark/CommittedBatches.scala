// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import java.io.FileNotFoundException
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}

/** What a checkpoint says that Spark has committed. Spark tells a source of a batch only when it begins the next, so the last one
  * of a run can be learnt from the checkpoint alone.
  *
  * @param source
  *   `sources/<name>` of the checkpoint
  */
final private[spark] class CommittedBatches(source: Path, configuration: Configuration) {

  import CommittedBatches._

  private val root = source.getParent.getParent

  /** This source's offset after the last batch that is committed; None when there is no such batch. */
  def last(): Option[String] = {
    val fs    = root.getFileSystem(configuration)
    val batch = names(fs, new Path(root, "commits")).flatMap(_.toLongOption).maxOption
    batch.flatMap(id => offset(lines(fs, new Path(new Path(root, "offsets"), id.toString))))
  }

  private def offset(lines: Seq[String]): Option[String] = (lines.headOption match {
    case Some("v1") => source.getName.toIntOption.flatMap(lines.drop(Head).lift)
    case _          => lines.drop(Head).find(_.startsWith(s"${source.getName}:")).map(_.drop(source.getName.length + 1))
  }).filter(_ != Nothing)

  private def names(fs: FileSystem, folder: Path): Seq[String] =
    try fs.listStatus(folder).toSeq.filter(_.isFile).map(_.getPath.getName)
    catch { case _: FileNotFoundException => Nil }

  private def lines(fs: FileSystem, file: Path): Seq[String] =
    try Using.resource(fs.open(file))(in => new String(in.readAllBytes(), UTF_8)).linesIterator.toSeq
    catch { case _: FileNotFoundException => Nil }
}

private[spark] object CommittedBatches {

  // The version and the metadata of the batch.
  private val Head = 2

  // How a batch says that it has read nothing of a source.
  private val Nothing = "-"
}
