// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.enumerator

import java.time.{Duration, Instant}

import scala.collection.immutable.SortedMap

import splice.files.internal.options.ReaderOptions
import splice.files.internal.split._
import splice.source.log.Coverage
import splice.source.{Limits, TimeRange}

/** Consecutive files of a list in reading order, with the settings that the first start fixed. A watched folder has more
  * files than a batch needs.
  *
  * @param reader
  *   options of the format for splitting and reading files
  * @param warnings
  *   warnings of the listing. The checkpoint does not contain these warnings
  * @param delay
  *   delay of a watermark that the order of the files needs, if the order is by event time. The checkpoint does not
  *   contain the delay
  * @param batch
  *   last batch in the files of the query that has written the files with Spark's file sink; None without such a query
  * @param first
  *   number of files of the list before these files
  */
final private[splice] class FileList(
    val schemas: FileSchemas,
    val packing: Packing,
    val files: IndexedSeq[ListedFile],
    val reader: ReaderOptions = ReaderOptions.Empty,
    val warnings: Seq[String] = Nil,
    val delay: Option[Duration] = None,
    val batch: Option[Long] = None,
    val first: Int = 0
) {

  private lazy val bytesBefore: Array[Long] = files.iterator.map(_.size).scanLeft(0L)(_ + _).toArray

  /** Position after all files. */
  def end: FilesPosition = FilesPosition(known)

  /** Number of files of the list up to the last of these files. */
  private def known: Int = first + files.size

  /** File with this number in the list. */
  def file(number: Int): ListedFile = files(number - first)

  /** True if a position has only files and blocks of this list. */
  def contains(at: FilesPosition): Boolean =
    at.files >= first && at.files <= known &&
      at.partly.keysIterator.forall(id => id.file >= first && grid(id.file).contains(id.start))

  /** These files and the next files of the list. */
  def and(next: FileList): FileList =
    new FileList(schemas, packing, files ++ next.files, reader, warnings, delay, batch, first)

  /** Least and greatest modification time of the files in milliseconds; None if there is no file. */
  def range: Option[(Long, Long)] = {
    val times = files.map(_.modified)
    Option.when(times.nonEmpty)((times.min, times.max))
  }

  /** Least and greatest modification time of the files; None if there is no file. */
  def modified: Option[TimeRange] = range.map(FileList.timeRange)

  /** Total bytes of all files and blocks that are not completely read. */
  def unread(at: FilesPosition): Long =
    bytesBefore.last - bytesBefore(at.files - first) + at.partly.keysIterator.map(block(_).length).sum

  /** Ranges with the rows between two positions, one per task. */
  def ranges(from: FilesPosition, until: FilesPosition): Seq[FileRange] =
    packing.ranges(parts(from, until), file, schemas)

  /** Ranges with all rows that are not covered, one per task. */
  def remaining(covered: Coverage): Seq[FileRange] = {
    val parts = (first until known).flatMap { number =>
      covered.missing(number, 0L, Long.MaxValue).map { extent =>
        val length = math.min(extent.until, file(number).size) - extent.from
        FilePart(number, extent.from, length, extent.rows.map { case (from, until) => RowSpan(from, until) })
      }
    }
    packing.ranges(parts, file, schemas)
  }

  /** End of a batch that begins at `from`: at least one block or file later, if any remains.
    *
    * A splittable file that exceeds the byte limit is read by several batches, block by block.
    */
  def reach(from: FilesPosition, limits: Limits): FilesPosition = {
    def isCut(number: Int) = file(number).splittable && limits.bytes.exists(file(number).size > _)
    val next               = (from.files until known).iterator.flatMap { number =>
      if (isCut(number)) grid(number).blocks.map(block) else Iterator.single(whole(number))
    }
    if (limits.bytes.isEmpty && limits.files.isEmpty) end
    else
      admitted(from.partly.keysIterator.map(block) ++ next, limits).fold(from) { batch =>
        val last = batch.last
        if (last.file < from.files) from.copy(partly = from.partly.drop(batch.parts))
        else {
          val rest = grid(last.file).blocks.filter(_.start >= math.max(last.start + last.length, 1L))
          FilesPosition(last.file + 1, SortedMap.from(rest.map(_ -> 0L)))
        }
      }
  }

  /** Content of a real-time batch from a position on: the number of files up to its end, and the blocks with the
    * number of rows already read. The window is not empty. The number of blocks is limited, because the next position
    * has all unfinished blocks.
    */
  private def window(from: FilesPosition): (Int, Iterator[(BlockId, Long)]) = {
    val blocks = (from.files until known).iterator.scanLeft(from.partly.size)(_ + grid(_).blocks.size)
    val end    = math.min(from.files + blocks.takeWhile(_ < FileList.MaxBlocks).size, known)
    (end, from.partly.iterator ++ (from.files until end).iterator.flatMap(grid(_).blocks).map(_ -> 0L))
  }

  /** Ranges of a real-time batch, one per block, in the order of the list. Row numbers count from the start of a
    * block, so one task reads a whole block of the grid.
    */
  def open(from: FilesPosition): Seq[FileRange] = window(from)._2.map { case (id, read) =>
    packing.range(block(id).copy(rows = Some(RowSpan(read, Long.MaxValue))), file, schemas)
  }.toSeq

  /** End of a real-time batch. Files without a read row are excluded. */
  def reached(from: FilesPosition, unread: Seq[FileBlock]): FilesPosition = {
    val left                = SortedMap.from(unread.map(block => block.id -> block.rows.fold(0L)(_.from)))
    def isUntouched(n: Int) = grid(n).blocks.forall(left.get(_).contains(0L))
    val until               = window(from)._1
    val touched = Iterator.iterate(until)(_ - 1).find(n => n == from.files || !isUntouched(n - 1)).getOrElse(until)
    from.copy(files = touched, partly = left.rangeUntil(BlockId(touched, 0L)))
  }

  /** Longest prefix of parts within the limits, at least the first part. */
  private def admitted(parts: Iterator[FilePart], limits: Limits): Option[Admitted] =
    if (parts.isEmpty) None
    else {
      val first   = parts.next()
      val batches = parts.scanLeft(Admitted(first, 1, 1, first.length))(_.and(_))
      val least   = batches.next()
      val fits    = batches.takeWhile(b => limits.bytes.forall(b.bytes <= _) && limits.files.forall(b.files <= _))
      Some(fits.foldLeft(least)((_, later) => later))
    }

  private def parts(from: FilesPosition, until: FilesPosition): Seq[FilePart] = {
    def unread(id: BlockId, read: Long): Option[FilePart] = until.partly.get(id) match {
      case None if read == 0 => Some(block(id))
      case None              => Some(block(id).copy(rows = Some(RowSpan(read, Long.MaxValue))))
      case Some(rows)        => Option.when(rows > read)(block(id).copy(rows = Some(RowSpan(read, rows))))
    }
    val cut  = until.partly.keysIterator.map(_.file).toSet
    val next = (from.files until until.files).iterator.flatMap { number =>
      if (cut(number)) grid(number).blocks.flatMap(unread(_, 0L)) else Iterator.single(whole(number))
    }
    (from.partly.iterator.flatMap { case (id, read) => unread(id, read) } ++ next).toSeq
  }

  private def grid(number: Int): FileGrid = new FileGrid(number, file(number), packing.maxPartitionBytes)

  private def block(id: BlockId): FilePart = grid(id.file).block(id.start)

  private def whole(number: Int): FilePart = FilePart(number, 0L, file(number).size)
}

private[splice] object FileList {

  def timeRange(millis: (Long, Long)): TimeRange =
    TimeRange(Instant.ofEpochMilli(millis._1), Instant.ofEpochMilli(millis._2))

  // An unread block takes about 15 bytes in the next offset.
  private val MaxBlocks = 1000
}

/** Prefix of the parts of a batch, with its number of parts, files and bytes. */
final private case class Admitted(last: FilePart, parts: Int, files: Int, bytes: Long) {
  def and(next: FilePart): Admitted =
    Admitted(next, parts + 1, if (next.file == last.file) files else files + 1, bytes + next.length)
}
