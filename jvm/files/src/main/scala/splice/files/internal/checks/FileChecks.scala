// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.checks

import java.io.{FileNotFoundException, IOException}
import java.net.URI

import scala.collection.mutable
import scala.util.Try

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.paths.SparkPath

import splice.files.internal.access.{AccessDenied, NoFileSystem}
import splice.files.internal.enumerator.{FileList, FileLists, FilesPosition}
import splice.files.internal.reader.FileOpener
import splice.files.internal.split.ListedFile
import splice.source.internal.HadoopConfiguration
import splice.source.internal.checks.{CheckpointFinding, StoredSource}

/** Checks the positions of a file source in a checkpoint, the stored file list, and the files that are not read yet. */
private[splice] object FileChecks {

  def isPosition(json: String): Boolean = Try(FilesPosition.read(json)).isSuccess

  def apply(stored: StoredSource): Seq[CheckpointFinding] = {
    val (positions, damaged) = stored.positions(FilesPosition.read)
    val lists                = new FileLists(stored.log)
    val used = positions.lastOption.map(_._2.list).toSet ++ positions.map(_._2).filter(_.files > 0).map(_.list)
    val next = stored.next.flatMap(at => Try(FilesPosition.read(at.json)).toOption)
    damaged ++ StoredSource.order(positions) ++ used.toSeq.sorted.flatMap { number =>
      CheckpointFinding.caught(stored.file(if (number == 0) "files-<n>" else s"list-$number/files-<n>")) {
        val list   = lists(number)
        val beyond = positions.filter { case (_, at) => at.list == number && !isIn(list, at) }.map { case (at, _) =>
          CheckpointFinding(
            at.file,
            s"The position ${at.json} is not in the file list, which has ${list.end.files} files.",
            "Restore the file from a copy of the checkpoint."
          )
        }
        beyond ++ next.filter(at => at.list == number && list.contains(at)).toSeq.flatMap(unread(list, _))
      }
    }
  }

  // The segments of the first files of a watched folder may be merged.
  private def isIn(list: FileList, at: FilesPosition): Boolean =
    if (at.firstFile < list.first) at.files <= list.end.files else list.contains(at)

  /** Compares the unread files with the storage, one request per file. A file system that is not available receives no
    * further request, because a request may take minutes.
    */
  private def unread(list: FileList, at: FilesPosition): Seq[CheckpointFinding] = {
    val numbers = at.partly.keysIterator.map(_.file).distinct ++ (at.files until list.end.files).iterator
    val failed  = mutable.LinkedHashMap.empty[URI, CheckpointFinding]
    val skipped = mutable.Set.empty[URI]
    val found   = numbers.map(list.file).flatMap { file =>
      val path = SparkPath.fromUrlString(file.path).toPath
      val root = new Path(path.toUri.getScheme, path.toUri.getAuthority, "/").toUri
      def failure(e: Exception, ofAllFiles: Boolean): Option[CheckpointFinding] = {
        if (ofAllFiles) skipped += root
        failed.getOrElseUpdate(root, unavailable(file, e))
        None
      }
      if (skipped(root)) None
      else
        try compare(file, status(path))
        catch {
          case AccessDenied(e) => failure(e, ofAllFiles = false)
          case NoFileSystem(e) => failure(e, ofAllFiles = true)
          case e: IOException  => failure(e, ofAllFiles = true)
        }
    }.toSeq
    found ++ failed.values
  }

  private def unavailable(file: ListedFile, e: Exception) = CheckpointFinding(
    file.path,
    s"Unread files were not compared, because their storage is not available: $e",
    "Make the storage available to the command, for example with --conf.",
    isProblem = false
  )

  private def compare(listed: ListedFile, found: Option[FileStatus]): Option[CheckpointFinding] = found match {
    case None => Some(CheckpointFinding(
        listed.path,
        "The file is missing, and the query has not read the file completely.",
        "Restore the file. A file that was renamed or rewritten needs a new checkpoint location."
      ))
    case Some(now) => FileOpener.difference(listed.size, listed.modified, now).map { case (property, before, after) =>
        CheckpointFinding(
          listed.path,
          s"The file has changed since the listing: $property was $before and is now $after.",
          "Restore the file of the listing. 'onFileChanged' sets the reaction of the query."
        )
      }
  }

  private def status(path: Path): Option[FileStatus] =
    try Some(path.getFileSystem(HadoopConfiguration.active).getFileStatus(path))
    catch { case _: FileNotFoundException => None }
}
