// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.enumerator

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.SparkSession
import org.slf4j.LoggerFactory

import splice.files.end.FilesEndState
import splice.files.split.{FileRange, Packing}
import splice.files.{FileFormats, FileSource, FilesErrors}
import splice.source._

/** Lists the files once, at the first start of a query, and from then on knows only what it wrote down. */
final private[files] class FileEnumerator(source: FileSource, context: EnumeratorContext) extends SplitEnumerator {

  private val settings = source.settings

  // Read when it is first needed: a query whose files have all been read does not need it.
  private lazy val list: FileList =
    FileListLog.read(
      context.sideLog.get(
        FileListLog.Key
      ).getOrElse(throw CheckpointErrors.missingEntry(s"The side-log entry '${FileListLog.Key}'"))
    )

  override def start(at: StartPosition): Progress = at match {
    case StartPosition.Configured =>
      context.sideLog.getOrCreate(FileListLog.Key)(FileListLog.write(listNow()))
      FilesProgress(0, list.files.size)
    case StartPosition.Offsets(_, _)        => throw FilesErrors.startNotSupported("offsets of a log")
    case StartPosition.Timestamp(millis, _) => throw FilesErrors.startNotSupported(s"the time $millis ms")
  }

  override def limits(at: Progress): ReadLimits = settings.limits

  override def advance(from: Progress, limits: ReadLimits): Progress = {
    val at = position(from)
    if (at.finished) at else at.copy(files = list.reach(at.files, limits.maxFiles, limits.maxBytes))
  }

  override def splits(from: Progress, until: Progress): Seq[FileRange] = {
    val (first, last) = (position(from), position(until))
    if (first.files >= last.files) Nil else list.ranges(first.files, last.files)
  }

  override def end(at: Progress): Option[EndState] = {
    val last = position(at)
    Option.when(last.finished)(new FilesEndState(source, last, list))
  }

  override def freeze(): Unit = ()

  override def committed(until: Progress): Unit = ()

  override def report(at: Progress): SortedMap[String, String] = {
    val now    = position(at)
    val behind = if (now.finished) 0L else list.bytes(now.files, now.of)
    SortedMap(
      ProgressMetric.Position    -> s"${now.files} of ${now.of} files",
      ProgressMetric.Splits      -> (now.of - now.files).toString,
      ProgressMetric.BytesBehind -> behind.toString
    )
  }

  override def close(): Unit = ()

  private def position(progress: Progress): FilesProgress = progress match {
    case own: FilesProgress => own
    case other              => FilesProgress.read(other.json)
  }

  private def listNow(): FileList = {
    val conf  = FileFormats.conf(SparkSession.active)
    val found = source.listing(context.mode)
    val files = found.files
    FileEnumerator.log.info("{} files found at {}", files.size, settings.paths.mkString(", "))
    val packing = Packing(
      settings.maxPartitionBytes.getOrElse(conf.filesMaxPartitionBytes),
      conf.filesOpenCostInBytes,
      conf.filesMinPartitionNum.getOrElse(context.cores).max(1)
    )
    new FileList(found.schemas, packing, files)
  }
}

private object FileEnumerator {
  private val log = LoggerFactory.getLogger(classOf[FileEnumerator])
}
