// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.reader

import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.types.UTF8String

import splice.kafka.internal.consumer.{HeadersVector, RecordWindow, ViewVector}

/** Columns that refer to the records of a window, without copies. A reader uses one instance per column for all its
  * batches.
  *
  * Each field has a separate class, so that the JIT compiler inlines a plain load at each call of Spark's generated
  * code.
  */
private[splice] object RecordVector {

  /** The column of a field of a record ([[RecordField]]). */
  def apply(field: Int, kind: DataType, window: RecordWindow): ViewVector = field match {
    case RecordField.Key           => new KeyVector(kind, window)
    case RecordField.Value         => new ValueVector(kind, window)
    case RecordField.Topic         => new TopicVector(kind, window)
    case RecordField.Partition     => new PartitionVector(kind, window)
    case RecordField.Offset        => new OffsetVector(kind, window)
    case RecordField.Timestamp     => new TimestampVector(kind, window)
    case RecordField.TimestampType => new TimestampTypeVector(kind, window)
    case RecordField.Headers       => HeadersVector(window)
    case RecordField.Text          => new TextVector(kind, window)
  }
}

final private class KeyVector(kind: DataType, window: RecordWindow) extends ViewVector(kind) {
  override def hasNull: Boolean               = true
  override def isNullAt(i: Int): Boolean      = window.isKeyNull(i)
  override def getBinary(i: Int): Array[Byte] = window.key(i)
}

final private class ValueVector(kind: DataType, window: RecordWindow) extends ViewVector(kind) {
  override def hasNull: Boolean               = true
  override def isNullAt(i: Int): Boolean      = window.isValueNull(i)
  override def getBinary(i: Int): Array[Byte] = window.value(i)
}

final private class TextVector(kind: DataType, window: RecordWindow) extends ViewVector(kind) {
  override def hasNull: Boolean                  = true
  override def isNullAt(i: Int): Boolean         = window.isValueNull(i)
  override def getUTF8String(i: Int): UTF8String = window.text(i)
}

final private class TopicVector(kind: DataType, window: RecordWindow) extends ViewVector(kind) {
  override def getUTF8String(i: Int): UTF8String = window.topic
}

final private class PartitionVector(kind: DataType, window: RecordWindow) extends ViewVector(kind) {
  override def getInt(i: Int): Int = window.partition
}

final private class OffsetVector(kind: DataType, window: RecordWindow) extends ViewVector(kind) {
  override def getLong(i: Int): Long = window.offset(i)
}

final private class TimestampVector(kind: DataType, window: RecordWindow) extends ViewVector(kind) {
  override def getLong(i: Int): Long = window.micros(i)
}

final private class TimestampTypeVector(kind: DataType, window: RecordWindow) extends ViewVector(kind) {
  override def getInt(i: Int): Int = window.timestampType(i)
}
