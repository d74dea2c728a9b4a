// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.streams.internal.enumerator

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap
import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.types.StructType

import splice.source._
import splice.source.errors.{CheckpointErrors, SpliceError}
import splice.source.internal.HadoopConfiguration
import splice.source.internal.entries.{SingleEntry, VersionedEntry}
import splice.source.log.{Coverage, Outlook}
import splice.source.runtime.{ProgressMetric, SideLog}
import splice.streams.internal.errors.StreamErrors
import splice.streams.internal.inner.{InnerStream, InnerTable}
import splice.streams.internal.options.StreamSettings
import splice.streams.internal.reader.StreamReaders
import splice.streams.internal.split.{StreamPosition, StreamRange}

/** Drives a Data Source V2 stream. The stream is created at its first use, on the query's thread.
  *
  * The plan of a batch is opaque and exists only in memory. `advance` plans each new batch, and `replay` plans a logged
  * batch again from the same two offsets.
  *
  * The end of a bounded stream is the entry `ended`. After this entry, Splice creates the stream only to read a logged
  * batch again, or to count its rows for a hand-over.
  */
final private[streams] class StreamEnumerator(
    table: => InnerTable,
    settings: StreamSettings,
    context: EnumeratorContext
) extends SplitEnumerator[StreamPosition] {

  private val ending = new SingleEntry(context.sideLog, "ended")(entry => StreamPosition.read(entry.line))

  private var knownEnd = Option.empty[StreamPosition]
  private var inner    = Option.empty[InnerStream]
  private var isFrozen = false

  // True if the stream knows the position of the query.
  private var isResumed = false

  // True if the run has taken the end of a stream that cannot fix its end.
  private var isTaken = false

  // Start of the source, if this run has computed it.
  private var started = Option.empty[StreamPosition]

  // Last answer about the batch after a position. Each further request may move the end of some streams.
  private var asked = Option.empty[(StreamPosition, Option[StreamPosition])]

  private var planned = Option.empty[(StreamPosition, StreamPosition, Seq[StreamRange])]

  override def start(at: StartPosition): StreamPosition = {
    val begin = at match {
      case StartPosition.Configured =>
        isResumed = true
        StreamPosition(opened.initial(), 0)
      case StartPosition.Exact(offset) => checked(offset)
      case other                       => throw new IllegalStateException(s"a stream cannot begin at $other")
    }
    started = Some(begin)
    begin
  }

  /** Start at an offset that is not from the stream. A request to the stream shows that the offset is of its table.
    *
    * The end of the run, which [[freeze]] has fixed, may be before the offset. A stream may ignore such an end, so the
    * run gets a new end.
    */
  private def checked(offset: String): StreamPosition = {
    def rejected(e: Throwable) = StreamErrors.invalidPosition(settings, offset, e)
    val stream                 = opened
    stream.rejection(offset)(rejected).foreach(throw _)
    val begin = StreamPosition(offset, 0)
    if (isFrozen) stream.fixEnd()
    if (stream.canEnd || !isFrozen)
      try { val _ = next(begin, everything = false) }
      catch { case NonFatal(e) if !e.isInstanceOf[SpliceError] => throw rejected(e) }
    begin
  }

  override def freeze(): Unit = if (!isFrozen) {
    inner.filterNot(_ => settings.isBounded).foreach(_.fixEnd())
    isFrozen = true
    if (ended.isEmpty) { val _ = opened }
  }

  @tailrec override def advance(from: StreamPosition, limits: Limits): StreamPosition = ended match {
    case Some(end) =>
      if (!from.precedes(end)) throw CheckpointErrors.foreign(s"The offset '$from'", s"a position up to $end")
      reach(from, end)
    case None =>
      next(from, limits == Limits.Everything) match {
        case Some(until)                => reach(from, until)
        case None if settings.isBounded =>
          end(from)
          advance(from, limits)
        case None => from
      }
  }

  private def reach(from: StreamPosition, until: StreamPosition): StreamPosition = {
    asked = None
    if (from != until) plan(from, until)
    until
  }

  override def splits(from: StreamPosition, until: StreamPosition): Seq[StreamRange] =
    if (from == until) Nil
    else planned.collect { case (`from`, `until`, ranges) => ranges }
      .getOrElse(throw new IllegalStateException(s"the batch from $from to $until is not planned"))

  override def replay(from: StreamPosition, until: StreamPosition): Unit = if (from != until) plan(from, until)

  private def plan(from: StreamPosition, until: StreamPosition): Unit =
    planned = Some((from, until, ranges(from, until)))

  private def ranges(from: StreamPosition, until: StreamPosition): Seq[StreamRange] =
    StreamRange.of(from, until, resumed(until).plan(from.inner, until.inner))

  override def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory =
    StreamReaders(opened.readers(), table.schema, columns, ranges.collect { case range: StreamRange => range })

  override def evidence(at: StreamPosition): Option[Evidence] = {
    if (settings.isBounded && ended.isEmpty && next(at, everything = false).isEmpty) end(at)
    ended.filter(_ == at).map(Evidence(_))
  }

  /** The partitions have no extents, so no report covers rows. The rows of the whole stream are counted at its end. */
  override def remaining(at: StreamPosition, covered: Coverage): Seq[StreamRange] = {
    val first = started.orElse(context.start.map(stored => StreamPosition.read(stored.position)))
      .getOrElse(throw new IllegalStateException("the stream has not begun"))
    if (first == at) Nil else ranges(first, at)
  }

  /** Resolves the table, so that a missing connector or table is an error before the history is read. */
  override def outlook(): Outlook = {
    val _ = table
    Outlook.Unknown
  }

  // Spark reports the commit of the last batch after the end of the stream, so the stream is stopped after this call.
  override def committed(until: StreamPosition): Unit = {
    inner.foreach(_.commit(until.inner))
    if (ended.contains(until)) close()
  }

  override def figures(at: StreamPosition): SortedMap[String, String] =
    SortedMap.from(inner.filter(_ => isResumed).map(_.figures(at.inner)).getOrElse(Map.empty)) +
      (ProgressMetric.Position -> s"${at.n}: ${at.inner.take(StreamEnumerator.Shown)}")

  override def close(): Unit = {
    val open = inner
    inner = None
    isResumed = false
    open.foreach(_.stop())
  }

  /** Position of the end of the stream, if the end is stored. */
  private def ended: Option[StreamPosition] = {
    if (knownEnd.isEmpty && settings.isBounded) knownEnd = ending.find
    knownEnd
  }

  private def end(at: StreamPosition): Unit =
    knownEnd = Some(ending.getOrCreate(VersionedEntry.write(Nil, Seq(at.json))))

  /** Position after the next batch, or None if no row is available. */
  private def next(from: StreamPosition, everything: Boolean): Option[StreamPosition] =
    asked.filter(_._1 == from && !everything).map(_._2).getOrElse {
      val stream = resumed(from)
      val isOnly = isFrozen && !stream.canEnd
      val until  = if (isOnly && isTaken) None else stream.next(from.inner, everything || isOnly).map(from.moved)
      isTaken = isOnly
      // An unbounded stream may have new rows at each request.
      asked = Some((from, until)).filter(_ => settings.isBounded)
      until
    }

  private def resumed(at: StreamPosition): InnerStream = {
    val stream = opened
    if (!isResumed) stream.resume(at.inner)
    isResumed = true
    stream
  }

  // Before the leg begins, the folder has only the state of earlier runs, such as a first offset that has expired.
  private def folder: Path = {
    val own = context.sideLog.folder(SideLog.SparkFolder)
    if (context.start.isEmpty && started.isEmpty) {
      val _ = own.getFileSystem(HadoopConfiguration.active).delete(own, true)
    }
    own
  }

  private def opened: InnerStream = inner.getOrElse {
    val fresh =
      try new InnerStream(table.scan(), folder)
      catch { case NonFatal(e) => throw StreamErrors.notReadable(settings, e) }
    if (settings.isBounded && !fresh.canEnd) {
      fresh.stop()
      throw StreamErrors.endNotSupported(settings)
    }
    inner = Some(fresh)
    if (ended.isEmpty && (isFrozen || settings.isBounded))
      try fresh.fixEnd()
      catch { case NonFatal(e) => throw StreamErrors.notReadable(settings, e) }
    fresh
  }
}

private object StreamEnumerator {

  // A position may have thousands of partitions.
  private val Shown = 100
}
