// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.checks

import java.io.{FileNotFoundException, IOException}

import scala.util.{Failure, Success, Try}

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.paths.SparkPath

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
        val beyond = positions.filter { case (_, at) => at.list == number && !list.contains(at) }.map { case (at, _) =>
          CheckpointFinding(
            at.file,
            s"The position ${at.json} is not in the file list, which has ${list.files.size} files.",
            "Restore the file from a copy of the checkpoint."
          )
        }
        beyond ++ next.filter(at => at.list == number && list.contains(at)).toSeq.flatMap(unread(list, _))
      }
    }
  }

  /** Compares the unread files with the storage, one request per file. */
  private def unread(list: FileList, at: FilesPosition): Seq[CheckpointFinding] = {
    val numbers = at.partly.keysIterator.map(_.file).distinct ++ (at.files until list.files.size).iterator
    val files   = numbers.map(list.files).toSeq
    val found   = files.map(file => file -> Try(status(file)))
    val failed  = found.collectFirst { case (file, Failure(e: IOException)) =>
      CheckpointFinding(
        file.path,
        s"Unread files were not compared, because their storage is not available: $e",
        "Make the storage available to the command, for example with --conf.",
        isProblem = false
      )
    }
    found.collect { case (_, Failure(e)) if !e.isInstanceOf[IOException] => throw e }
    found.collect { case (file, Success(now)) => compare(file, now) }.flatten ++ failed
  }

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

  private def status(file: ListedFile): Option[FileStatus] = {
    val path: Path = SparkPath.fromUrlString(file.path).toPath
    try Some(path.getFileSystem(HadoopConfiguration.active).getFileStatus(path))
    catch { case _: FileNotFoundException => None }
  }
}
