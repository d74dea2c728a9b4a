// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.consumer

import org.apache.kafka.clients.consumer.ConsumerRecord
import org.apache.spark.unsafe.types.UTF8String

import splice.kafka.internal.consumer.SlotConsumer.Leftover
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.options.ReadLimits

// scalafix:off DisableSyntax.null; Spark's rows and Kafka's records define null for an absent value

/** The records of one partition that a reader returns together. Rows and columns access records by index. A reader has
  * one window, which moves over its records. Used by one thread at a time.
  */
abstract private[splice] class RecordWindow {

  /** The topic in Spark's text class. */
  final var topic: UTF8String = UTF8String.EMPTY_UTF8

  final var partition: Int = 0

  /** The number of records in the window. */
  def rows: Int

  /** The bytes of the keys and values in the window. */
  def bytes: Long

  def offset(i: Int): Long

  def timestamp(i: Int): Long

  /** The number of the timestamp type in Kafka. */
  def timestampType(i: Int): Int

  def isKeyNull(i: Int): Boolean

  def isValueNull(i: Int): Boolean

  /** A key that is not null. */
  def key(i: Int): Array[Byte]

  /** A value that is not null. */
  def value(i: Int): Array[Byte]

  /** A value that is not null, as text. The text is valid until the window moves. */
  def text(i: Int): UTF8String

  def hasHeaders(i: Int): Boolean

  /** Appends the headers of a record to `to`. The headers are valid until the window moves. */
  def headers(i: Int, to: ShownHeaders): Unit

  /** The timestamp in microseconds since 1970.
    *
    * @throws splice.source.errors.SpliceException
    *   when the timestamp in milliseconds does not fit; Spark's Kafka source fails for the same records
    */
  final def micros(i: Int): Long = {
    val millis = timestamp(i)
    if (millis > RecordWindow.LargestMillis || millis < -RecordWindow.LargestMillis)
      throw KafkaErrors.timestampOutOfRange(topic.toString, partition, offset(i), millis)
    millis * 1000L
  }

  /** Opens a chunk. The window shows no record of the chunk before [[next]]. */
  final def open(chunk: Chunk): Unit = {
    topic = chunk.range.topic
    partition = chunk.range.partition.partition
    begin(chunk)
  }

  protected def begin(chunk: Chunk): Unit

  /** True if the chunk may have records that the window has not shown. */
  def hasMore: Boolean

  /** Shows the next records of the chunk. Returns false if the chunk has no more records to read. */
  def next(): Boolean

  /** The records of the chunk after the end of its range, if such records exist. The result is valid after [[hasMore]]
    * or [[next]] has returned false.
    *
    * @param room
    *   the greatest number of bytes of these records
    */
  def left(room: Long): Option[Leftover]

  /** Closes the chunk. Records of a small chunk may stay in memory until the next chunk, or until [[release]]. */
  def clear(): Unit

  /** Removes all records from memory. Called after [[clear]] if no chunk follows. */
  def release(): Unit = ()

  /** Frees memory outside the heap. Another thread may still read the shown records. */
  def free(): Unit
}

private[splice] object RecordWindow {
  private val LargestMillis = Long.MaxValue / 1000
}

/** Records as objects of the client. All records in the range are shown at once. */
final private[splice] class ClientRecords extends RecordWindow {

  // An array, because a reader of rows accesses each record several times. The next chunk reuses the array and replaces
  // its records. Clearing the array, or a new array per chunk, would cost time per record.
  private var all    = ClientRecords.NoRecords
  private var used   = 0
  private var filled = 0
  private var ended  = 0
  private var last   = 0
  private var size   = 0L
  private var chunk  = Option.empty[Chunk]
  private var shown  = false

  override def rows: Int                    = last
  override def bytes: Long                  = size
  override def offset(i: Int): Long         = all(i).offset
  override def timestamp(i: Int): Long      = all(i).timestamp
  override def timestampType(i: Int): Int   = all(i).timestampType.id
  override def isKeyNull(i: Int): Boolean   = all(i).key == null
  override def isValueNull(i: Int): Boolean = all(i).value == null
  override def key(i: Int): Array[Byte]     = all(i).key
  override def value(i: Int): Array[Byte]   = all(i).value
  override def text(i: Int): UTF8String     = UTF8String.fromBytes(all(i).value)
  override def hasHeaders(i: Int): Boolean  = all(i).headers.iterator.hasNext

  override def headers(i: Int, to: ShownHeaders): Unit =
    all(i).headers.forEach(header => to.add(UTF8String.fromString(header.key), header.value))

  override protected def begin(next: Chunk): Unit = {
    chunk = Some(next)
    shown = false
    filled = next.records.size
    all = next.records.toArray(if (filled < used) ClientRecords.NoRecords else all)
    used = filled
    ended = end(next.range.until)
  }

  override def hasMore: Boolean = !shown

  override def next(): Boolean = {
    last = if (shown) 0 else chunk.flatMap(_.range.holes).fold(ended)(compacted)
    shown = true
    size = sizes(all, last)
    last > 0
  }

  private def sizes(records: Array[ConsumerRecord[Array[Byte], Array[Byte]]], until: Int): Long = {
    var sum = 0L
    var i   = 0
    while (i < until) {
      val record = records(i)
      sum += math.max(record.serializedKeySize, 0) + math.max(record.serializedValueSize, 0)
      i += 1
    }
    sum
  }

  override def left(room: Long): Option[Leftover] =
    chunk.filter(_ => ended < filled).map(current => Leftover.of(current.records, ended))

  override def clear(): Unit = {
    if (last < filled || size + used.toLong * ReadLimits.RecordOverhead > ClientRecords.KeptBytes) release()
    chunk = None
    filled = 0
    last = 0
  }

  override def release(): Unit = {
    all = ClientRecords.NoRecords
    used = 0
  }

  override def free(): Unit = ()

  /** The index after the last record before `offset`. Only the last chunk of a range has records after the end of the
    * range.
    */
  private def end(offset: Long): Int = {
    var i = filled
    while (i > 0 && all(i - 1).offset >= offset) i -= 1
    i
  }

  /** Moves the records to read to the start of the array. Returns the index after the last record. */
  private def compacted(holes: OpenHoles): Int = {
    var to = 0
    var i  = 0
    while (i < ended) {
      if (holes.contains(all(i).offset)) {
        all(to) = all(i)
        to += 1
      }
      i += 1
    }
    to
  }
}

private object ClientRecords {
  // Up to this size, the records of the last chunk stay in memory until the next chunk.
  private val KeptBytes = 256L << 10

  private val NoRecords = Array.empty[ConsumerRecord[Array[Byte], Array[Byte]]]
}
