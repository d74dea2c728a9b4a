// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.errors

import java.time.Instant

import org.apache.spark.sql.execution.datasources.SchemaColumnConvertNotSupportedException
import org.apache.spark.sql.internal.SQLConf

import splice.files.internal.access.Causes
import splice.files.internal.options.{FileOptions, WatchOptions}
import splice.source.errors.{SpliceError, SpliceException, SpliceOptionException}
import splice.source.internal.{ErrorConditions, Secrets}
import splice.source.options.CommonOptions

/** Factory of all errors of the file source. */
private[splice] object FileErrors {

  /** Condition of [[pathNotFound]]. A hybrid source continues without the folder after the end of its file leg. */
  val PathNotFound = "SPLICE_FILES.PATH_NOT_FOUND"

  private val conditions = new ErrorConditions("splice/files/error-conditions.json")

  /** Error for a missing folder or file, or a pattern without a match. */
  def pathNotFound(path: String): SpliceException = conditions.error(PathNotFound, "path" -> shown(path))

  /** Error for a path whose scheme has no file system, or whose host is unknown. */
  def noFileSystem(path: String, cause: Throwable): SpliceException =
    conditions.error("SPLICE_FILES.FILE_SYSTEM_NOT_FOUND", cause, "path" -> shown(path))

  def noSchema(format: String, paths: Seq[String]): SpliceException =
    conditions.error("SPLICE_FILES.SCHEMA_NOT_FOUND", "format" -> format, "paths" -> shown(paths))

  /** Error for columns with equal names in this session. */
  def duplicateColumn(columns: Seq[String], paths: Seq[String], schemaOption: String): SpliceException =
    conditions.error(
      "SPLICE_FILES_OPTION.DUPLICATE_COLUMN",
      "columns" -> columns.mkString(", "),
      "paths"   -> shown(paths),
      "setting" -> SQLConf.CASE_SENSITIVE.key,
      "schema"  -> schemaOption
    )

  /** @param name the name of an option with the prefix of its leg */
  def noFiles(paths: Seq[String], name: String => String): SpliceException =
    conditions.error(
      "SPLICE_FILES.NO_FILES",
      "paths"               -> shown(paths),
      "onEmpty"             -> name(FileOptions.Empty.key),
      "recursiveFileLookup" -> name(FileOptions.RecursiveFileLookup.key),
      "pathGlobFilter"      -> name(FileOptions.PathGlobFilter.key),
      "modifiedBefore"      -> name(FileOptions.ModifiedBefore.key),
      "modifiedAfter"       -> name(FileOptions.ModifiedAfter.key)
    )

  /** Error for a column that differs from the list.
    *
    * @param listed
    *   columns of the list, as DDL
    */
  def columnChanged(
      column: String,
      previous: String,
      current: String,
      paths: Seq[String],
      schemaOption: String,
      listed: String
  ): SpliceException = conditions.error(
    "SPLICE_FILES_DATA.COLUMN_CHANGED",
    "column"   -> column,
    "previous" -> previous,
    "current"  -> current,
    "paths"    -> shown(paths),
    "schema"   -> schemaOption,
    "columns"  -> listed
  )

  /** Error for an option of Spark's file stream that Splice does not support.
    *
    * @param option
    *   name of the option with the prefix of its leg
    */
  def optionNotSupported(option: String, remedy: String): SpliceOptionException =
    conditions.option("SPLICE_FILES_OPTION.OPTION_NOT_SUPPORTED", "option" -> option, "remedy" -> remedy)

  /** @param option the name of an option with the prefix of its leg */
  def readerOptionChanged(option: String, previous: Option[String], current: Option[String]): SpliceException = {
    def text(value: Option[String]) = value.fold("not set")(v => s"'$v'")
    conditions.error(
      "SPLICE_FILES_OPTION.READER_OPTION_CHANGED",
      "option"   -> option,
      "previous" -> text(previous),
      "current"  -> text(current),
      "remedy"   -> previous.fold(s"Remove '$option'")(value => s"Set '$option' to '$value'")
    )
  }

  /** Error for a column that cannot order files by its times.
    *
    * @param option
    *   name of the option with the prefix of its leg
    */
  def notATime(option: String, column: String, problem: String, format: String): SpliceException = conditions.error(
    "SPLICE_FILES_OPTION.TIME_COLUMN_NOT_SUPPORTED",
    "option"  -> option,
    "column"  -> column,
    "problem" -> problem,
    "format"  -> format
  )

  /** Error for a file without the least and the greatest value of a column. */
  def noTimes(option: String, column: String, problem: String): SpliceException = conditions.error(
    "SPLICE_FILES_OPTION.STATISTICS_NOT_FOUND",
    "option"  -> option,
    "column"  -> column,
    "problem" -> problem
  )

  /** Error for a listed file that is missing when a task opens it. */
  def fileNotFound(file: String, cause: Throwable): SpliceException =
    conditions.error("SPLICE_FILES.FILE_NOT_FOUND", cause, "file" -> file)

  /** Error for a listed file that a task cannot read.
    *
    * @param canSkip
    *   true if `ignoreCorruptFiles` applies to the cause
    */
  def fileNotReadable(file: String, cause: Throwable, canSkip: Boolean): SpliceException = conditions.error(
    "SPLICE_FILES_DATA.FILE_NOT_READABLE",
    cause,
    "file"   -> file,
    "remedy" -> ofType(cause).getOrElse(
      if (canSkip) "set 'ignoreCorruptFiles' to 'true' to continue without the remaining rows of the file"
      else "delete the file and set 'ignoreMissingFiles' to 'true' to continue without the rows of the file"
    ),
    "reason" -> SpliceError.text(cause)
  )

  private def ofType(cause: Throwable): Option[String] = Causes.of(cause).collectFirst {
    case e: SchemaColumnConvertNotSupportedException =>
      s"restart with an option 'schema' in which the column ${e.getColumn} has the type of this file, if the type is " +
        s"wider: the file has ${e.getPhysicalType}, and the list has ${e.getLogicalType}"
  }

  /** @param property changed property: length or modification time */
  def fileChanged(file: String, property: String, listed: String, current: String): SpliceException =
    conditions.error("SPLICE_FILES_DATA.FILE_CHANGED", changed(file, property, listed, current): _*)

  /** Message of [[fileChanged]], for the policy `warn`. */
  def fileChangedText(file: String, property: String, listed: String, current: String): String =
    conditions.text("SPLICE_FILES_DATA.FILE_CHANGED", changed(file, property, listed, current))

  /** Error for a read file whose length or time differs in a later listing.
    *
    * @param name
    *   the name of an option with the prefix of its leg
    */
  def listedFileChanged(file: String, previous: String, current: String, name: String => String): SpliceException =
    conditions.error(
      "SPLICE_FILES_DATA.LISTED_FILE_CHANGED",
      "file"          -> shown(file),
      "previous"      -> previous,
      "current"       -> current,
      "minFileAge"    -> name(WatchOptions.MinFileAge.key),
      "onFileChanged" -> name(FileOptions.ChangedFile.key)
    )

  /** Error for files of a watched folder that are older than forgotten files.
    *
    * @param most
    *   number of files that Splice knows at least
    */
  def lateFiles(files: Long, limit: Instant, most: Int, name: String => String): SpliceException = conditions.error(
    "SPLICE_FILES_DATA.LATE_FILES",
    "files"           -> files.toString,
    "limit"           -> limit.toString,
    "limitOfFiles"    -> most.toString,
    "lateFileHorizon" -> name(WatchOptions.LateFileHorizon.key),
    "onLateFile"      -> name(WatchOptions.LateFile.key)
  )

  /** Error for a folder whose name has no values for the partition columns of the list. */
  def invalidPartition(folder: String, reason: String, cause: Option[Throwable] = None): SpliceException = {
    val parameters = Seq("folder" -> shown(folder), "reason" -> reason)
    cause.fold(conditions.error("SPLICE_FILES_DATA.INVALID_PARTITION", parameters: _*))(
      conditions.error("SPLICE_FILES_DATA.INVALID_PARTITION", _, parameters: _*)
    )
  }

  /** Error for a folder that cannot be listed. */
  def listingFailed(folder: String, reason: String, cause: Throwable): SpliceException =
    conditions.error("SPLICE_FILES.LISTING_FAILED", cause, "folder" -> shown(folder), "reason" -> reason)

  /** Error for a hand-over by counts after segments were merged. */
  def filesMerged(files: Int): SpliceException =
    conditions.error("SPLICE_FILES.FILES_MERGED", "files" -> files.toString)

  /** Error for listings that have failed since a time. */
  def listingsFailed(since: Instant, cause: Throwable, timeoutOption: String): SpliceException = conditions.error(
    "SPLICE_FILES.LISTINGS_FAILED",
    cause,
    "since"            -> since.toString,
    "discoveryTimeout" -> timeoutOption,
    "reason"           -> SpliceError.text(cause)
  )

  /** Error for `discovery` if it differs from the first start. */
  def discoveryChanged(wasWatched: Boolean, option: String): SpliceOptionException = {
    val (before, now) = if (wasWatched) ("watch", "list") else ("list", "watch")
    conditions.option(
      "SPLICE_FILES_OPTION.DISCOVERY_CHANGED",
      "option"   -> option,
      "previous" -> before,
      "current"  -> now
    )
  }

  /** Error for a `path` within the folder `table` of a table format. */
  def tableFormat(path: String, format: String, table: String, optionName: String => String): SpliceException =
    conditions.error(
      "SPLICE_FILES_OPTION.TABLE_FORMAT_NOT_SUPPORTED",
      "path"     -> shown(path),
      "format"   -> format,
      "table"    -> shown(table),
      "source"   -> optionName(CommonOptions.Source.key),
      "basePath" -> optionName(FileOptions.BasePath.key)
    )

  /** Error for an invalid entry of the log of a sink. */
  def sinkLogInvalid(entry: String, folder: String, reason: String): SpliceException =
    conditions.error(
      "SPLICE_FILES_DATA.INVALID_SINK_LOG",
      "entry"   -> shown(entry),
      "folder"  -> shown(folder),
      "reason"  -> reason,
      "setting" -> sinkLogIgnored
    )

  def sinkLogMoved(folder: String, file: String): SpliceException =
    conditions.error(
      "SPLICE_FILES_DATA.SINK_FOLDER_MOVED",
      "folder"  -> shown(folder),
      "file"    -> shown(file),
      "setting" -> sinkLogIgnored
    )

  private def sinkLogIgnored: String = SQLConf.FILESTREAM_SINK_METADATA_IGNORED.key

  private def changed(file: String, property: String, listed: String, current: String): Seq[(String, String)] =
    Seq("file" -> file, "property" -> property, "previous" -> listed, "current" -> current)

  private def shown(paths: Seq[String]): String = paths.map(shown).mkString(", ")

  // A path in the options may contain a user and a password.
  private def shown(path: String): String = Secrets.redact(FileOptions.Path.key, path)
}
