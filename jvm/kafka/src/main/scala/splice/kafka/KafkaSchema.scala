// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka

import org.apache.spark.sql.types._

import splice.kafka.options.ValueSettings

/** The columns of a Kafka source: those of Spark's own, and what `valueFormat` makes of them. */
private[splice] object KafkaSchema {

  val Key           = "key"
  val Value         = "value"
  val Topic         = "topic"
  val Partition     = "partition"
  val Offset        = "offset"
  val Timestamp     = "timestamp"
  val TimestampType = "timestampType"
  val Headers       = "headers"

  private val plain = new StructType()
    .add(Key, BinaryType)
    .add(Value, BinaryType)
    .add(Topic, StringType)
    .add(Partition, IntegerType)
    .add(Offset, LongType)
    .add(Timestamp, org.apache.spark.sql.types.TimestampType)
    .add(TimestampType, IntegerType)

  val HeadersType: ArrayType = ArrayType(new StructType().add("key", StringType).add("value", BinaryType))

  /** The column of records whose values could not be parsed. */
  val Corrupt = "_corrupt"

  val CorruptType: StructType = new StructType()
    .add(Topic, StringType)
    .add(Partition, IntegerType)
    .add(Offset, LongType)
    .add("bytes", BinaryType)

  /** The columns of records as they are. */
  def apply(includeHeaders: Boolean): StructType = if (includeHeaders) plain.add(Headers, HeadersType) else plain

  /** The columns of records whose values are what `value` says. */
  def apply(includeHeaders: Boolean, value: ValueSettings): StructType = {
    val fields = apply(includeHeaders).fields.map(f => if (f.name == Value) f.copy(dataType = value.dataType) else f)
    if (value.keepsCorrupt) StructType(fields).add(Corrupt, CorruptType) else StructType(fields)
  }
}
