// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.reader

import org.apache.kafka.clients.consumer.ConsumerRecord
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.types.UTF8String

/** A column that looks at the records of one partition instead of copying them; one is reused for all batches of a reader.
  *
  * @param field
  *   which one of a record ([[RecordField]]), but the headers
  */
final private[reader] class RecordVector(field: Int, kind: DataType) extends ViewVector(kind) {

  // Uninitialised until `show`: nothing reads a batch before that.
  private var records: Array[ConsumerRecord[Array[Byte], Array[Byte]]] = _
  private var from                                                     = 0
  private var topic: UTF8String                                        = _

  /** Looks at other records, from an index on. */
  def show(next: Array[ConsumerRecord[Array[Byte], Array[Byte]]], first: Int, itsTopic: UTF8String): Unit = {
    records = next
    from = first
    topic = itsTopic
  }

  override def hasNull: Boolean = field == RecordField.Key || field == RecordField.Value

  override def isNullAt(i: Int): Boolean = field match {
    case RecordField.Key   => records(from + i).key == null
    case RecordField.Value => records(from + i).value == null
    case _                 => false
  }

  override def getBinary(i: Int): Array[Byte] =
    if (field == RecordField.Value) records(from + i).value else records(from + i).key

  override def getUTF8String(i: Int): UTF8String = topic

  override def getInt(i: Int): Int =
    if (field == RecordField.Partition) records(from + i).partition else records(from + i).timestampType.id

  override def getLong(i: Int): Long =
    if (field == RecordField.Offset) records(from + i).offset else RecordTime.micros(records(from + i))
}
