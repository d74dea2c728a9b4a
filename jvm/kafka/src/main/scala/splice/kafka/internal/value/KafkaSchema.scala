// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.value

import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.types._

import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.metrics.KafkaMetrics
import splice.source.internal.value.{ParsedLog, ValueSettings}

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

  /** The columns of records with binary values. */
  def apply(includeHeaders: Boolean): StructType = if (includeHeaders) plain.add(Headers, HeadersType) else plain

  /** The columns of records whose values have the type of `value`. */
  def apply(includeHeaders: Boolean, value: ValueSettings): StructType = {
    val fields = apply(includeHeaders).fields.map(f => if (f.name == Value) f.copy(dataType = value.dataType) else f)
    if (value.keepsCorrupt) StructType(fields).add(ParsedLog.Corrupt, KafkaLog.corrupt) else StructType(fields)
  }
}

/** The records of Kafka for a parser of values. */
private[splice] object KafkaLog extends ParsedLog {

  override def columns: StructType = KafkaSchema(includeHeaders = true)

  override val id: Seq[String] = Seq(KafkaSchema.Topic, KafkaSchema.Partition, KafkaSchema.Offset)

  override def invalid(record: Seq[Any], settings: ValueSettings, cause: Throwable): Throwable =
    KafkaErrors.unparsable(
      settings.format.name,
      record.init.mkString("-"),
      record.last.toString,
      settings.fields.toDDL,
      cause
    )

  override def parseErrors(count: () => Long): CustomTaskMetric =
    new KafkaMetrics.Live(KafkaMetrics.ParseErrors, count)
}
