// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.listing

import java.io.{BufferedReader, InputStreamReader}
import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.mutable
import scala.util.Using

import com.fasterxml.jackson.databind.JsonNode
import org.apache.hadoop.fs.{ChecksumException, FileStatus, FileSystem, Path}
import org.apache.spark.paths.SparkPath

import splice.files.internal.errors.FileErrors
import splice.source.internal.entries.Json

/** Output folder of Spark's streaming file sink.
  *
  * @param committed
  *   files of committed batches, by the path component of their URI
  * @param batch
  *   number of the last committed batch; None without a batch
  */
final private[files] case class SinkFolder(
    path: Path,
    committed: collection.Map[String, FileStatus],
    batch: Option[Long]
)

/** Log of Spark's streaming file sink. The log has one entry `N` per batch, or `N.compact` for the batch and all
  * earlier batches.
  */
private[files] object SinkLog {

  val Folder = "_spark_metadata"

  private val Version = "v1"

  private val Entry = """(\d{1,18})(\.compact)?""".r

  /** @throws splice.source.errors.SpliceException if the log is corrupt, or belongs to another folder */
  def read(fs: FileSystem, folder: Path): SinkFolder = read(fs, folder, entries(fs, folder))

  /** Reads the log if its last batch is not `last`. */
  def readAfter(fs: FileSystem, folder: Path, last: Option[Long]): Option[SinkFolder] = {
    val all = entries(fs, folder)
    Option.when(last.isEmpty || all.lastOption.map(_._1) != last)(read(fs, folder, all))
  }

  private def read(fs: FileSystem, folder: Path, all: Seq[(Long, Path)]): SinkFolder = {
    val files = mutable.LinkedHashMap.empty[String, FileStatus]
    all.map(_._2).foreach { entry =>
      Using.resource(new BufferedReader(new InputStreamReader(fs.open(entry), UTF_8))) { text =>
        val lines = Iterator.continually(Option(text.readLine())).takeWhile(_.isDefined).flatten
        try add(lines, entry, folder, files)
        catch { case e: ChecksumException => invalid(entry, folder, e.getMessage) }
      }
    }
    SinkFolder(folder, files, all.lastOption.map(_._1))
  }

  // Spark needs the last compacted entry and all later entries.
  private def entries(fs: FileSystem, folder: Path): Seq[(Long, Path)] = {
    val log   = new Path(folder, Folder)
    val found = fs.listStatus(log).toSeq.map(_.getPath).flatMap { path =>
      path.getName match {
        case Entry(number, compact) => Some((number.toLong, Option(compact).isDefined, path))
        case _                      => None
      }
    }
    val compacted = found.collect { case (number, true, path) => number -> path }.maxByOption(_._1)
    val single    = found.collect { case (number, false, path) => number -> path }.toMap
    val from      = compacted.fold(0L)(_._1 + 1)
    val later     = (from to single.keys.maxOption.getOrElse(-1L)).map { number =>
      number -> single.getOrElse(number, invalid(new Path(log, number.toString), folder, "the entry is missing"))
    }
    compacted.toSeq ++ later
  }

  private def add(
      lines: Iterator[String],
      entry: Path,
      folder: Path,
      files: mutable.Map[String, FileStatus]
  ): Unit = {
    if (!lines.hasNext) invalid(entry, folder, "the entry is empty")
    val version = lines.next()
    if (version != Version) invalid(entry, folder, s"the version is '$version', but Splice reads '$Version'")
    lines.foreach { line =>
      val node             = Json.readObject(line).getOrElse(invalid(entry, folder, s"'$line' is not a JSON object"))
      def of(name: String) = Json.field(node, name).getOrElse(invalid(entry, folder, s"'$line' has no '$name'"))
      val path             = SparkPath.fromUrlString(of("path").asText).toPath
      val key              = path.toUri.getPath
      of("action").asText match {
        case "add" if !of("isDir").asBoolean => files(key) = status(node, inside(path, folder))
        case "add"                           => ()
        case "delete"                        => files -= key
        case other                           => invalid(entry, folder, s"'$other' is not an action")
      }
    }
  }

  // The scheme may differ, because one storage may have several schemes, such as s3 and s3a.
  private def inside(path: Path, folder: Path): Path = {
    val (file, root) = (path.toUri, folder.toUri)
    val prefix       = root.getPath.stripSuffix("/") + "/"
    if (Option(file.getAuthority) != Option(root.getAuthority) || !file.getPath.startsWith(prefix))
      throw FileErrors.sinkLogMoved(folder.toString, path.toString)
    // Listings have the same text of a path without a host.
    new Path(root.getScheme, Option(root.getAuthority).getOrElse(""), file.getPath)
  }

  private def status(node: JsonNode, path: Path): FileStatus = {
    def number(name: String) = Json.field(node, name).fold(0L)(_.asLong)
    new FileStatus(
      number("size"),
      false,
      number("blockReplication").toInt,
      number("blockSize"),
      number("modificationTime"),
      path
    )
  }

  private def invalid(entry: Path, folder: Path, why: String): Nothing =
    throw FileErrors.sinkLogInvalid(entry.toString, folder.toString, why)
}
