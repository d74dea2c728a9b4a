// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.consumer

import java.io.InputStream
import java.nio.ByteBuffer
import java.util.{Iterator => JIterator}

import org.apache.kafka.clients.consumer.ConsumerRecord
import org.apache.kafka.common.compress.Compression
import org.apache.kafka.common.header.Header
import org.apache.kafka.common.record._
import org.apache.kafka.common.utils.BufferSupplier

/** A batch of records in its wire format, which is record format 2 of Kafka (KIP-98).
  *
  * @param batch
  *   the fields of the batch
  * @param array
  *   the array that contains the batch
  * @param start
  *   the index of the batch in the array
  * @param timestampType
  *   the timestamp type of its records
  */
final private[splice] class WireBatch(
    batch: RecordBatch,
    val array: Array[Byte],
    start: Int,
    val timestampType: TimestampType
) {
  private val fields = batch.asInstanceOf[DefaultRecordBatch]

  /** The index of the first record. */
  def recordsAt: Int = start + DefaultRecordBatch.RECORD_BATCH_OVERHEAD

  /** The index after the batch. */
  def end: Int = start + bytes

  /** The size of the batch. */
  def bytes: Int = fields.sizeInBytes

  /** The number of records. */
  def count: Int = fields.countOrNull

  def baseOffset: Long = fields.baseOffset

  def lastOffset: Long = fields.lastOffset

  def maxTimestamp: Long = fields.maxTimestamp

  /** The base of the timestamps of records. */
  def baseTimestamp: Long = fields.baseTimestamp

  def isCompressed: Boolean = fields.isCompressed

  /** The decompressed records. */
  def stream(buffers: BufferSupplier): InputStream = fields.recordInputStream(buffers)

  /** A copy of the batch in a separate array. */
  def copied: WireBatch = {
    val copy = ByteBuffer.allocate(bytes)
    fields.writeTo(copy)
    new WireBatch(MemoryRecords.readableRecords(copy.flip()).batches.iterator.next(), copy.array, 0, timestampType)
  }
}

/** The header of a record that represents batches ([[PassedBatches]]). */
final private[splice] class WireBatches(val batches: IndexedSeq[WireBatch]) extends Header {
  override def key: String        = ""
  override def value: Array[Byte] = Array.emptyByteArray

  /** Creates a record that represents these batches. */
  def record(topic: String, partition: Int): ConsumerRecord[Array[Byte], Array[Byte]] = {
    val none   = Option.empty[Array[Byte]].orNull
    val record = new ConsumerRecord(topic, partition, batches.last.lastOffset, none, none)
    record.headers.add(this)
    record
  }
}

private[splice] object WireBatches {

  /** The batches that a record represents. */
  def in(record: ConsumerRecord[_, _]): IndexedSeq[WireBatch] =
    record.headers.iterator.next().asInstanceOf[WireBatches].batches
}

private[splice] object WireBatch {

  /** The batches of a response, as objects of the client and in wire format. A batch of an old format is converted. */
  def of(records: MemoryRecords): JIterator[(RecordBatch, WireBatch)] = {
    val buffer  = records.buffer
    val onHeap  = buffer.hasArray
    val batches = records.batches.iterator
    var at      = if (onHeap) buffer.arrayOffset + buffer.position() else 0
    new JIterator[(RecordBatch, WireBatch)] {
      override def hasNext: Boolean                 = batches.hasNext
      override def next(): (RecordBatch, WireBatch) = {
        val batch = batches.next()
        val start = at
        at += batch.sizeInBytes
        val wire =
          if (batch.magic < RecordBatch.MAGIC_VALUE_V2) converted(batch)
          else if (onHeap) new WireBatch(batch, buffer.array, start, batch.timestampType)
          else new WireBatch(batch, Array.emptyByteArray, 0, batch.timestampType).copied
        (batch, wire)
      }
    }
  }

  private def converted(old: RecordBatch): WireBatch = {
    val kind =
      if (old.timestampType == TimestampType.NO_TIMESTAMP_TYPE) TimestampType.CREATE_TIME else old.timestampType
    val first   = old.iterator.next().offset
    val builder = MemoryRecords.builder(
      ByteBuffer.allocate(old.sizeInBytes + DefaultRecordBatch.RECORD_BATCH_OVERHEAD),
      RecordBatch.MAGIC_VALUE_V2,
      Compression.NONE,
      kind,
      first,
      old.maxTimestamp
    )
    old.forEach { record =>
      record.ensureValid()
      builder.appendWithOffset(record.offset, record)
    }
    val built = builder.build()
    new WireBatch(built.batches.iterator.next(), built.buffer.array, built.buffer.arrayOffset, old.timestampType)
  }
}
