// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.reader

import org.apache.spark.sql.types.{StringType, StructField, StructType}
import org.apache.spark.unsafe.types.UTF8String

import splice.kafka.internal.consumer.{HeadersVector, RecordWindow}
import splice.kafka.internal.value.KafkaSchema
import splice.source.internal.rows.RowView

// scalafix:off DisableSyntax.null; Spark's rows and Kafka's records define null for an absent value

/** A row that refers to a record of a window instead of copying it.
  *
  * Spark projects every row of a source, and reads only the columns that the query needs.
  *
  * A `copy` of the row remains valid, because Spark's base class copies texts, and no array of bytes is written again.
  *
  * @param fields
  *   the field of each column ([[RecordField]])
  */
final private[splice] class RecordRow(fields: Array[Int], window: RecordWindow) extends RowView(fields.length) {

  private val headers = HeadersVector(window)
  private var index   = 0

  /** Moves to a record of the window. */
  def show(next: Int): Unit = {
    headers.forget()
    index = next
  }

  override def isNullAt(ordinal: Int): Boolean = fields(ordinal) match {
    case RecordField.Key                      => window.isKeyNull(index)
    case RecordField.Value | RecordField.Text => window.isValueNull(index)
    case RecordField.Headers                  => headers.isNullAt(index)
    case _                                    => false
  }

  override def getBinary(ordinal: Int): Array[Byte] =
    if (fields(ordinal) == RecordField.Value) value else key

  override def getUTF8String(ordinal: Int): UTF8String =
    if (fields(ordinal) == RecordField.Text) text else window.topic

  override def getInt(ordinal: Int): Int =
    if (fields(ordinal) == RecordField.Partition) window.partition else window.timestampType(index)

  override def getLong(ordinal: Int): Long =
    if (fields(ordinal) == RecordField.Offset) window.offset(index) else window.micros(index)

  override protected def genericGet(ordinal: Int): Any = fields(ordinal) match {
    case RecordField.Key           => key
    case RecordField.Value         => value
    case RecordField.Topic         => window.topic
    case RecordField.Partition     => window.partition
    case RecordField.Offset        => window.offset(index)
    case RecordField.Timestamp     => window.micros(index)
    case RecordField.TimestampType => window.timestampType(index)
    case RecordField.Headers       => if (headers.isNullAt(index)) null else headers.getArray(index)
    case RecordField.Text          => text
  }

  private def key: Array[Byte] = if (window.isKeyNull(index)) null else window.key(index)

  private def value: Array[Byte] = if (window.isValueNull(index)) null else window.value(index)

  private def text: UTF8String = if (window.isValueNull(index)) null else window.text(index)
}

/** The fields of a record as small integers. A row looks up a field for every value that Spark reads. */
private[splice] object RecordField {

  final val Key           = 0
  final val Value         = 1
  final val Topic         = 2
  final val Partition     = 3
  final val Offset        = 4
  final val Timestamp     = 5
  final val TimestampType = 6
  final val Headers       = 7

  /** The value as UTF-8 text. */
  final val Text = 8

  private val numbers = Map(
    KafkaSchema.Key           -> Key,
    KafkaSchema.Value         -> Value,
    KafkaSchema.Topic         -> Topic,
    KafkaSchema.Partition     -> Partition,
    KafkaSchema.Offset        -> Offset,
    KafkaSchema.Timestamp     -> Timestamp,
    KafkaSchema.TimestampType -> TimestampType,
    KafkaSchema.Headers       -> Headers
  )

  /** The fields of the requested columns, in their order. */
  def of(columns: StructType): Array[Int] = columns.fields.map {
    case StructField(KafkaSchema.Value, StringType, _, _) => Text
    case column                                           => numbers(column.name)
  }
}
