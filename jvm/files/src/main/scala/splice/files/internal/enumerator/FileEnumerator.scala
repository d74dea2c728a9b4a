// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.enumerator

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap
import scala.collection.mutable

import org.apache.spark.sql.types.StructType

import splice.files.internal.reader.{NoReaders, RowsOnly}
import splice.files.internal.split.FileRange
import splice.source._
import splice.source.errors.{CheckpointErrors, SpliceException}
import splice.source.log.{Coverage, Outlook}
import splice.source.runtime.{OpenEnded, ProgressMetric}

/** Lists the files at the first start of a query. Later calls depend on the persisted lists only. Files are listed
  * again only if no file was read and a setting of the list has changed.
  */
final private[splice] class FileEnumerator(storage: FileStorage, configured: Limits.Limited, context: EnumeratorContext)
    extends SplitEnumerator[FilesPosition]
    with OpenEnded[FilesPosition] {

  private lazy val lists = new FileLists(context.sideLog)

  private val checked = mutable.Set.empty[Int]

  // Last list of this run. A stored list has neither warnings nor the delay that its order needs.
  private var listed = Option.empty[FileList]

  // Files at the time of the freeze; None if a list was already stored.
  private var frozen = Option.empty[FileList]

  override def start(at: StartPosition): FilesPosition = at match {
    case StartPosition.Configured =>
      lists.create(0)(frozen.getOrElse(list()))
      frozen = None
      FilesPosition.Start
    case other => throw new IllegalStateException(s"a source of files cannot begin at $other")
  }

  override def freeze(): Unit = if (!lists.exists(0)) frozen = Some(list())

  override def limits(at: FilesPosition): Limits.Limited = configured

  override def advance(from: FilesPosition, limits: Limits): FilesPosition =
    if (isFinished(from)) from
    else {
      val at = settle(from)
      readable(at).reach(at, limits).copy(list = at.list)
    }

  /** Selects the list before the first file is read. */
  override def settle(from: FilesPosition): FilesPosition =
    if (from.files == 0 && !isFinished(from)) from.copy(list = fitting(from.list)) else from

  /** Returns the unfinished blocks of the last batch, then the next files. A real-time batch reads all these blocks and
    * files, or stops at its end time.
    */
  override def open(settled: FilesPosition): Seq[FileRange] =
    if (isFinished(settled)) Nil else readable(settled).open(settled)

  override def reached(settled: FilesPosition, unread: Seq[SplitRange]): FilesPosition =
    if (isFinished(settled)) settled
    else listOf(settled).reached(settled, unread.collect { case range: FileRange => range.blocks }.flatten)

  override def splits(from: FilesPosition, until: FilesPosition): Seq[FileRange] =
    if (from == until) Nil
    else {
      val list = readable(until)
      if (!list.contains(from) || (from.files > 0 && from.list != until.list)) throw foreign(from)
      list.ranges(from, until)
    }

  override def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory = {
    val files = ranges.collect { case range: FileRange => range }
    files.headOption.fold[SplitReaderFactory](NoReaders) { first =>
      val all = storage.readers(columns, first.schemas)
      if (files.exists(_.countsRows)) new RowsOnly(all) else all
    }
  }

  override def evidence(at: FilesPosition): Option[Evidence] =
    Option.when(isFinished(at))(Evidence(at, () => listOf(at).modified, lastBatch = _ => listOf(at).batch))

  // Before the start of the run, the outlook uses the listing of the analysis, if available.
  override def outlook(): Outlook = {
    val list = lists.find(0).getOrElse(storage.list(context.copy(mode = ReadMode.Batch)))
    new FilesOutlook(list, listed.getOrElse(list).warnings, storage, context.jobs)
  }

  override def remaining(at: FilesPosition, covered: Coverage): Seq[FileRange] = readable(at).remaining(covered)

  override def figures(at: FilesPosition): SortedMap[String, String] = {
    val behind = if (isFinished(at)) 0L else listOf(at).unread(at)
    val size   = lists.size(at.list)
    SortedMap(
      ProgressMetric.Position    -> s"${at.wholeFiles} of $size files",
      ProgressMetric.Splits      -> (size - at.wholeFiles).toString,
      ProgressMetric.BytesBehind -> behind.toString
    ) ++ listed.flatMap(_.delay).map(ProgressMetric.DelayNeeded -> _.toMillis.toString)
  }

  private def list(): FileList = {
    val now = storage.list(context)
    listed = Some(now)
    now
  }

  private def isFinished(at: FilesPosition): Boolean =
    if (at.files > lists.size(at.list)) throw foreign(at) else at.files == lists.size(at.list) && at.partly.isEmpty

  /** First list from `number` on with the settings of this start. Creates the next list if no list matches. */
  @tailrec private def fitting(number: Int): Int =
    if (storage.difference(lists(number)).isEmpty) number
    else {
      var isCreated = false
      lists.create(number + 1) {
        isCreated = true
        list()
      }
      if (isCreated) number + 1 else fitting(number + 1)
    }

  /** List of a position, for readers with the settings of this start. */
  private def readable(at: FilesPosition): FileList = {
    val list = listOf(at)
    if (!checked(at.list)) storage.difference(list).foreach(throw _)
    checked += at.list
    list
  }

  private def listOf(at: FilesPosition): FileList =
    if (lists(at.list).contains(at)) lists(at.list) else throw foreign(at)

  private def foreign(at: FilesPosition): SpliceException =
    CheckpointErrors.foreign(s"The offset '$at'", s"a position in a list of ${lists.size(at.list)} files")
}
