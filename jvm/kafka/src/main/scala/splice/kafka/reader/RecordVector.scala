// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.reader

import org.apache.kafka.clients.consumer.ConsumerRecord
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.types.UTF8String

/** A column that looks at the records of one partition instead of copying them; one is reused for all batches of a reader.
  *
  * Each field has a class, so that the compiler of the JVM inlines a plain load at each call of Spark's generated code.
  */
abstract private[reader] class RecordVector(kind: DataType) extends ViewVector(kind) {

  // Uninitialised until `show`: nothing reads a batch before that.
  private var records: Array[ConsumerRecord[Array[Byte], Array[Byte]]] = _

  /** Looks at other records, of one partition. There is at least one. */
  def show(next: Array[ConsumerRecord[Array[Byte], Array[Byte]]], topic: UTF8String): Unit = records = next

  final protected def record(i: Int): ConsumerRecord[Array[Byte], Array[Byte]] = records(i)
}

private[reader] object RecordVector {

  /** The column of a field of a record ([[RecordField]]), which is not the headers. */
  def apply(field: Int, kind: DataType): RecordVector = field match {
    case RecordField.Key           => new KeyVector(kind)
    case RecordField.Value         => new ValueVector(kind)
    case RecordField.Topic         => new TopicVector(kind)
    case RecordField.Partition     => new PartitionVector(kind)
    case RecordField.Offset        => new OffsetVector(kind)
    case RecordField.Timestamp     => new TimestampVector(kind)
    case RecordField.TimestampType => new TimestampTypeVector(kind)
  }
}

final private class KeyVector(kind: DataType) extends RecordVector(kind) {
  override def hasNull: Boolean               = true
  override def isNullAt(i: Int): Boolean      = record(i).key == null
  override def getBinary(i: Int): Array[Byte] = record(i).key
}

final private class ValueVector(kind: DataType) extends RecordVector(kind) {
  override def hasNull: Boolean               = true
  override def isNullAt(i: Int): Boolean      = record(i).value == null
  override def getBinary(i: Int): Array[Byte] = record(i).value
}

final private class TopicVector(kind: DataType) extends RecordVector(kind) {

  private var shown = UTF8String.EMPTY_UTF8

  override def show(next: Array[ConsumerRecord[Array[Byte], Array[Byte]]], topic: UTF8String): Unit =
    shown = topic

  override def getUTF8String(i: Int): UTF8String = shown
}

final private class PartitionVector(kind: DataType) extends RecordVector(kind) {

  private var shown = 0

  override def show(next: Array[ConsumerRecord[Array[Byte], Array[Byte]]], topic: UTF8String): Unit =
    shown = next(0).partition

  override def getInt(i: Int): Int = shown
}

final private class OffsetVector(kind: DataType) extends RecordVector(kind) {
  override def getLong(i: Int): Long = record(i).offset
}

final private class TimestampVector(kind: DataType) extends RecordVector(kind) {
  override def getLong(i: Int): Long = RecordTime.micros(record(i))
}

final private class TimestampTypeVector(kind: DataType) extends RecordVector(kind) {
  override def getInt(i: Int): Int = record(i).timestampType.id
}
