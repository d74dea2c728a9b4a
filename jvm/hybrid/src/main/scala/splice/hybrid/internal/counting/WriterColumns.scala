// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.counting

import org.apache.spark.sql.catalyst.util.quoteIfNeeded
import org.apache.spark.sql.types.{StructField, StructType}

import splice.hybrid.LogColumns
import splice.hybrid.internal.chain.Leg
import splice.hybrid.internal.errors.HandOverErrors
import splice.hybrid.internal.options.LogColumnsOption
import splice.source.OffsetColumns

/** Columns in which known writers store topic, partition and offset of the record of a row: Spark, kafka-delta-ingest,
  * the Iceberg sink of Kafka Connect, and structs such as those of Kafka Connect and Redpanda.
  */
private[hybrid] object WriterColumns {

  private val Prefixes = Seq("", "kafka_", "_kafka_metadata_")

  // Redpanda writes one table per topic.
  private val OfOneTopic = "redpanda"

  /** Columns of a leg for the rule of `by`: the only ones that a known writer has created, or the default columns.
    *
    * @throws splice.source.errors.SpliceException
    *   if the columns of several writers fit
    */
  def of(leg: Leg, by: Leg): LogColumns.Named =
    all(leg.source.schema).filter(hasKnownTopic).map(LogColumns.Named(_)) match {
      case Nil       => LogColumns.OfLog
      case Seq(only) => only
      case several   => throw HandOverErrors.severalColumns(leg, by.name, several.map(LogColumnsOption.text))
    }

  /** Columns of a leg that may identify records of a single topic. */
  def ofOneTopic(leg: Leg): Option[LogColumns.Named] =
    all(leg.source.schema).find(_.topic.isEmpty).map(LogColumns.Named(_))

  /** All groups of columns with a partition and an offset. */
  private[counting] def all(schema: StructType): Seq[OffsetColumns] = {
    val columns = schema.fields.toSeq
    Prefixes.flatMap(in(columns, _)) ++ columns.flatMap {
      case StructField(name, _: StructType, _, _) => in(columns, s"${quoteIfNeeded(name)}.")
      case _                                      => None
    }
  }

  /** True if the topic of the rows is known: by a column, or because the writer has one table per topic. */
  private[counting] def hasKnownTopic(columns: OffsetColumns): Boolean =
    columns.topic.nonEmpty || columns.offset.startsWith(s"$OfOneTopic.")

  private def in(columns: Seq[StructField], prefix: String): Option[OffsetColumns] = {
    def has(name: String, fits: CountedField => Boolean) = CountedField.find(columns, prefix + name).exists(fits)
    Option.when(has("partition", _.isWhole) && has("offset", _.isWhole)) {
      OffsetColumns(
        Option.when(has("topic", _.isText))(s"${prefix}topic"),
        s"${prefix}partition",
        s"${prefix}offset"
      )
    }
  }
}
