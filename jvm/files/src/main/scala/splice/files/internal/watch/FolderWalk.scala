// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.watch

import java.io.{FileNotFoundException, IOException}
import java.time.Duration
import java.util.concurrent.atomic.{AtomicInteger, LongAdder}

import scala.annotation.tailrec
import scala.collection.mutable

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, FileSystem, Path, RemoteIterator}
import org.apache.hadoop.mapred.{FileInputFormat, JobConf}
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.execution.datasources.PathFilterFactory

import splice.files.internal.listing.{FolderOwners, HiddenPaths, ModificationTimes, RootPaths, SinkLog}
import splice.files.internal.settings.FileSettings
import splice.files.internal.split.ListedFile

/** Folder of a listing.
  *
  * @param isTop
  *   true if the folder is a path of the source, or has a file that is a path
  * @param sink
  *   folder of the sink of Spark that defines the files of this folder
  * @param example
  *   a file whose name is the name of a data file, selected or not
  * @param fresh
  *   new files without the values of the folder
  * @param listed
  *   number of files that the options select
  * @param old
  *   number of these files before the limit
  * @param young
  *   number of files that are younger than `minFileAge`
  * @param youngBytes
  *   bytes of these files
  * @param ahead
  *   number and example of these files whose time is later than the clock of the driver
  * @param newest
  *   greatest modification time of a selected file
  * @param isGone
  *   true if the folder no longer exists
  */
final private[files] case class VisitedFolder(
    path: Path,
    isTop: Boolean,
    sink: Option[Path] = None,
    example: Option[FileStatus] = None,
    fresh: IndexedSeq[ListedFile] = IndexedSeq.empty,
    listed: Int = 0,
    old: Int = 0,
    young: Int = 0,
    youngBytes: Long = 0,
    ahead: Option[(Int, Path)] = None,
    newest: Option[Long] = None,
    changed: Seq[FolderListing.ChangedFile] = Nil,
    isGone: Boolean = false
) {

  /** With a file that is younger than `minFileAge`.
    *
    * @param latest
    *   greatest time that a correct clock gives a file
    */
  def withYoung(file: FileStatus, latest: Long): VisitedFolder = copy(
    young = young + 1,
    youngBytes = youngBytes + file.getLen,
    ahead =
      if (file.getModificationTime <= latest) ahead
      else Some(ahead.fold(1)(_._1 + 1) -> ahead.fold(file.getPath)(_._2))
  )

  /** Without its files. */
  def counts: VisitedFolder = copy(example = None, fresh = IndexedSeq.empty, changed = Nil)
}

/** Comparison of listed files with known files. Several threads use one check, while no thread changes the known files.
  */
final private[files] class FileCheck(
    known: KnownFiles,
    limit: Option[Long],
    minAge: Duration,
    now: Long,
    filter: FileFilter
)(listed: (String, FileStatus) => ListedFile) {

  /** Checks files of one folder.
    *
    * @param isCommitted
    *   true for files in the log of a sink, which are complete at any age
    */
  def folder(path: Path, isTop: Boolean, files: Iterator[FileStatus], isCommitted: Boolean = false): VisitedFolder = {
    val fresh   = mutable.ArrayBuffer.empty[ListedFile]
    val changed = mutable.ArrayBuffer.empty[FolderListing.ChangedFile]
    var visited = VisitedFolder(path, isTop)
    var listed  = 0
    var old     = 0
    var newest  = Long.MinValue
    files.foreach { status =>
      if (!HiddenPaths.isHidden(status.getPath)) {
        if (visited.example.isEmpty) visited = visited.copy(example = Some(status))
        if (filter.accepts(status)) {
          val time = status.getModificationTime
          if (!isCommitted && isYoung(time) && isNew(status)) visited = visited.withYoung(status, LateLimit.latest(now))
          else {
            listed += 1
            newest = math.max(newest, time)
            if (limit.exists(time < _)) old += 1
            else compare(status, fresh, changed)
          }
        }
      }
    }
    visited.copy(
      fresh = fresh.toIndexedSeq,
      listed = listed,
      old = old,
      newest = Option.when(listed > 0)(newest),
      changed = changed.toSeq
    )
  }

  private def isYoung(time: Long): Boolean = !minAge.isZero && time > now - minAge.toMillis

  private def isNew(file: FileStatus): Boolean = !known.contains(RootPaths.text(file.getPath))

  private def compare(
      status: FileStatus,
      fresh: mutable.Growable[ListedFile],
      changed: mutable.Growable[FolderListing.ChangedFile]
  ): Unit = {
    val path = RootPaths.text(status.getPath)
    known.compare(path, status.getModificationTime, status.getLen) match {
      case KnownFiles.New             => fresh += listed(path, status)
      case KnownFiles.Same            => ()
      case before: KnownFiles.Changed => changed +=
          FolderListing.ChangedFile(path, status.getModificationTime, status.getLen, before)
    }
  }
}

/** Walk through folders, eight at a time, with one request for each folder.
  *
  * @param isVisited
  *   false for a folder that this listing skips
  */
final private[files] class FolderWalk(
    owners: FolderOwners,
    recursive: Boolean,
    check: FileCheck,
    responses: Responses
)(isVisited: Path => Boolean) {

  import FolderWalk._

  def apply(roots: Seq[FileStatus]): Seq[VisitedFolder] = {
    val (folders, files) = roots.partition(_.isDirectory)
    val single           = files.groupBy(_.getPath.getParent).toSeq.map { case (folder, own) =>
      owners.sinkFolder(folder) match {
        case None => check.folder(folder, isTop = true, own.iterator)
        case sink => VisitedFolder(folder, isTop = true, sink)
      }
    }
    val visits = folders.map(root => Visit(root.getPath, isTop = true, owners.sinkFolder(root.getPath)))
    // The log of a root has the files of all its partition folders.
    val (inSink, free) = visits.partition(visit => visit.sink.nonEmpty && !recursive)
    val tops           = folders.map(_.getPath).toSet
    single ++ inSink.map(visit => VisitedFolder(visit.folder, isTop = true, visit.sink)) ++
      level(free, Vector.empty)(tops)
  }

  /** Files of some folders in the storage. */
  def files(folders: Seq[Path]): Map[Path, FileStatus] =
    FolderOwners.inParallel(folders.map(folder => folder -> owners.system(folder)), Threads) { case (folder, fs) =>
      try responses.during(statuses(fs, folder).toVector)
      catch {
        case _: FileNotFoundException => Vector.empty
        case e: IOException           => throw HadoopLister.failed(folder, e)
      }
    }.flatten.map(status => status.getPath -> status).toMap

  @tailrec private def level(visits: Seq[Visit], done: Vector[VisitedFolder])(tops: Set[Path]): Vector[VisitedFolder] =
    if (visits.isEmpty) done
    else {
      // A thread of the pool may have another user than this thread.
      val onSystems = visits.map(visit => visit -> owners.system(visit.folder))
      val results   =
        FolderOwners.inParallel(onSystems, Threads) { case (visit, fs) => responses.during(list(visit, fs)) }
      // A path within another path is visited once.
      level(results.flatMap(_._2).filterNot(visit => tops(visit.folder)), done ++ results.map(_._1))(tops)
    }

  private def list(visit: Visit, fs: FileSystem): (VisitedFolder, Seq[Visit]) =
    try {
      val below    = mutable.ArrayBuffer.empty[Path]
      var ownsSink = false
      val files    = statuses(fs, visit.folder).filter { status =>
        val path = status.getPath
        if (status.isDirectory && path.getName == SinkLog.Folder) ownsSink = owners.readsSinks
        // A folder may become a table while it is watched.
        if (status.isDirectory && (visit.isTop || recursive)) owners.rejectLog(visit.folder, path.getName)
        if (status.isDirectory && !FileFilter.isSkipped(path.getName)) below += path
        !status.isDirectory && !FileFilter.isSkipped(path.getName)
      }
      val checked = check.folder(visit.folder, visit.isTop, files)
      val sink    = if (ownsSink) Some(visit.folder) else visit.sink
      // The log of a sink defines its files.
      val folder = if (sink.isEmpty) checked else VisitedFolder(visit.folder, visit.isTop, sink)
      (folder, below.toSeq.filter(isVisited).map(Visit(_, isTop = false, sink)))
    } catch {
      case _: FileNotFoundException => (VisitedFolder(visit.folder, visit.isTop, isGone = true), Nil)
      case e: IOException           => throw HadoopLister.failed(visit.folder, e)
    }

  // Only these file systems return the hosts of blocks in the same request.
  private def statuses(fs: FileSystem, folder: Path): Iterator[FileStatus] = {
    val found: RemoteIterator[_ <: FileStatus] =
      if (Located(fs.getScheme)) fs.listLocatedStatus(folder) else fs.listStatusIterator(folder)
    new Iterator[FileStatus] {
      override def hasNext: Boolean = found.hasNext

      override def next(): FileStatus = {
        responses.note()
        found.next()
      }
    }
  }
}

private[files] object FolderWalk {

  private val Threads = 8

  private val Located = Set("hdfs", "viewfs")

  final private case class Visit(folder: Path, isTop: Boolean, sink: Option[Path])
}

/** Responses of the storage to requests for the files of folders. Any thread may call all methods. */
final private[files] class Responses {

  private val running = new AtomicInteger
  private val count   = new LongAdder

  def during[A](request: => A): A = {
    running.incrementAndGet()
    try request
    finally {
      note()
      val _ = running.decrementAndGet()
    }
  }

  /** Notes a part of a response. */
  def note(): Unit = count.increment()

  /** Number of responses so far; None if no request waits for a response. */
  def waiting: Option[Long] = Option.when(running.get > 0)(count.sum)
}

/** Selection of files by the options of a source, as in Spark's file index. */
final private[files] class FileFilter(settings: FileSettings, configuration: Configuration) {

  private val (times, options) = ModificationTimes.of(settings.spark.originalMap)
  private val patterns         = PathFilterFactory.create(CaseInsensitiveMap(options))
  private val ofJob            = Option(FileInputFormat.getInputPathFilter(new JobConf(configuration)))

  def accepts(file: FileStatus): Boolean = file.getLen > 0 && times.contain(file) &&
    patterns.forall(_.accept(file)) && ofJob.forall(_.accept(file.getPath))
}

private[files] object FileFilter {

  /** True for a file or folder that Spark's listing skips. */
  def isSkipped(name: String): Boolean = (HiddenPaths.isHidden(name) || name.endsWith("._COPYING_")) &&
    !name.startsWith("_common_metadata") && !name.startsWith("_metadata")
}
