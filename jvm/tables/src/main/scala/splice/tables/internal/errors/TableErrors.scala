// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.errors

import java.io.FileNotFoundException

import org.apache.spark.SparkThrowable

import splice.source.errors.{SpliceException, SpliceOptionException}
import splice.source.internal.{ErrorConditions, Secrets}
import splice.tables.internal.options.{TableOptions, TableSettings}

/** Factory of all errors of the table source. */
private[splice] object TableErrors {

  private val conditions = new ErrorConditions("splice/tables/error-conditions.json")

  /** Error for a table that Spark cannot read. Its cause decides the condition. */
  def notReadable(settings: TableSettings, version: Option[(String, String)], cause: Throwable): Throwable = {
    val table                   = "table"  -> settings.shown
    val option                  = "option" -> place(settings)
    val all                     = causes(cause)
    val text                    = all.flatMap(e => Option(e.getMessage)).mkString("\n")
    def is(conditions: String*) = all.exists {
      case e: SparkThrowable => conditions.exists(Option(e.getCondition).getOrElse("").startsWith(_))
      case _                 => false
    }
    // Without the extension of Delta, Spark reads DESCRIBE HISTORY as a description of a column of a table HISTORY.
    if (
      is("DELTA_CONFIGURE_SPARK_SESSION_WITH_EXTENSION_AND_CATALOG") ||
      is("TABLE_OR_VIEW_NOT_FOUND") && text.contains("`HISTORY`")
    )
      conditions.error("SPLICE_TABLE.EXTENSION_NOT_FOUND", cause, table)
    else if (
      is("TABLE_OR_VIEW_NOT_FOUND", "PATH_NOT_FOUND", "DELTA_TABLE_NOT_FOUND", "DELTA_PATH_DOES_NOT_EXIST") ||
      text.contains("is not a Delta table") || text.contains("Table does not exist")
    )
      conditions.error("SPLICE_TABLE.TABLE_NOT_FOUND", cause, table, option)
    else if (is("DATA_SOURCE_NOT_FOUND"))
      conditions.error("SPLICE_TABLE.FORMAT_NOT_FOUND", cause, table, option)
    else if (text.contains("No suitable driver"))
      conditions.error("SPLICE_TABLE.DRIVER_NOT_FOUND", cause, table, "driver" -> settings.name("driver"))
    else if (version.nonEmpty && is("UNSUPPORTED_FEATURE.TIME_TRAVEL"))
      versionNotSupported(version.fold("")(v => settings.name(v._1)), format(settings))
    else if (version.nonEmpty && (is(missingVersion: _*) || missingSnapshot.exists(text.contains(_))))
      conditions.error(
        "SPLICE_TABLE.VERSION_NOT_FOUND",
        cause,
        table,
        "version" -> version.fold("")(_._2),
        "option"  -> settings.name(version.fold(TableOptions.VersionAsOf.key)(_._1))
      )
    else conditions.error("SPLICE_TABLE.TABLE_NOT_READABLE", cause, table, option, "reason" -> reason(cause))
  }

  def versionNotFound(settings: TableSettings): SpliceException = conditions.error(
    "SPLICE_TABLE.VERSION_NOT_FOUND",
    "table"   -> settings.shown,
    "version" -> settings.requested.fold("the current version")(_._2),
    "option"  -> settings.name(settings.requested.fold(TableOptions.VersionAsOf.key)(_._1))
  )

  /** Error for a file of the version that was deleted, for example by a clean-up of old versions. */
  def fileNotFound(table: String, cause: Throwable): SpliceException =
    conditions.error("SPLICE_TABLE.FILE_NOT_FOUND", cause, "table" -> table, "reason" -> reason(cause))

  def isMissingFile(e: Throwable): Boolean = causes(e).exists(_.isInstanceOf[FileNotFoundException])

  /** Error and warning for a table without versions. */
  def noVersions(settings: TableSettings, format: String): SpliceException = conditions.error(
    "SPLICE_TABLE.NO_VERSIONS",
    "table"  -> settings.shown,
    "format" -> format,
    "option" -> settings.name(TableOptions.NoVersion.key)
  )

  def planNotSupported(settings: TableSettings, found: String): SpliceException =
    conditions.error("SPLICE_TABLE.PLAN_NOT_SUPPORTED", "table" -> settings.shown, "found" -> found)

  def columnChanged(settings: TableSettings, column: String, previous: String, current: String): SpliceException =
    conditions.error(
      "SPLICE_TABLE.COLUMN_CHANGED",
      "table"    -> settings.shown,
      "column"   -> column,
      "previous" -> previous,
      "current"  -> current,
      "option"   -> settings.name(TableOptions.VersionAsOf.key)
    )

  def versionChanged(settings: TableSettings, option: String, value: String, id: String): SpliceOptionException =
    conditions.option(
      "SPLICE_TABLE_OPTION.VERSION_CHANGED",
      "option"      -> settings.name(option),
      "value"       -> value,
      "version"     -> id,
      "versionAsOf" -> settings.name(TableOptions.VersionAsOf.key)
    )

  def versionNotSupported(option: String, format: String): SpliceOptionException =
    conditions.option("SPLICE_TABLE_OPTION.VERSION_NOT_SUPPORTED", "option" -> option, "format" -> format)

  def invalidWhere(option: String, predicate: String, found: String, cause: Throwable): SpliceException =
    conditions.error(
      "SPLICE_TABLE_OPTION.INVALID_WHERE",
      cause,
      "option"    -> option,
      "predicate" -> predicate,
      "reason"    -> found
    )

  def columnNotFound(settings: TableSettings, column: String, columns: Seq[String]): SpliceOptionException =
    conditions.option(
      "SPLICE_TABLE_OPTION.COLUMN_NOT_FOUND",
      "option"  -> settings.name(TableOptions.SliceBy.key),
      "column"  -> column,
      "table"   -> settings.shown,
      "columns" -> columns.mkString(", ")
    )

  /** Error for a column whose values have no order. */
  def noOrder(settings: TableSettings, column: String, kind: String): SpliceOptionException =
    sliceColumn("SPLICE_TABLE_OPTION.COLUMN_WITHOUT_ORDER", settings, column, kind)

  /** Error for a column whose values cannot be divided into slices of equal width. */
  def noScale(settings: TableSettings, column: String, kind: String): SpliceOptionException =
    sliceColumn("SPLICE_TABLE_OPTION.COLUMN_WITHOUT_SCALE", settings, column, kind)

  def invalidWidth(settings: TableSettings, column: String, kind: String): SpliceOptionException =
    sliceColumn("SPLICE_TABLE_OPTION.INVALID_WIDTH", settings, column, kind)

  def noWidth(settings: TableSettings, column: String): SpliceOptionException =
    sliceColumn("SPLICE_TABLE_OPTION.WIDTH_NOT_SET", settings, column, "")

  def tooManySlices(settings: TableSettings, column: String, most: Int): SpliceOptionException =
    sliceColumn("SPLICE_TABLE_OPTION.TOO_MANY_SLICES", settings, column, "", "limit" -> most.toString)

  private def sliceColumn(
      condition: String,
      settings: TableSettings,
      column: String,
      kind: String,
      more: (String, String)*
  ): SpliceOptionException = conditions.option(
    condition,
    Seq(
      "sliceBy"    -> settings.name(TableOptions.SliceBy.key),
      "sliceEvery" -> settings.name(TableOptions.SliceEvery.key),
      "slices"     -> settings.name(TableOptions.Slices.key),
      "column"     -> column,
      "type"       -> kind
    ) ++ more: _*
  )

  private val missingVersion =
    Seq(
      "DELTA_VERSION_NOT_FOUND",
      "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION",
      "DELTA_TIMESTAMP_GREATER_THAN_COMMIT"
    )

  // Texts of Iceberg, whose errors have no condition.
  private val missingSnapshot = Seq("Cannot find snapshot", "Cannot find a snapshot", "Cannot find matching snapshot")

  private def place(settings: TableSettings): String = settings.of match {
    case TableSettings.Named(_)  => settings.name(TableOptions.Table.key)
    case TableSettings.Format(_) => settings.name(TableOptions.Format.key)
  }

  private def format(settings: TableSettings): String = settings.of match {
    case TableSettings.Named(table) => table
    case TableSettings.Format(name) => name
  }

  private def reason(e: Throwable): String =
    Secrets.redact("reason", Option(e.getMessage).getOrElse(e.toString).linesIterator.nextOption().mkString)

  private def causes(e: Throwable): Seq[Throwable] =
    Iterator.iterate(Option(e))(_.flatMap(one => Option(one.getCause))).takeWhile(_.nonEmpty).flatten.take(20).toSeq
}
