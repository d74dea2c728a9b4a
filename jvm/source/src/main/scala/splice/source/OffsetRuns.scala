// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}

import scala.annotation.tailrec
import scala.collection.mutable

import org.roaringbitmap.RoaringBitmap

/** The offsets of rows, each 0 or more: a set that is small when they are dense, and the subset that several rows have. Mutable;
  * used by one thread.
  *
  * Offsets mostly come in rising order, so a run of them is kept as two numbers until it breaks.
  */
final private[splice] class OffsetRuns private (
    private val upper: OffsetRuns.Bitmaps,
    private val again: OffsetRuns.Bitmaps,
    private var total: Long
) {

  private var runStart = 0L
  private var runEnd   = 0L

  def this() = this(mutable.SortedMap.empty, mutable.SortedMap.empty, 0L)

  def add(offset: Long): Unit = add(offset, offset + 1)

  /** Adds one row for each offset from `from` (included) until `until` (excluded). */
  def add(from: Long, until: Long): Unit =
    if (from == runEnd) runEnd = until
    else {
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

  /** How many rows there are. */
  def rows: Long = {
    flush()
    total
  }

  /** How many different offsets there are. */
  def count: Long = {
    flush()
    upper.valuesIterator.map(_.getLongCardinality).sum
  }

  /** The least offset; there must be one. */
  def first: Long = {
    flush()
    val (high, offsets) = upper.head
    join(high, Integer.toUnsignedLong(offsets.first))
  }

  /** The greatest offset; there must be one. */
  def last: Long = {
    flush()
    val (high, offsets) = upper.last
    join(high, Integer.toUnsignedLong(offsets.last))
  }

  /** Ranges of missing offsets between [[first]] and [[last]], from (included) until (excluded), lowest first. */
  def holes: Iterator[(Long, Long)] = {
    val end = last
    Iterator
      .unfold(nextAbsent(upper, first)) { from =>
        if (from > end) None
        else {
          val until = nextPresent(upper, from)
          Some((from -> until, nextAbsent(upper, until)))
        }
      }
  }

  /** Ranges of offsets that several rows have, like [[holes]]. */
  def repeated: Iterator[(Long, Long)] = {
    flush()
    if (again.isEmpty) Iterator.empty
    else {
      val (high, offsets) = again.last
      val end             = join(high, Integer.toUnsignedLong(offsets.last))
      Iterator.unfold(0L) { at =>
        if (at > end) None
        else {
          val from  = nextPresent(again, at)
          val until = nextAbsent(again, from)
          Some((from -> until, until))
        }
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

  // The run begins empty at 0, so that the first offset 0 extends it.
  private def flush(): Unit = if (runEnd > runStart) {
    var at = runStart
    while (at < runEnd) {
      val chunkEnd = math.min(runEnd, join(high(at) + 1, 0L))
      val until    = low(chunkEnd - 1) + 1
      val own      = bitmap(upper, high(at))
      if (own.intersects(low(at), until)) include(high(at), RoaringBitmap.bitmapOfRange(low(at), until))
      else own.add(low(at), until)
      at = chunkEnd
    }
    total += runEnd - runStart
    runStart = runEnd
  }

  private def include(high: Int, offsets: RoaringBitmap): Unit = {
    val own  = bitmap(upper, high)
    val both = RoaringBitmap.and(own, offsets)
    if (!both.isEmpty) bitmap(again, high).or(both)
    own.or(offsets)
  }

  @tailrec private def nextAbsent(in: OffsetRuns.Bitmaps, from: Long): Long =
    in.get(high(from)).map(_.nextAbsentValue(from.toInt)) match {
      case None                                                  => from
      case Some(found) if found < 0 || found >= OffsetRuns.Chunk => nextAbsent(in, join(high(from) + 1, 0L))
      case Some(found)                                           => join(high(from), found)
    }

  @tailrec private def nextPresent(in: OffsetRuns.Bitmaps, from: Long): Long =
    in.get(high(from)).map(_.nextValue(from.toInt)).filter(_ >= 0) match {
      case Some(found) => join(high(from), found)
      case None        => nextPresent(in, join(in.keysIteratorFrom(high(from) + 1).next(), 0L))
    }

  private def bitmap(in: OffsetRuns.Bitmaps, high: Int): RoaringBitmap = in.getOrElseUpdate(high, new RoaringBitmap)

  private def high(offset: Long): Int = (offset >>> 32).toInt

  private def low(offset: Long): Long = offset & 0xffffffffL

  private def join(high: Int, low: Long): Long = (high.toLong << 32) | low
}

private[splice] object OffsetRuns {

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
