// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.end

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}

import scala.collection.mutable

import org.roaringbitmap.RoaringBitmap

/** A set of offsets, each 0 or more, that is small when they are dense. Mutable; used by one thread.
  *
  * Offsets mostly come in rising order, so a run of them is kept as two numbers until it breaks.
  */
final private[files] class OffsetRuns private (private val upper: mutable.SortedMap[Int, RoaringBitmap]) {

  private var runStart = 0L
  private var runEnd   = 0L

  def this() = this(mutable.SortedMap.empty[Int, RoaringBitmap])

  def add(offset: Long): Unit =
    if (offset == runEnd) runEnd += 1
    else {
      flush()
      runStart = offset
      runEnd = offset + 1
    }

  def addAll(other: OffsetRuns): Unit = {
    flush()
    other.flush()
    other.upper.foreach { case (high, offsets) => bitmap(high).or(offsets) }
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
      .unfold(nextAbsent(first)) { from =>
        if (from > end) None
        else {
          val until = nextPresent(from)
          Some((from -> until, nextAbsent(until)))
        }
      }
  }

  def toBytes: Array[Byte] = {
    flush()
    val bytes = new ByteArrayOutputStream
    val out   = new DataOutputStream(bytes)
    out.writeInt(upper.size)
    upper.foreach { case (high, offsets) =>
      offsets.runOptimize()
      out.writeInt(high)
      offsets.serialize(out)
    }
    bytes.toByteArray
  }

  // The run begins empty at 0, so that the first offset 0 extends it.
  private def flush(): Unit = if (runEnd > runStart) {
    var at = runStart
    while (at < runEnd) {
      val chunkEnd = math.min(runEnd, join(high(at) + 1, 0L))
      val _        = bitmap(high(at)).add(low(at), low(chunkEnd - 1) + 1)
      at = chunkEnd
    }
    runStart = runEnd
  }

  private def nextAbsent(from: Long): Long =
    upper.get(high(from)).map(b => b.nextAbsentValue(from.toInt)).fold(from) { found =>
      if (found < 0 || found >= OffsetRuns.Chunk) nextAbsent(join(high(from) + 1, 0L)) else join(high(from), found)
    }

  private def nextPresent(from: Long): Long =
    upper.get(high(from)).map(_.nextValue(from.toInt)).filter(_ >= 0) match {
      case Some(found) => join(high(from), found)
      case None        => nextPresent(join(upper.keysIteratorFrom(high(from) + 1).next(), 0L))
    }

  private def bitmap(high: Int): RoaringBitmap = upper.getOrElseUpdate(high, new RoaringBitmap)

  private def high(offset: Long): Int = (offset >>> 32).toInt

  private def low(offset: Long): Long = offset & 0xffffffffL

  private def join(high: Int, low: Long): Long = (high.toLong << 32) | low
}

private[files] object OffsetRuns {

  private val Chunk = 1L << 32

  def fromBytes(bytes: Array[Byte]): OffsetRuns = {
    val in    = new DataInputStream(new ByteArrayInputStream(bytes))
    val upper = mutable.SortedMap.empty[Int, RoaringBitmap]
    (0 until in.readInt()).foreach { _ =>
      val high    = in.readInt()
      val offsets = new RoaringBitmap
      offsets.deserialize(in)
      upper(high) = offsets
    }
    new OffsetRuns(upper)
  }
}
