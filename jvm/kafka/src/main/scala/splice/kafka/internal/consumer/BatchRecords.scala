// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.consumer

import java.io.{EOFException, InputStream}
import java.util.{ArrayList, Arrays, Collections}

import scala.annotation.tailrec
import scala.jdk.CollectionConverters._

import org.apache.kafka.common.InvalidRecordException
import org.apache.kafka.common.errors.CorruptRecordException
import org.apache.kafka.common.record.TimestampType
import org.apache.kafka.common.utils.BufferSupplier
import org.apache.spark.unsafe.types.UTF8String

import splice.kafka.internal.consumer.SlotConsumer.Leftover
import splice.kafka.internal.options.ReadLimits

/** Records that are decoded from batches ([[WireBatch]]). An object is created only for bytes that Spark reads.
  *
  * One array contains all records of a window. The array is the response of a broker, which may contain several
  * batches, or the last decompressed bytes. Records have format 2 of Kafka (KIP-98).
  */
final private[splice] class BatchRecords extends RecordWindow {

  import BatchRecords._

  // The window. A size of -1 means null.
  private val in        = new RecordBytes
  private var kind      = TimestampType.NO_TIMESTAMP_TYPE
  private var count     = 0
  private var size      = 0L
  private var offsets   = new Array[Long](FirstRows)
  private var times     = new Array[Long](FirstRows)
  private var keyAt     = new Array[Int](FirstRows)
  private var keySize   = new Array[Int](FirstRows)
  private var valueAt   = new Array[Int](FirstRows)
  private var valueSize = new Array[Int](FirstRows)

  // The chunk, the index of its current batch, and the offsets to read.
  private val batches   = new ArrayList[WireBatch]
  private var index     = -1
  private var from      = 0L
  private var until     = 0L
  private var holes     = Option.empty[OpenHoles]
  private var isFilling = false
  private var isBeyond  = false

  // The current batch: the number of its remaining records, and the bases of their offsets and timestamps.
  private var remaining  = 0
  private var baseOffset = 0L
  private var baseTime   = 0L
  private var isAppended = false

  // The state of the decompression of batches.
  private var stream       = Option.empty[InputStream]
  private var decompressed = Array.emptyByteArray
  private val buffers      = BufferSupplier.create()

  override def rows: Int                    = count
  override def bytes: Long                  = size
  override def offset(i: Int): Long         = offsets(i)
  override def timestamp(i: Int): Long      = times(i)
  override def timestampType(i: Int): Int   = kind.id
  override def isKeyNull(i: Int): Boolean   = keySize(i) < 0
  override def isValueNull(i: Int): Boolean = valueSize(i) < 0
  override def key(i: Int): Array[Byte]     = Arrays.copyOfRange(in.array, keyAt(i), keyAt(i) + keySize(i))
  override def value(i: Int): Array[Byte]   = Arrays.copyOfRange(in.array, valueAt(i), valueAt(i) + valueSize(i))
  override def text(i: Int): UTF8String     = UTF8String.fromBytes(in.array, valueAt(i), valueSize(i))
  override def hasHeaders(i: Int): Boolean  = in.array(headersAt(i)) != 0

  override def headers(i: Int, to: ShownHeaders): Unit = {
    val kept = in.at
    in.at = headersAt(i)
    try
      intact {
        var left = in.known(in.varint(), least = 0)
        while (left > 0) {
          val size = in.known(in.varint(), least = 0)
          in.at += size
          val key = UTF8String.fromBytes(in.array, in.at - size, size)
          // A client decodes a name before it is encoded again, which replaces invalid bytes.
          to.add(if (key.isValid) key else UTF8String.fromString(key.toString), in.part().orNull)
          left -= 1
        }
      }
    finally in.at = kept
  }

  private def headersAt(i: Int) = valueAt(i) + math.max(valueSize(i), 0)

  override protected def begin(chunk: Chunk): Unit = {
    batches.clear()
    chunk.records.forEach(record => WireBatches.in(record).foreach(batches.add))
    index = -1
    from = chunk.from
    until = chunk.range.until
    holes = chunk.range.holes
    isFilling = holes.nonEmpty
    isBeyond = false
  }

  override def hasMore: Boolean = !isBeyond && (remaining > 0 || index + 1 < batches.size)

  override def next(): Boolean = {
    count = 0
    size = 0L
    if (stream.nonEmpty) in.compact()
    intact {
      while (!isBeyond && count < MostRows && (remaining > 0 || advance()) && (stream.isEmpty || whole())) decode()
    }
    count > 0
  }

  private def intact[A](decode: => A): A =
    try decode
    catch {
      case e: Exception =>
        throw new CorruptRecordException(s"The batch of $topic-$partition from offset $baseOffset on is damaged", e)
    }

  /** Moves to the next batch with records, if the window can also show the records of this batch. */
  @tailrec private def advance(): Boolean =
    if (index + 1 >= batches.size) false
    else {
      val batch = batches.get(index + 1)
      val from  = if (batch.isCompressed) decompressed else batch.array
      if (batch.baseOffset >= until) {
        index += 1
        isBeyond = true
        false
      } else if (count > 0 && ((from ne in.array) || kind != batch.timestampType)) false
      else {
        index += 1
        show(batch)
        if (remaining > 0) true else advance()
      }
    }

  private def show(batch: WireBatch): Unit = {
    remaining = if (batch.lastOffset < from) 0 else batch.count
    kind = batch.timestampType
    baseOffset = batch.baseOffset
    isAppended = kind == TimestampType.LOG_APPEND_TIME
    baseTime = if (isAppended) batch.maxTimestamp else batch.baseTimestamp
    if (!batch.isCompressed) in.show(batch.array, batch.recordsAt, batch.end)
    else if (remaining > 0) {
      if (decompressed.isEmpty) decompressed = new Array[Byte](FirstBytes)
      if (count == 0) in.show(decompressed, 0, 0)
      stream = Some(batch.stream(buffers))
    }
  }

  /** Decodes a record, and adds it to the window if its offset is to be read. */
  private def decode(): Unit = {
    val length = in.varint()
    val last   = in.at + length
    if (length < 0 || last > in.end) throw new InvalidRecordException(s"a record has a length of $length bytes")
    in.at += 1
    val time   = in.varlong()
    val offset = baseOffset + in.varint()
    if (offset >= until) isBeyond = true
    else {
      if (offset >= from && (!isFilling || holes.exists(_.contains(offset))))
        add(offset, if (isAppended) baseTime else baseTime + time, last)
      in.at = last
      remaining -= 1
      if (remaining == 0) close()
    }
  }

  private def add(offset: Long, time: Long, last: Int): Unit = {
    if (count == offsets.length) grow()
    offsets(count) = offset
    times(count) = time
    val key = in.varint()
    keyAt(count) = in.at
    keySize(count) = key
    in.at += math.max(key, 0)
    val value = in.varint()
    valueAt(count) = in.at
    valueSize(count) = value
    if (key < -1 || value < -1 || in.at + math.max(value, 0) >= last)
      throw new InvalidRecordException(s"a record has a key of $key and a value of $value bytes")
    size += math.max(key, 0) + math.max(value, 0)
    count += 1
  }

  private def grow(): Unit = {
    val more = count * 4
    offsets = Arrays.copyOf(offsets, more)
    times = Arrays.copyOf(times, more)
    keyAt = Arrays.copyOf(keyAt, more)
    keySize = Arrays.copyOf(keySize, more)
    valueAt = Arrays.copyOf(valueAt, more)
    valueSize = Arrays.copyOf(valueSize, more)
  }

  /** Decompresses the next record. Returns false if the array has no space for this record next to the records of the
    * window.
    */
  @tailrec private def whole(): Boolean =
    if (in.needs() <= in.end - in.at) true
    else if (in.end < decompressed.length) {
      val read = stream.fold(-1)(_.read(decompressed, in.end, decompressed.length - in.end))
      if (read < 0) throw new EOFException(s"$remaining records are missing")
      in.end += read
      whole()
    } else if (count > 0) false
    else {
      if (in.at > 0) in.compact()
      else if (decompressed.length == LargestArray) throw new InvalidRecordException("a record is larger than an array")
      else {
        decompressed = Arrays.copyOf(decompressed, math.min(decompressed.length * 2L, LargestArray.toLong).toInt)
        in.array = decompressed
      }
      whole()
    }

  override def left(room: Long): Option[Leftover] = Option.when(isBeyond) {
    val rest  = batches.subList(index, batches.size)
    val bytes = rest.stream.mapToLong(batch => batch.bytes.toLong + ReadLimits.RecordOverhead).sum
    Leftover(
      if (bytes > room) Collections.emptyList()
      else {
        val copies = new WireBatches(rest.asScala.iterator.map(_.copied).toIndexedSeq)
        Collections.singletonList(copies.record(topic.toString, partition))
      },
      bytes
    )
  }

  override def clear(): Unit = {
    close()
    batches.clear()
    index = -1
    remaining = 0
    count = 0
    in.show(Array.emptyByteArray, 0, 0)
    if (decompressed.length > MostKept) decompressed = Array.emptyByteArray
  }

  private def close(): Unit = {
    stream.foreach(_.close())
    stream = None
  }

  override def free(): Unit = {
    close()
    buffers.close()
  }
}

private object BatchRecords {

  private val FirstRows = 256

  // This limit keeps the window in the cache of a core while Spark reads the window.
  private val MostRows = 4096

  // The number of bytes that are decompressed together, unless a record is larger.
  private val FirstBytes = 64 << 10

  private val MostKept = 1 << 20

  private val LargestArray = Int.MaxValue - 8
}
