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
  *   topic, partition and offset, without the topic if all rows have the same; empty if no exact rule counts the leg
  */
final private[splice] case class CountedFields(offsets: Seq[CountedField], time: Option[CountedField]) {
  def all: Seq[CountedField] = offsets ++ time
}

private[splice] object CountedFields {

  private val Text: (String, CountedField => Boolean)  = ("a string", _.isText)
  private val Whole: (String, CountedField => Boolean) = ("a whole number", _.isWhole)

  private def isTime(field: CountedField): Boolean = field.value match {
    case TimestampType | TimestampNTZType | DateType => true
    case _                                           => false
  }

  /** Finds the columns by name, with the case sensitivity of the session.
    *
    * @throws splice.source.errors.SpliceException
    *   if a column does not exist or has an unsupported type
    */
  def of(chain: Chain, leg: Leg, columns: CountedColumns): CountedFields = {
    val offsets = for {
      names                <- columns.offsets.toSeq.map(_.offsets)
      (by, _)              <- chain.counting(leg).toSeq
      (name, role, option) <- names.topic.map((_, "topic", HandOverOptions.Topic)).toSeq :+
        ((names.partition, "partition", HandOverOptions.Partition)) :+
        ((names.offset, "offset", HandOverOptions.Offset))
      (expected, fits) = if (role == "topic") Text else Whole
    } yield find(leg, Wanted(name, role, by, () => ofLog(leg, by, option), expected, fits))
    val time = for {
      name <- columns.time
      by   <- chain.after(leg)
      hasZone = by.handOver.exists(_.timeZone.nonEmpty)
      remedy  = s"Set '${by.name}.${HandOverOptions.Column.key}' to another column of leg '${leg.name}'" +
        (if (hasZone) "" else s", or '${by.name}.${HandOverOptions.Zone.key}' to the time zone of the column")
    } yield find(
      leg,
      if (hasZone) Wanted(name, "event time", by, () => remedy, "a timestamp or a date", isTime)
      else Wanted(name, "event time", by, () => remedy, "a timestamp with a time zone", _.value == TimestampType)
    )
    CountedFields(offsets, time)
  }

  /** @param role use of the column by the rule of `by` */
  final private case class Wanted(
      name: String,
      role: String,
      by: Leg,
      remedy: () => String,
      expected: String,
      fits: CountedField => Boolean
  )

  /** Remedy for a missing or mistyped column of log records. */
  private def ofLog(leg: Leg, by: Leg, option: SourceOption[String]): String = {
    val setting = s"'${leg.name}.${LogColumnsOption.Columns.key}'"
    if (leg.logColumns.nonEmpty) s"Correct $setting, or use 'none' to exclude leg '${leg.name}' from the hand-over"
    else
      s"Set $setting to the columns of leg '${leg.name}', or to 'none' to exclude leg '${leg.name}' from the hand-over, or set " +
        s"'${by.name}.${option.key}' for all legs without separate columns" + WriterColumns.ofOneTopic(leg).fold("") {
          columns =>
            s". If all rows belong to the only topic of leg '${by.name}', set $setting to ${LogColumnsOption.text(columns)}"
        }
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
        column.remedy()
      )
    }
    if (!column.fits(field))
      throw HandOverErrors.columnType(
        leg,
        column.by.name,
        column.name,
        column.role,
        field.value.sql,
        column.expected,
        column.remedy()
      )
    field
  }
}
