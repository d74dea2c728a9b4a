// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.options

import org.apache.spark.sql.catalyst.FileSourceOptions
import org.apache.spark.sql.types.StructType

import splice.source.options.{FailOrWarn, OptionSet, OptionType, SourceOption, SourceOptions}

/** Options of the file source. All other keys are options of the file format and are passed to Spark's reader
  * unchanged.
  */
private[splice] object FileOptions {

  private val NoLimit = "Default: no limit. A leg before another leg reads at most 8g per batch, unless " +
    "'maxFilesPerTrigger' or 'maxBytesPerTrigger' is set."

  val Format: SourceOption[FileKind] =
    SourceOption("format", OptionType.choice(FileKind.all.map(k => k.name -> k): _*), "Format of the files.")

  val Path: SourceOption[String] = SourceOption(
    "path",
    FilePaths.One,
    "Folder, file or pattern to read, such as '/lake/2026-*'. Splice skips files and folders whose names " +
      "begin with '_' or a dot. Folders named 'column=value' add columns to the rows."
  )

  val Paths: SourceOption[Seq[String]] = SourceOption(
    "paths",
    FilePaths.Several,
    "Several folders, files or patterns to read. Set either 'path' or 'paths'."
  )

  val Schema: SourceOption[StructType] = SourceOption(
    "schema",
    SchemaText.Kind,
    "Columns of the files. Default: the columns that Spark infers from the files."
  )

  val MaxFilesPerTrigger: SourceOption[Int] =
    SourceOption(
      "maxFilesPerTrigger",
      OptionType.PositiveInt,
      s"Maximum number of files per batch. $NoLimit"
    )

  val MaxBytesPerTrigger: SourceOption[Long] = SourceOption(
    "maxBytesPerTrigger",
    OptionType.Bytes,
    "Maximum number of bytes per batch. A batch has at least one file or one block. Several batches read a " +
      "file that is larger than this limit, in blocks of 'maxPartitionBytes', if the format of the file can " +
      s"be split. $NoLimit"
  )

  val MaxPartitionBytes: SourceOption[Long] = SourceOption(
    "maxPartitionBytes",
    OptionType.Bytes,
    "Maximum number of bytes of files per task. Splice stores the value at the first start of the query, and " +
      "restarts use the stored value. Default: the value of 'spark.sql.files.maxPartitionBytes' at the first " +
      "start."
  )

  val OrderBy: SourceOption[FileOrder] = SourceOption(
    "orderBy",
    OptionType[FileOrder]("modificationTime, path, or eventTime:<column>", FileOrder.parse),
    "Order in which Splice reads the files. 'modificationTime' reads the oldest file first. 'path' reads the " +
      "files in the order of their paths. 'eventTime:<column>' reads the files in the order that needs the least " +
      "delay of a watermark on a date or timestamp column. The column has statistics in each Parquet or ORC file, " +
      "or is a partition column."
  ).withDefault(FileOrder.ModificationTime, "modificationTime")

  val ChangedFile: SourceOption[FailOrWarn] = SourceOption(
    "onFileChanged",
    FailOrWarn.option,
    "Policy for a file whose length or modification time differs from the list of files. 'fail' ends the " +
      "query with an error. 'warn' logs a warning and reads the current file. Rows of this file may then be " +
      "missing or duplicated. A listing of a watched folder also compares the files that were read; 'warn' does not " +
      "read such a file again."
  ).withDefault(FailOrWarn.Fail, "fail")

  val Empty: SourceOption[FailOrWarn] = SourceOption(
    "onEmpty",
    FailOrWarn.option,
    "Policy for paths without a file to read. 'fail' ends the query, and a restart of the query lists the " +
      "files again. 'warn' logs a warning and stores the empty list. Splice then does not read files that " +
      "arrive later. With 'discovery' = 'watch' and a schema, 'warn' waits for files. Default: 'fail' for a leg that another leg follows, otherwise 'warn'."
  )

  val RecursiveFileLookup: SourceOption[Boolean] = SourceOption(
    "recursiveFileLookup",
    OptionType.Bool,
    "If 'true', Splice lists folders at any depth. Folder names then add no columns to the rows."
  ).withDefault(false, "false")

  val PathGlobFilter: SourceOption[String] =
    SourceOption("pathGlobFilter", OptionType.Text, "Pattern that file names must match, such as '*.parquet'.")

  private val ModificationTime = OptionType[String]("a time such as 2026-11-01T00:00:00", Some(_))

  val ModifiedBefore: SourceOption[String] = SourceOption(
    "modifiedBefore",
    ModificationTime,
    "Time in the time zone of the session, such as '2026-11-01T00:00:00'. Splice reads only files that were " +
      "modified before this time."
  )

  val ModifiedAfter: SourceOption[String] = SourceOption(
    "modifiedAfter",
    ModificationTime,
    "Time in the time zone of the session, such as '2026-11-01T00:00:00'. Splice reads only files that were " +
      "modified after this time."
  )

  val BasePath: SourceOption[String] = SourceOption(
    "basePath",
    OptionType.Text,
    "Folder below which folder names add columns to the rows. Default: each path in 'path' or 'paths'."
  )

  /** Options of the listing. Splice also passes these options to Spark's reader. */
  private[files] val ofListing: Seq[SourceOption[_]] =
    Seq(RecursiveFileLookup, PathGlobFilter, ModifiedBefore, ModifiedAfter, BasePath)

  private val ofSplice: Seq[SourceOption[_]] = Seq(
    Format,
    Path,
    Paths,
    Schema,
    MaxFilesPerTrigger,
    MaxBytesPerTrigger,
    MaxPartitionBytes,
    OrderBy,
    ChangedFile,
    Empty,
    WatchOptions.Discovery
  ) ++ WatchOptions.needed

  val set: OptionSet = OptionSet(
    "Files",
    ofSplice ++ ofListing,
    others = isFormats,
    named = Set(FileSourceOptions.IGNORE_MISSING_FILES, FileSourceOptions.IGNORE_CORRUPT_FILES)
  )

  private def keys = ofSplice.map(fold)

  /** True if the option is passed to Spark's reader. */
  private[files] def isForSpark(key: String): Boolean = !keys.contains(SourceOptions.fold(key))

  private def isFormats(key: String): Boolean = !OptionSet.resembles(key, ofSplice ++ ofListing)

  private def fold(option: SourceOption[_]): String = SourceOptions.fold(option.key)
}
