// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.enumerator

import scala.collection.immutable.SortedMap

import splice.files.FilesErrors
import splice.files.split.FileRange
import splice.source._

/** Lists the files once, at the first start of a query, and from then on knows only what it wrote down. */
final private[splice] class FileEnumerator(storage: FileStorage, own: Limits.Limited, context: EnumeratorContext)
    extends SplitEnumerator {

  // Read when it is first needed: a query whose files have all been read does not need it.
  private lazy val list: FileList = {
    val lines = context.sideLog.get(FileListLog.Key).getOrElse {
      throw CheckpointErrors.missingEntry(s"The side-log entry '${FileListLog.Key}'")
    }
    val known = FileListLog.read(lines)
    storage.check(known)
    known
  }

  override def start(at: StartPosition): Position = at match {
    case StartPosition.Configured =>
      context.sideLog.getOrCreate(FileListLog.Key)(FileListLog.write(storage.list(context)))
      FilesPosition(0, list.files.size)
    case StartPosition.Offsets(_, _, _)     => throw FilesErrors.startNotSupported("offsets of a log")
    case StartPosition.Timestamp(millis, _) => throw FilesErrors.startNotSupported(s"the time $millis ms")
  }

  override def limits(at: Position): Limits.Limited = own

  override def advance(from: Position, limits: Limits): Position = {
    val at = position(from)
    if (at.finished) at else at.copy(files = listOf(at).reach(at.files, limits.files, limits.bytes))
  }

  override def splits(from: Position, until: Position): Seq[FileRange] = {
    val (first, last) = (position(from), position(until))
    if (first.files >= last.files) Nil else listOf(last).ranges(first.files, last.files)
  }

  override def end(at: Position): Option[EndState] = {
    val last = position(at)
    Option.when(last.finished)(storage.end(last, listOf(last)))
  }

  override def freeze(): Unit = ()

  override def committed(until: Position): Unit = ()

  override def report(at: Position): SortedMap[String, String] = {
    val now    = position(at)
    val behind = if (now.finished) 0L else listOf(now).bytes(now.files, now.of)
    SortedMap(
      ProgressMetric.Position    -> s"${now.files} of ${now.of} files",
      ProgressMetric.Splits      -> (now.of - now.files).toString,
      ProgressMetric.BytesBehind -> behind.toString
    )
  }

  override def close(): Unit = ()

  private def listOf(at: FilesPosition): FileList =
    if (list.files.size == at.of) list
    else throw CheckpointErrors.foreign(s"The offset '$at'", s"a position in a list of ${list.files.size} files")

  private def position(progress: Position): FilesPosition = progress match {
    case known: FilesPosition => known
    case other                => FilesPosition.read(other.json)
  }
}
