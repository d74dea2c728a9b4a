// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.reader

import org.apache.spark.sql.types.{StringType, StructField, StructType}

import splice.kafka.internal.value.KafkaSchema

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
