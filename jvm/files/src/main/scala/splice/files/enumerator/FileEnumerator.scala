// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.enumerator

import scala.collection.immutable.SortedMap

import splice.files.FilesErrors
import splice.files.split.FileRange
import splice.source._

/** Lists the files once, at the first start of a query, and from then on knows only what it wrote down. */
final private[splice] class FileEnumerator(storage: FileStorage, own: ReadLimits, context: EnumeratorContext)
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

  override def start(at: StartPosition): Progress = at match {
    case StartPosition.Configured =>
      context.sideLog.getOrCreate(FileListLog.Key)(FileListLog.write(storage.list(context)))
      FilesProgress(0, list.files.size)
    case StartPosition.Offsets(_, _, _)     => throw FilesErrors.startNotSupported("offsets of a log")
    case StartPosition.Timestamp(millis, _) => throw FilesErrors.startNotSupported(s"the time $millis ms")
  }

  override def limits(at: Progress): ReadLimits = own

  override def advance(from: Progress, limits: ReadLimits): Progress = {
    val at = position(from)
    if (at.finished) at else at.copy(files = listOf(at).reach(at.files, limits.maxFiles, limits.maxBytes))
  }

  override def splits(from: Progress, until: Progress): Seq[FileRange] = {
    val (first, last) = (position(from), position(until))
    if (first.files >= last.files) Nil else listOf(last).ranges(first.files, last.files)
  }

  override def end(at: Progress): Option[EndState] = {
    val last = position(at)
    Option.when(last.finished)(storage.end(last, listOf(last)))
  }

  override def freeze(): Unit = ()

  override def committed(until: Progress): Unit = ()

  override def report(at: Progress): SortedMap[String, String] = {
    val now    = position(at)
    val behind = if (now.finished) 0L else listOf(now).bytes(now.files, now.of)
    SortedMap(
      ProgressMetric.Position    -> s"${now.files} of ${now.of} files",
      ProgressMetric.Splits      -> (now.of - now.files).toString,
      ProgressMetric.BytesBehind -> behind.toString
    )
  }

  override def close(): Unit = ()

  private def listOf(at: FilesProgress): FileList =
    if (list.files.size == at.of) list
    else throw CheckpointErrors.foreign(s"The offset '$at'", s"a position in a list of ${list.files.size} files")

  private def position(progress: Progress): FilesProgress = progress match {
    case known: FilesProgress => known
    case other                => FilesProgress.read(other.json)
  }
}
