// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.enumerator

import java.time.Duration

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap
import scala.collection.mutable

import org.apache.spark.sql.types.StructType

import splice.files.internal.errors.FileErrors
import splice.files.internal.reader.{NoReaders, RowsOnly}
import splice.files.internal.split.FileRange
import splice.source._
import splice.source.errors.{CheckpointErrors, SpliceException}
import splice.source.log.{Coverage, Outlook}
import splice.source.runtime.{OpenEnded, ProgressMetric}

/** Lists the files at the first start of a query. Later calls depend on the persisted lists only. Files are listed
  * again only if no file was read and a setting of the list has changed.
  *
  * A watched folder ([[WatchedFolder]]) is listed again and again. New files become further segments of the list.
  */
final private[splice] class FileEnumerator(storage: FileStorage, configured: Limits.Limited, context: EnumeratorContext)
    extends SplitEnumerator[FilesPosition]
    with OpenEnded[FilesPosition] {

  private lazy val lists = {
    val all = new FileLists(context.sideLog)
    if (all.exists(0) && all.of(0).isWatched != storage.watched.nonEmpty)
      throw storage.discoveryChanged(all.of(0).isWatched)
    all
  }

  private lazy val watched = storage.watched.map(new WatchedFolder(lists, _, context))

  private val checked = mutable.Set.empty[Int]

  // Last list of this run. A stored list has neither warnings nor the delay that its order needs.
  private var listed = Option.empty[FileList]

  // Files at the time of the freeze; None if a list was already stored.
  private var frozen = Option.empty[FileList]

  override def start(at: StartPosition): FilesPosition = at match {
    case StartPosition.Configured =>
      begin(0)
      FilesPosition.Start
    case other => throw new IllegalStateException(s"a source of files cannot begin at $other")
  }

  /** Creates a list, unless an earlier run has created it. */
  private def begin(number: Int): Unit = {
    watched.fold(lists.create(number)(frozen.getOrElse(list())))(_.begin(number))
    frozen = None
  }

  override def freeze(): Unit = watched match {
    case Some(folder) => folder.freeze()
    case None         => if (!lists.exists(0)) frozen = Some(list())
  }

  override def limits(at: FilesPosition): Limits.Limited = configured

  override def advance(from: FilesPosition, limits: Limits): FilesPosition =
    if (isFinished(from)) from
    else {
      val at = settle(from)
      if (limits == Limits.Everything && !isFinished(at)) watched.foreach(_.grow(at, isAll = true))
      if (watched.nonEmpty && isRead(at)) at else reach(at, limits, FileEnumerator.Window)
    }

  /** End of a batch. Loads more segments if the batch may need more files. */
  @tailrec private def reach(at: FilesPosition, limits: Limits, files: Int): FilesPosition = {
    val isAll = limits.bytes.isEmpty && limits.files.isEmpty
    val list  = readable(at, if (isAll) Int.MaxValue else at.files + files)
    val until = list.reach(at, limits).copy(list = at.list)
    if (until.files < list.end.files || list.end.files == lists.size(at.list)) until else reach(at, limits, files * 2)
  }

  /** Selects the list before the first file is read. Stores new files of a watched folder. */
  override def settle(from: FilesPosition): FilesPosition = {
    val at = if (from.files == 0 && !isFinished(from)) from.copy(list = fitting(from.list)) else from
    watched.foreach(folder => if (isFinished(at)) folder.noticeEnd() else folder.grow(at))
    at
  }

  /** Returns the unfinished blocks of the last batch, then the next files. A real-time batch reads all these blocks and
    * files, or stops at its end time.
    */
  override def open(settled: FilesPosition): Seq[FileRange] =
    if (isRead(settled)) Nil else readable(settled, settled.files + FileEnumerator.Window).open(settled)

  override def reached(settled: FilesPosition, unread: Seq[SplitRange]): FilesPosition =
    if (isRead(settled)) settled
    else {
      // The same files as in `open`, although files may have arrived since.
      val list = listOf(settled, settled.files + FileEnumerator.Window)
      list.reached(settled, unread.collect { case range: FileRange => range.blocks }.flatten)
    }

  override def splits(from: FilesPosition, until: FilesPosition): Seq[FileRange] =
    if (from == until) Nil
    else {
      val first = math.min(from.firstFile, until.firstFile)
      val list  = readable(until.copy(files = first, partly = FilesPosition.Start.partly), until.files)
      if (!list.contains(from) || !list.contains(until) || (from.files > 0 && from.list != until.list))
        throw foreign(from)
      list.ranges(from, until)
    }

  override def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory = {
    val files = ranges.collect { case range: FileRange => range }
    files.headOption.fold[SplitReaderFactory](NoReaders) { first =>
      val all = storage.readers(columns, first.schemas)
      if (files.exists(_.countsRows)) new RowsOnly(all) else all
    }
  }

  override def evidence(at: FilesPosition): Option[Evidence] = Option.when(isFinished(at)) {
    val entries = lists.of(at.list)
    Evidence(at, () => entries.modified.map(FileList.timeRange), lastBatch = _ => entries.last.flatMap(_.batch))
  }

  override def retain(oldest: FilesPosition): Unit = watched.foreach(_.retain(oldest))

  override def isStale: Boolean = watched.exists(_.isStale)

  override def staleInterval: Option[Duration] = watched.map(_.interval)

  // Before the start of the run, the outlook uses the listing of the analysis, if available.
  override def outlook(): Outlook = {
    val list = lists.find(0).getOrElse(storage.list(context.copy(mode = ReadMode.Batch)))
    new FilesOutlook(list, listed.getOrElse(list).warnings, storage, context.jobs)
  }

  override def remaining(at: FilesPosition, covered: Coverage): Seq[FileRange] = {
    val merged = lists.of(at.list).merged
    if (merged > 0) throw FileErrors.filesMerged(merged)
    readable(FilesPosition(0, list = at.list), at.files).remaining(covered)
  }

  override def figures(at: FilesPosition): SortedMap[String, String] = {
    val size   = lists.size(at.list)
    val behind = if (isRead(at)) 0L
    else {
      val list = listOf(at, at.files)
      list.unread(at) + (if (watched.isEmpty) 0L else lists.of(at.list).bytes(list.end.files))
    }
    SortedMap(
      ProgressMetric.Position    -> s"${at.wholeFiles} of $size files",
      ProgressMetric.Splits      -> (size - at.wholeFiles).toString,
      ProgressMetric.BytesBehind -> (behind + watched.fold(0L)(_.pendingBytes)).toString
    ) ++ listed.flatMap(_.delay).map(ProgressMetric.DelayNeeded -> _.toMillis.toString) ++
      watched.fold(SortedMap.empty[String, String])(_.figures + (ProgressMetric.FilesRead -> at.wholeFiles.toString))
  }

  override def close(): Unit = watched.foreach(_.close())

  private def list(): FileList = {
    val now = storage.list(context)
    listed = Some(now)
    now
  }

  /** True if no further rows can follow. */
  private def isFinished(at: FilesPosition): Boolean = isRead(at) && lists.of(at.list).isClosed

  /** True if all files of the list were read. A watched folder may get further files. */
  private def isRead(at: FilesPosition): Boolean =
    if (at.files > lists.size(at.list)) throw foreign(at) else at.files == lists.size(at.list) && at.partly.isEmpty

  /** First list from `number` on with the settings of this start. Creates the next list if no list matches. */
  @tailrec private def fitting(number: Int): Int =
    if (lists.of(number).last.flatMap(storage.difference).isEmpty) number
    else {
      // An earlier run may have created the list, or a part of it.
      val isNew = !lists.exists(number + 1)
      begin(number + 1)
      if (isNew) number + 1 else fitting(number + 1)
    }

  /** Files of a list from a position on, for readers with the settings of this start. */
  private def readable(at: FilesPosition, until: Int): FileList = {
    val list = listOf(at, until)
    // An empty list of a watched folder has no columns yet.
    if (!checked(at.list) && lists.of(at.list).last.nonEmpty) {
      storage.difference(list).foreach(throw _)
      checked += at.list
    }
    list
  }

  private def listOf(at: FilesPosition, until: Int): FileList = {
    val list = lists.window(at.list, at.firstFile, until)
    if (list.contains(at)) list else throw foreign(at)
  }

  private def foreign(at: FilesPosition): SpliceException =
    CheckpointErrors.foreign(s"The offset '$at'", s"a position in a list of ${lists.size(at.list)} files")
}

private object FileEnumerator {

  // A real-time batch has at most 1,000 blocks.
  private val Window = 1000
}
