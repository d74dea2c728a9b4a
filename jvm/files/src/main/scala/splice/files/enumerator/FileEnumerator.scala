// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.enumerator

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.types.StructType

import splice.files.split.FileRange
import splice.files.{FilesErrors, NoFiles}
import splice.source._

/** Lists the files once, at the first start of a query, and from then on knows only what it wrote down. */
final private[splice] class FileEnumerator(storage: FileStorage, own: Limits.Limited, context: EnumeratorContext)
    extends SplitEnumerator[FilesPosition] {

  // Read when it is first needed: a query whose files have all been read does not need it.
  private lazy val list: FileList = {
    val lines = context.sideLog.get(FileListLog.Key).getOrElse {
      throw CheckpointErrors.missingEntry(s"The side-log entry '${FileListLog.Key}'")
    }
    val known = FileListLog.read(lines)
    storage.check(known)
    known
  }

  override def start(at: StartPosition): FilesPosition = at match {
    case StartPosition.Configured =>
      context.sideLog.getOrCreate(FileListLog.Key)(FileListLog.write(storage.list(context)))
      FilesPosition(0, list.files.size)
    case StartPosition.Offsets(_, _, _)     => throw FilesErrors.startNotSupported("offsets of a log")
    case StartPosition.Timestamp(millis, _) => throw FilesErrors.startNotSupported(s"the time $millis ms")
  }

  override def limits(at: FilesPosition): Limits.Limited = own

  override def advance(from: FilesPosition, limits: Limits): FilesPosition =
    if (from.finished) from else from.copy(files = listOf(from).reach(from.files, limits.files, limits.bytes))

  override def splits(from: FilesPosition, until: FilesPosition): Seq[FileRange] =
    if (from.files >= until.files) Nil else listOf(until).ranges(from.files, until.files)

  override def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory =
    ranges.collectFirst { case range: FileRange => range.schemas } match {
      case Some(schemas) => storage.readers(columns, schemas)
      case None          => NoFiles
    }

  override def end(at: FilesPosition): Option[EndState] = Option.when(at.finished)(storage.end(at, listOf(at)))

  override def figures(at: FilesPosition): SortedMap[String, String] = {
    val behind = if (at.finished) 0L else listOf(at).bytes(at.files, at.of)
    SortedMap(
      ProgressMetric.Position    -> s"${at.files} of ${at.of} files",
      ProgressMetric.Splits      -> (at.of - at.files).toString,
      ProgressMetric.BytesBehind -> behind.toString
    )
  }

  private def listOf(at: FilesPosition): FileList =
    if (list.files.size == at.of) list
    else throw CheckpointErrors.foreign(s"The offset '$at'", s"a position in a list of ${list.files.size} files")
}
