// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.log

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}

import scala.annotation.tailrec
import scala.collection.mutable

import org.roaringbitmap.RoaringBitmap

/** Offsets of rows, each 0 or greater: the set of distinct offsets, the subset of offsets that several rows have, and
  * the number of rows. The set is small if the offsets are dense. Mutable. Used by one thread. Reports of tasks and
  * side-log entries contain the bytes of [[toBytes]].
  *
  * Offsets mostly arrive in ascending order, so the current run of offsets is kept as two numbers until the run ends.
  */
final class OffsetRuns private (
    private val upper: OffsetRuns.Bitmaps,
    private val again: OffsetRuns.Bitmaps,
    private var total: Long
) extends Serializable {

  private var runStart = 0L
  private var runEnd   = 0L

  def this() = this(mutable.SortedMap.empty, mutable.SortedMap.empty, 0L)

  /** Adds one row. */
  def add(offset: Long): Unit = add(offset, offset + 1)

  /** Adds one row per offset from `from` (included) until `until` (excluded). */
  def add(from: Long, until: Long): Unit =
    if (from == runEnd) runEnd = until
    else {
      flush()
      runStart = from
      runEnd = until
    }

  /** Adds one row per offset of a range, from `from` (included) until `until` (excluded). An empty range is ignored. */
  def addRange(from: Long, until: Long): Unit = if (from < until) {
    flush()
    runStart = from
    runEnd = until
  }

  def addAll(other: OffsetRuns): Unit = {
    flush()
    other.flush()
    other.upper.foreach { case (high, offsets) => include(high, offsets) }
    other.again.foreach { case (high, offsets) => bitmap(again, high).or(offsets) }
    total += other.total
  }

  /** Number of rows. */
  def rows: Long = {
    flush()
    total
  }

  def isEmpty: Boolean = count == 0

  def contains(offset: Long): Boolean = {
    flush()
    upper.get(high(offset)).exists(_.contains(offset.toInt))
  }

  /** Number of distinct offsets. */
  def count: Long = {
    flush()
    upper.valuesIterator.map(_.getLongCardinality).sum
  }

  /** Least offset. There must be at least one offset. */
  def first: Long = {
    flush()
    val (high, offsets) = upper.head
    join(high, Integer.toUnsignedLong(offsets.first))
  }

  /** Greatest offset. There must be at least one offset. */
  def last: Long = {
    flush()
    val (high, offsets) = upper.last
    join(high, Integer.toUnsignedLong(offsets.last))
  }

  /** Ranges of distinct offsets, lowest first. Each pair is the start (included) and the end (excluded) of a range. */
  def ranges: Iterator[(Long, Long)] = {
    flush()
    present(upper)
  }

  /** Ranges of offsets that several rows have, in the form of [[ranges]]. */
  def repeated: Iterator[(Long, Long)] = {
    flush()
    present(again)
  }

  /** Returns the ranges of missing offsets between two offsets, in the form of [[ranges]]. */
  def holes(from: Long, until: Long): Iterator[(Long, Long)] = {
    val within = ranges.dropWhile(_._2 <= from).takeWhile(_._1 < until).map { case (a, b) =>
      math.max(a, from) -> math.min(b, until)
    }
    // The two empty ranges find a hole at the start and a hole at the end.
    (Iterator.single(from -> from) ++ within ++ Iterator.single(until -> until)).sliding(2).collect {
      case Seq((_, end), (begin, _)) if end < begin => end -> begin
    }
  }

  /** Returns the offsets that are in both sets, with one row per offset. */
  def and(other: OffsetRuns): OffsetRuns = {
    flush()
    other.flush()
    val both = new OffsetRuns
    for {
      (high, offsets) <- upper
      others          <- other.upper.get(high)
      common = RoaringBitmap.and(offsets, others) if !common.isEmpty
    } {
      both.upper(high) = common
      both.total += common.getLongCardinality
    }
    both
  }

  /** Returns the offsets in the given ranges, with one row per offset. */
  def within(ranges: Iterable[(Long, Long)]): OffsetRuns = {
    val wanted = new OffsetRuns
    ranges.foreach { case (from, until) => wanted.addRange(from, until) }
    and(wanted)
  }

  override def equals(other: Any): Boolean = other match {
    case that: OffsetRuns =>
      flush()
      that.flush()
      total == that.total && upper == that.upper && again == that.again
    case _ => false
  }

  override def hashCode: Int = rows.hashCode

  override def toString: String = {
    val head = ranges.take(OffsetRuns.Shown + 1).toSeq
    val text = head.take(OffsetRuns.Shown).map { case (from, until) => s"[$from, $until)" }
    (text ++ Option.when(head.size > OffsetRuns.Shown)("...")).mkString(s"$rows rows: ", ", ", "")
  }

  private def present(in: OffsetRuns.Bitmaps): Iterator[(Long, Long)] =
    if (in.isEmpty) Iterator.empty
    else {
      val (high, offsets) = in.last
      val end             = join(high, Integer.toUnsignedLong(offsets.last))
      Iterator.unfold(0L) { at =>
        if (at > end) None
        else {
          val from  = nextPresent(in, at)
          val until = nextAbsent(in, from)
          Some((from -> until, until))
        }
      }
    }

  def toBytes: Array[Byte] = {
    flush()
    val bytes = new ByteArrayOutputStream
    val out   = new DataOutputStream(bytes)
    out.writeLong(total)
    Seq(upper, again).foreach { all =>
      out.writeInt(all.size)
      all.foreach { case (high, offsets) =>
        offsets.runOptimize()
        out.writeInt(high)
        offsets.serialize(out)
      }
    }
    bytes.toByteArray
  }

  // Moves the current run to the bitmaps. The first run is empty and ends at 0, so that offset 0 extends the run.
  private def flush(): Unit = if (runEnd > runStart) {
    var at = runStart
    while (at < runEnd) {
      val chunkEnd = if (high(at) == high(runEnd - 1)) runEnd else join(high(at) + 1, 0L)
      val until    = low(chunkEnd - 1) + 1
      val chunk    = bitmap(upper, high(at))
      if (chunk.intersects(low(at), until)) include(high(at), RoaringBitmap.bitmapOfRange(low(at), until))
      else chunk.add(low(at), until)
      at = chunkEnd
    }
    total += runEnd - runStart
    runStart = runEnd
  }

  private def include(high: Int, offsets: RoaringBitmap): Unit = {
    val chunk = bitmap(upper, high)
    val both  = RoaringBitmap.and(chunk, offsets)
    if (!both.isEmpty) bitmap(again, high).or(both)
    chunk.or(offsets)
  }

  // A bitmap compares the keys of its parts as signed numbers if the start is absent, so the start is checked here.
  @tailrec private def nextAbsent(in: OffsetRuns.Bitmaps, from: Long): Long =
    in.get(high(from)).filter(_.contains(from.toInt)).map(_.nextAbsentValue(from.toInt)) match {
      case None                                                  => from
      case Some(value) if value < 0 || value >= OffsetRuns.Chunk => nextAbsent(in, join(high(from) + 1, 0L))
      case Some(value)                                           => join(high(from), value)
    }

  @tailrec private def nextPresent(in: OffsetRuns.Bitmaps, from: Long): Long =
    in.get(high(from)).map(_.nextValue(from.toInt)).filter(_ >= 0) match {
      case Some(value) => join(high(from), value)
      case None        => nextPresent(in, join(in.keysIteratorFrom(high(from) + 1).next(), 0L))
    }

  private def bitmap(in: OffsetRuns.Bitmaps, high: Int): RoaringBitmap = in.getOrElseUpdate(high, new RoaringBitmap)

  private def high(offset: Long): Int = (offset >>> 32).toInt

  private def low(offset: Long): Long = offset & 0xffffffffL

  private def join(high: Int, low: Long): Long = (high.toLong << 32) | low
}

object OffsetRuns {

  private val Shown = 5

  /** Returns the offsets of some ranges, with one row per offset. Each pair is the start (included) and the end
    * (excluded) of a range.
    */
  def of(ranges: (Long, Long)*): OffsetRuns = {
    val all = new OffsetRuns
    ranges.foreach { case (from, until) => all.addRange(from, until) }
    all
  }

  private type Bitmaps = mutable.SortedMap[Int, RoaringBitmap]

  private val Chunk = 1L << 32

  def fromBytes(bytes: Array[Byte]): OffsetRuns = {
    val in    = new DataInputStream(new ByteArrayInputStream(bytes))
    val total = in.readLong()
    new OffsetRuns(bitmaps(in), bitmaps(in), total)
  }

  private def bitmaps(in: DataInputStream): Bitmaps = {
    val all: Bitmaps = mutable.SortedMap.empty
    (0 until in.readInt()).foreach { _ =>
      val high    = in.readInt()
      val offsets = new RoaringBitmap
      offsets.deserialize(in)
      all(high) = offsets
    }
    all
  }
}
