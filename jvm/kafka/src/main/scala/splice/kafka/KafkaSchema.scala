// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka

import org.apache.spark.sql.types._

/** The columns of a Kafka source: those of Spark's own. */
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

  private val header = new StructType().add("key", StringType).add("value", BinaryType)

  def apply(includeHeaders: Boolean): StructType = if (includeHeaders) plain.add(Headers, ArrayType(header)) else plain
}
