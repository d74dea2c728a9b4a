// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.enumerator

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.types.StructType

import splice.files.reader.RowsOnly
import splice.files.split.FileRange
import splice.files.{FilesErrors, NoFiles}
import splice.source._

/** Lists the files once, at the first start of a query. Every later call depends on the persisted list only. */
final private[splice] class FileEnumerator(storage: FileStorage, own: Limits.Limited, context: EnumeratorContext)
    extends SplitEnumerator[FilesPosition] {

  private lazy val log = new FileListLog(context.sideLog)

  private lazy val size: Int = log.size

  // A query whose files have all been read needs the size only.
  private lazy val list: FileList = {
    val known = log.read()
    storage.check(known)
    known
  }

  override def start(at: StartPosition): FilesPosition = at match {
    case StartPosition.Configured =>
      log.create(storage.list(context))
      log.close(list.files.size)
      FilesPosition.Start
    case StartPosition.Offsets(_, _, _)     => throw FilesErrors.startNotSupported("offsets of a log")
    case StartPosition.Timestamp(millis, _) => throw FilesErrors.startNotSupported(s"the time $millis ms")
  }

  override def limits(at: FilesPosition): Limits.Limited = own

  override def advance(from: FilesPosition, limits: Limits): FilesPosition =
    if (isFinished(from)) from else listOf(from).reach(from, limits)

  override def splits(from: FilesPosition, until: FilesPosition): Seq[FileRange] =
    if (from == until) Nil
    else {
      val _ = listOf(from)
      listOf(until).ranges(from, until)
    }

  override def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory = {
    val files = ranges.collect { case range: FileRange => range }
    files.headOption.fold[SplitReaderFactory](NoFiles) { first =>
      val all = storage.readers(columns, first.schemas)
      if (files.exists(_.countsRows)) new RowsOnly(all) else all
    }
  }

  override def end(at: FilesPosition): Option[EndState] = Option.when(isFinished(at))(storage.end(at, listOf(at)))

  override def figures(at: FilesPosition): SortedMap[String, String] = {
    val behind = if (isFinished(at)) 0L else listOf(at).unread(at)
    SortedMap(
      ProgressMetric.Position    -> s"${at.wholeFiles} of $size files",
      ProgressMetric.Splits      -> (size - at.wholeFiles).toString,
      ProgressMetric.BytesBehind -> behind.toString
    )
  }

  private def isFinished(at: FilesPosition): Boolean = within(at).files == size && at.partly.isEmpty

  private def within(at: FilesPosition): FilesPosition = if (at.files <= size) at else throw foreign(at)

  private def listOf(at: FilesPosition): FileList = {
    if (list.files.size != size) throw FileListLog.wrongSize(size, list.files.size)
    if (list.contains(at)) list else throw foreign(at)
  }

  private def foreign(at: FilesPosition): SpliceException =
    CheckpointErrors.foreign(s"The offset '$at'", s"a position in a list of $size files")
}
