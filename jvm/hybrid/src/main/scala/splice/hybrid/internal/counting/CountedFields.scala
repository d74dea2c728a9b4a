// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.counting

import org.apache.spark.sql.types._

import splice.hybrid.internal.chain.{Chain, Leg}
import splice.hybrid.internal.errors.HandOverErrors
import splice.hybrid.internal.options.{HandOverOptions, LogColumnsOption}
import splice.source.options.SourceOption

/** Fields of a leg that its readers count.
  *
  * @param offsets
  *   topic, partition and offset; empty if no exact rule counts the leg
  */
final private[splice] case class CountedFields(offsets: Seq[CountedField], time: Option[CountedField]) {
  def all: Seq[CountedField] = offsets ++ time
}

private[splice] object CountedFields {

  private val Text: PartialFunction[DataType, Unit]  = { case _: StringType => () }
  private val Whole: PartialFunction[DataType, Unit] = {
    case LongType | IntegerType | ShortType | ByteType | (_: DecimalType) => ()
  }
  private val Time: PartialFunction[DataType, Unit] = { case TimestampType | TimestampNTZType | DateType => () }

  /** Finds the columns by name, with the case sensitivity of the session.
    *
    * @throws splice.source.errors.SpliceException
    *   if a column does not exist or has an unsupported type
    */
  def of(chain: Chain, leg: Leg, columns: CountedColumns): CountedFields = {
    val offsets = for {
      names   <- columns.offsets.toSeq.map(_.offsets)
      (by, _) <- chain.counting(leg).toSeq
      column  <- Seq(
        Wanted(names.topic, "topic", by, ofLog(leg, by, HandOverOptions.Topic), "a string", Text),
        Wanted(names.partition, "partition", by, ofLog(leg, by, HandOverOptions.Partition), "a whole number", Whole),
        Wanted(names.offset, "offset", by, ofLog(leg, by, HandOverOptions.Offset), "a whole number", Whole)
      )
    } yield find(leg, column)
    val time = for {
      name <- columns.time
      by   <- chain.after(leg)
      hasZone = by.handOver.exists(_.timeZone.nonEmpty)
      remedy  = s"Set '${by.name}.${HandOverOptions.Column.key}' to another column of leg '${leg.name}'" +
        (if (hasZone) "" else s", or '${by.name}.${HandOverOptions.Zone.key}' to the time zone of the column")
    } yield find(
      leg,
      if (hasZone) Wanted(name, "event time", by, remedy, "a timestamp or a date", Time)
      else Wanted(name, "event time", by, remedy, "a timestamp with a time zone", { case TimestampType => () })
    )
    CountedFields(offsets, time)
  }

  /** @param role use of the column by the rule of `by` */
  final private case class Wanted(
      name: String,
      role: String,
      by: Leg,
      remedy: String,
      expected: String,
      fits: PartialFunction[DataType, Unit]
  )

  /** Remedy for a missing or mistyped column of log records. */
  private def ofLog(leg: Leg, by: Leg, option: SourceOption[String]): String = {
    val setting = s"'${leg.name}.${LogColumnsOption.Columns.key}'"
    if (leg.logColumns.nonEmpty) s"Correct $setting, or use 'none' to exclude leg '${leg.name}' from the hand-over"
    else
      s"Set $setting to the columns of leg '${leg.name}', or to 'none' to exclude leg '${leg.name}' from the hand-over, or set " +
        s"'${by.name}.${option.key}' for all legs without separate columns"
  }

  private def find(leg: Leg, column: Wanted): CountedField = {
    val fields = leg.source.schema.fields.toSeq
    val field  = CountedField.find(fields ++ leg.source.metadataColumns, column.name).getOrElse {
      throw HandOverErrors.columnNotFound(
        leg,
        column.by.name,
        column.name,
        column.role,
        fields.map(_.name),
        column.remedy
      )
    }
    val kind = field.value
    if (!column.fits.isDefinedAt(kind))
      throw HandOverErrors.columnType(
        leg,
        column.by.name,
        column.name,
        column.role,
        kind.sql,
        column.expected,
        column.remedy
      )
    field
  }
}
