// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.options

import java.time.Duration

import splice.source.options.SourceOptions.fold
import splice.source.options.{FailOrWarn, OptionSet, OptionType, SourceOption}

/** Options of the table source. All other keys are options of the format and are passed to Spark's reader unchanged. */
private[splice] object TableOptions {

  /** Greatest number of slices with bounds. */
  val MaxSlices = 10000

  val Table: SourceOption[String] = SourceOption(
    "table",
    OptionType.Text,
    "Name of a table or view in a catalog of Spark, such as 'lake.sales.orders'. Set either 'table' or 'format'."
  )

  val Format: SourceOption[String] = SourceOption(
    "format",
    OptionType.Text,
    "Format of 'spark.read' that reads the table, such as 'delta', 'iceberg' or 'jdbc'. Splice passes all options " +
      "that it does not define to the format, such as 'path', 'url' and 'dbtable'."
  )

  val Where: SourceOption[String] = SourceOption(
    "where",
    OptionType.Text,
    "SQL predicate that the rows must fulfil, such as country = 'DE'. The first start of the query fixes the predicate."
  )

  val VersionAsOf: SourceOption[String] = SourceOption(
    "versionAsOf",
    OptionType.Text,
    "Version of the table to read: a version of Delta, or a snapshot id, branch or tag of Iceberg. Default: the " +
      "current version at the first start of the query."
  )

  val TimestampAsOf: SourceOption[String] = SourceOption(
    "timestampAsOf",
    OptionType.Text,
    "Time in the time zone of the session, such as '2026-11-01 00:00:00'. Splice reads the last version of the table " +
      "that was committed at this time or before."
  )

  val NoVersion: SourceOption[FailOrWarn] = SourceOption(
    "onNoVersion",
    FailOrWarn.option,
    "Policy for a table without versions, such as a table of JDBC or a folder of Parquet files. 'fail' ends the query " +
      "with an error. 'warn' logs a warning and reads the table. A batch that is repeated after a failure may then " +
      "have other rows."
  ).withDefault(FailOrWarn.Fail, "fail")

  val SliceBy: SourceOption[String] = SourceOption(
    "sliceBy",
    OptionType.Text,
    "Column whose values divide the table into slices. A batch reads one or more whole slices, in ascending order of " +
      "the values. Default: the first partition column of the table. A table without partition columns has one slice."
  )

  val SliceEvery: SourceOption[SliceStep] = SourceOption(
    "sliceEvery",
    OptionType("a duration such as 1h or 1d, or a number greater than 0", SliceStep.parse),
    "Width of a slice in the values of 'sliceBy': a duration for dates and timestamps, a number for numbers."
  )

  val Slices: SourceOption[Int] = SourceOption(
    "slices",
    OptionType[Int](
      s"a whole number from 1 to ${TableOptions.MaxSlices}",
      _.trim.toIntOption.filter(n => n >= 1 && n <= MaxSlices)
    ),
    "Number of slices of equal width between the least and the greatest value of 'sliceBy'."
  )

  val MaxBytesPerTrigger: SourceOption[Long] = SourceOption(
    "maxBytesPerTrigger",
    OptionType.Bytes,
    "Maximum size of a batch, as Spark estimates the size of its slices. A batch has at least one slice. Default: no " +
      "limit. A leg before another leg reads at most 8g per batch."
  )

  private[tables] val ofSplice: Seq[SourceOption[_]] = Seq(
    Table,
    Format,
    Where,
    VersionAsOf,
    TimestampAsOf,
    NoVersion,
    SliceBy,
    SliceEvery,
    Slices,
    MaxBytesPerTrigger
  )

  /** Options of formats that locate a table. `dbtable` resembles the option `table`. */
  private[tables] val places = Seq("path", "dbtable", "query")

  val set: OptionSet = OptionSet(
    "Tables",
    ofSplice,
    others = key => places.contains(fold(key)) || !OptionSet.resembles(key, ofSplice)
  )
}

/** Width of a slice. */
sealed private[splice] trait SliceStep extends Product with Serializable

private[splice] object SliceStep {

  final case class OfNumber(width: BigDecimal) extends SliceStep

  final case class OfTime(width: Duration) extends SliceStep

  /** Calendar months in UTC, for tables that are partitioned by months or years. */
  final case class OfMonths(months: Int) extends SliceStep

  def parse(text: String): Option[SliceStep] =
    scala.util.Try(BigDecimal(text.trim)).toOption match {
      case Some(number) => Option.when(number > 0)(OfNumber(number))
      case None         => OptionType.Time.parse(text).filter(d => !d.isZero && !d.isNegative).map(OfTime(_))
    }
}
