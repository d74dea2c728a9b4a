// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.value

import org.apache.spark.sql.types._

/** The columns of a Kafka source: the columns of Spark's Kafka source, with the changes that `valueFormat` makes. */
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

  /** The column of records with values that Splice could not parse. */
  val Corrupt = "_corrupt"

  val CorruptType: StructType = new StructType()
    .add(Topic, StringType)
    .add(Partition, IntegerType)
    .add(Offset, LongType)
    .add("bytes", BinaryType)

  /** The columns of records with binary values. */
  def apply(includeHeaders: Boolean): StructType = if (includeHeaders) plain.add(Headers, HeadersType) else plain

  /** The columns of records whose values have the type of `value`. */
  def apply(includeHeaders: Boolean, value: ValueSettings): StructType = {
    val fields = apply(includeHeaders).fields.map(f => if (f.name == Value) f.copy(dataType = value.dataType) else f)
    if (value.keepsCorrupt) StructType(fields).add(Corrupt, CorruptType) else StructType(fields)
  }
}
