// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.errors

import org.apache.spark.sql.internal.SQLConf

import splice.files.internal.options.FileOptions
import splice.source.errors.{SpliceException, SpliceOptionException}
import splice.source.internal.{ErrorConditions, Secrets}

/** Errors of the file source; nothing else in this module makes them. */
private[splice] object FilesErrors {

  /** The condition of [[pathNotFound]]: a hybrid whose file leg has ended goes on without the folder. */
  val PathNotFound = "SPLICE_FILES.PATH_NOT_FOUND"

  private val conditions = new ErrorConditions("splice/files/error-conditions.json")

  /** A folder, a file, or a pattern that fits nothing. */
  def pathNotFound(path: String): SpliceException = conditions.error(PathNotFound, "path" -> shown(path))

  /** A path whose scheme no file system knows. */
  def noFileSystem(path: String, cause: Throwable): SpliceException =
    conditions.error("SPLICE_FILES.FILE_SYSTEM_NOT_FOUND", cause, "path" -> shown(path))

  def noSchema(format: String, paths: Seq[String]): SpliceException =
    conditions.error("SPLICE_FILES.SCHEMA_NOT_FOUND", "format" -> format, "paths" -> shown(paths))

  /** Columns that are one in this session. */
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
      "paths"     -> shown(paths),
      "onEmpty"   -> name(FileOptions.Empty.key),
      "recursive" -> name(FileOptions.RecursiveFileLookup.key),
      "glob"      -> name(FileOptions.PathGlobFilter.key),
      "before"    -> name(FileOptions.ModifiedBefore.key),
      "after"     -> name(FileOptions.ModifiedAfter.key)
    )

  /** A column that is not as a list has it.
    *
    * @param listed
    *   the columns of the list, in SQL
    */
  def columnChanged(
      column: String,
      before: String,
      now: String,
      paths: Seq[String],
      schemaOption: String,
      listed: String
  ): SpliceException = conditions.error(
    "SPLICE_FILES_DATA.COLUMN_CHANGED",
    "column" -> column,
    "before" -> before,
    "now"    -> now,
    "paths"  -> shown(paths),
    "schema" -> schemaOption,
    "listed" -> listed
  )

  /** An option of Spark's stream of files.
    *
    * @param option
    *   its name with the prefix of its leg
    */
  def optionNotSupported(option: String, remedy: String): SpliceOptionException =
    conditions.option("SPLICE_FILES_OPTION.OPTION_NOT_SUPPORTED", "option" -> option, "remedy" -> remedy)

  /** @param option the name of an option with the prefix of its leg */
  def readerOptionChanged(option: String, before: Option[String], now: Option[String]): SpliceException = {
    def text(value: Option[String]) = value.fold("not set")(v => s"'$v'")
    conditions.error(
      "SPLICE_FILES_OPTION.READER_OPTION_CHANGED",
      "option" -> option,
      "before" -> text(before),
      "now"    -> text(now),
      "remedy" -> before.fold(s"Remove '$option'")(value => s"Set '$option' to '$value'")
    )
  }

  def startNotSupported(start: String): SpliceException =
    conditions.error("SPLICE_FILES_OPTION.START_NOT_SUPPORTED", "start" -> start)

  /** A listed file that is not there when a task opens it. */
  def fileNotFound(file: String, cause: Throwable): SpliceException =
    conditions.error("SPLICE_FILES.FILE_NOT_FOUND", cause, "file" -> file)

  /** @param what the length or the modification time */
  def fileChanged(file: String, what: String, listed: String, found: String): SpliceException =
    conditions.error("SPLICE_FILES_DATA.FILE_CHANGED", changed(file, what, listed, found): _*)

  /** The text of [[fileChanged]], for the policy that only warns. */
  def fileChangedText(file: String, what: String, listed: String, found: String): String =
    conditions.text("SPLICE_FILES_DATA.FILE_CHANGED", changed(file, what, listed, found))

  /** A folder of a table format at `table` in which `path` is. */
  def tableFormat(path: String, format: String, table: String, basePathOption: String): SpliceException =
    conditions.error(
      "SPLICE_FILES_OPTION.TABLE_FORMAT_NOT_SUPPORTED",
      "path"     -> shown(path),
      "format"   -> format,
      "table"    -> shown(table),
      "basePath" -> basePathOption
    )

  /** An entry of a sink's log from which the committed files cannot be read. */
  def sinkLogInvalid(entry: String, folder: String, why: String): SpliceException =
    conditions.error(
      "SPLICE_FILES_DATA.INVALID_SINK_LOG",
      "entry"   -> shown(entry),
      "folder"  -> shown(folder),
      "why"     -> why,
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

  private def changed(file: String, what: String, listed: String, found: String): Seq[(String, String)] =
    Seq("file" -> file, "what" -> what, "listed" -> listed, "found" -> found)

  private def shown(paths: Seq[String]): String = paths.map(shown).mkString(", ")

  // A path of the options may have a user and a password.
  private def shown(path: String): String = Secrets.redact(FileOptions.Path.key, path)
}
