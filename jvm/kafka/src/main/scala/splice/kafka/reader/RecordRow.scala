// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.reader

import org.apache.kafka.clients.consumer.ConsumerRecord
import org.apache.spark.sql.catalyst.expressions.{BaseGenericInternalRow, GenericInternalRow}
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.unsafe.types.UTF8String

/** A row that looks at a record instead of copying it; one is reused for all records of a reader.
  *
  * Spark projects every row of a source anyway, and reads only what the query needs. Typed getters are overridden and the
  * rest comes from Spark's base class, so that the getters that a later Spark adds exist here too. Its `copy` stays as it is when
  * this row looks at another record: no record's bytes are ever written to again.
  *
  * @param fields
  *   the field of each column ([[RecordField]])
  */
final private[splice] class RecordRow(fields: Array[Int]) extends BaseGenericInternalRow {

  // Uninitialised until `show`: nothing reads a row before that, and a check for each value would cost.
  private var record: ConsumerRecord[Array[Byte], Array[Byte]] = _
  private var topic: UTF8String                                = _

  /** Looks at another record, whose topic is given once more as Spark's kind of text. */
  def show(next: ConsumerRecord[Array[Byte], Array[Byte]], itsTopic: UTF8String): Unit = {
    record = next
    topic = itsTopic
  }

  override def numFields: Int = fields.length

  override def isNullAt(ordinal: Int): Boolean = fields(ordinal) match {
    case RecordField.Key     => record.key == null
    case RecordField.Value   => record.value == null
    case RecordField.Headers => !record.headers.iterator.hasNext
    case _                   => false
  }

  override def getBinary(ordinal: Int): Array[Byte] =
    if (fields(ordinal) == RecordField.Value) record.value else record.key

  override def getUTF8String(ordinal: Int): UTF8String = topic

  override def getInt(ordinal: Int): Int =
    if (fields(ordinal) == RecordField.Partition) record.partition else record.timestampType.id

  override def getLong(ordinal: Int): Long =
    if (fields(ordinal) == RecordField.Offset) record.offset else RecordTime.micros(record)

  override protected def genericGet(ordinal: Int): Any = fields(ordinal) match {
    case RecordField.Key           => record.key
    case RecordField.Value         => record.value
    case RecordField.Topic         => topic
    case RecordField.Partition     => record.partition
    case RecordField.Offset        => record.offset
    case RecordField.Timestamp     => RecordTime.micros(record)
    case RecordField.TimestampType => record.timestampType.id
    case RecordField.Headers       => headers
  }

  override def setNullAt(ordinal: Int): Unit = throw new UnsupportedOperationException("a record cannot be changed")

  override def update(ordinal: Int, value: Any): Unit =
    throw new UnsupportedOperationException("a record cannot be changed")

  private def headers: GenericArrayData = {
    val all = record.headers.toArray
    if (all.isEmpty) null
    else
      new GenericArrayData(
        all.map(h => new GenericInternalRow(Array[Any](UTF8String.fromString(h.key), h.value)): Any)
      )
  }
}
