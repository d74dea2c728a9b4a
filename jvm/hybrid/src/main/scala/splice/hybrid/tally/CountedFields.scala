// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.tally

import org.apache.spark.sql.types._

import splice.hybrid.{Chain, HandOverErrors, HandOverOptions, HybridColumns, Leg}
import splice.source.SourceOption

/** The fields of a leg's rows that its readers count.
  *
  * @param offsets
  *   topic, partition and offset; empty if no exact rule counts the leg
  */
final private[splice] case class CountedFields(offsets: Seq[StructField], time: Option[StructField]) {
  def all: Seq[StructField] = (offsets ++ time).distinctBy(_.name)
}

private[splice] object CountedFields {

  private val Text: PartialFunction[DataType, Unit]  = { case _: StringType => () }
  private val Whole: PartialFunction[DataType, Unit] = { case LongType | IntegerType | ShortType | ByteType => () }
  private val Time: PartialFunction[DataType, Unit]  = { case TimestampType | TimestampNTZType | DateType => () }

  /** The columns by their names, by the case rule of the session.
    *
    * @throws splice.source.SpliceException
    *   when a column does not exist, or is of another type
    */
  def of(chain: Chain, leg: Leg, columns: CountedColumns): CountedFields = {
    val offsets = for {
      names   <- columns.offsets.toSeq
      (by, _) <- chain.counting(leg).toSeq
      column  <- Seq(
        Wanted(names.topic, "topic", by, HandOverOptions.Topic, "a string", Text),
        Wanted(names.partition, "partition", by, HandOverOptions.Partition, "a whole number", Whole),
        Wanted(names.offset, "offset", by, HandOverOptions.Offset, "a whole number", Whole)
      )
    } yield find(leg, column)
    val time = for {
      name <- columns.time
      by   <- chain.after(leg)
    } yield find(leg, Wanted(name, "event time", by, HandOverOptions.Column, "a timestamp or a date", Time))
    CountedFields(offsets, time)
  }

  /** @param role what the rule of `by` takes the column for */
  final private case class Wanted(
      name: String,
      role: String,
      by: Leg,
      option: SourceOption[String],
      expected: String,
      fits: PartialFunction[DataType, Unit]
  ) {
    def setBy: String = s"${by.name}.${option.key}"
  }

  private def find(leg: Leg, column: Wanted): StructField = {
    val own   = leg.source.schema.fields.toSeq
    val found = (own ++ leg.source.metadataColumns).find(f => HybridColumns.same(f.name, column.name)).getOrElse {
      throw HandOverErrors.columnNotFound(leg, column.by.name, column.name, column.role, own.map(_.name), column.setBy)
    }
    val kind = found.dataType
    if (!column.fits.isDefinedAt(kind))
      throw HandOverErrors.columnType(
        leg,
        column.by.name,
        column.name,
        column.role,
        kind.sql,
        column.expected,
        column.setBy
      )
    found
  }
}
