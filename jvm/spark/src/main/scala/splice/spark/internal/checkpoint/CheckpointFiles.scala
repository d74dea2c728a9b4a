// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.checkpoint

import java.io.{FileNotFoundException, IOException}
import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.immutable.SortedMap
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}

import splice.source.errors.CheckpointErrors
import splice.source.internal.entries.Json
import splice.spark.QueryHistory

/** The files of a checkpoint, on any file system that Hadoop supports. */
final private[spark] class CheckpointFiles(folder: Path, configuration: Configuration) {

  import CheckpointFiles._

  private val fs: FileSystem = folder.getFileSystem(configuration)

  // Listed files have qualified paths.
  private val root = fs.makeQualified(folder)

  private val logs = new BatchLogs(fs, root)

  /** Reads Spark's files.
    *
    * @throws splice.source.errors.SpliceException
    *   if the folder has no checkpoint
    */
  def content: CheckpointContent = {
    // A running query writes the offset of a batch before the commit, and may purge an old batch at any time.
    val commits = logs.commits
    val offsets = logs.offsets
    if (offsets.isEmpty && !fs.exists(new Path(root, Metadata))) throw CheckpointErrors.notFound(root.toString)
    val files = offsets.toSeq.flatMap { batch =>
      try logs.readOffset(batch).map { file =>
          batch -> Either.cond(file.isComplete, file, "The file is empty or truncated")
        }
      catch { case e: IOException => Some(batch -> Left(Option(e.getMessage).getOrElse(e.toString))) }
    }
    CheckpointContent(query, SortedMap.from(files), commits, commits.lastOption.filter(isDamaged))
  }

  // Spark reads the last commit at each start: a version, and metadata as JSON.
  private def isDamaged(batch: Long): Boolean =
    try logs.readCommit(batch).exists { text =>
        val lines = text.linesIterator.toSeq
        !lines.headOption.exists(_.matches("v\\d+")) || lines.lift(1).flatMap(Json.read).isEmpty
      }
    catch { case _: IOException => true }

  private def query: Option[String] =
    try Json.readObject(read(new Path(root, Metadata))).flatMap(Json.field(_, "id")).map(_.asText)
    catch { case _: IOException => None }

  /** Folders of the side log of a source and of its parts. Empty if Splice has not run the source. */
  def sideLogs(source: String): Seq[Path] = QueryHistory.logs(fs, sideLog(source))

  /** Folder of the side log of a source. */
  def sideLog(source: String): Path = new Path(root, s"sources/$source/splice")

  /** True if the offset log has more numbered sources than the checkpoint has folders of sources, and two sources have
    * equal offsets. Spark logs one offset for each use of a source, for example in a union of two filters, and keeps one
    * folder per source. A source without a folder, and a lost folder, have offsets of their own.
    */
  def hasRepeatedSource(content: CheckpointContent): Boolean = {
    val numbers = content.sources.flatMap(_.toIntOption)
    content.hasEqualSources && numbers.size > folders("sources").count(_.toIntOption.nonEmpty)
  }

  private def folders(name: String): Seq[String] =
    try fs.listStatus(new Path(root, name)).toSeq.filter(_.isDirectory).map(_.getPath.getName)
    catch { case _: FileNotFoundException => Nil }

  private def read(file: Path) = Using.resource(fs.open(file))(in => new String(in.readAllBytes(), UTF_8))
}

private[spark] object CheckpointFiles {
  private val Metadata = "metadata"
}
