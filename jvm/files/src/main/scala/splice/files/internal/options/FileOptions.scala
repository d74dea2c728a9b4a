// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.options

import org.apache.spark.sql.types.StructType

import splice.source.options.SourceOptions
import splice.source.options.{OptionSet, OptionType, SourceOption}

/** Options of the file source. All other keys are options of the file format and are passed to Spark's reader
  * unchanged.
  */
private[splice] object FileOptions {

  val Format: SourceOption[FileKind] =
    SourceOption("format", OptionType.choice(FileKind.all.map(k => k.name -> k): _*), "Format of the files.")

  val Path: SourceOption[String] = SourceOption(
    "path",
    FilePaths.One,
    "Folder, file or pattern (such as /lake/2026-*) to read. Splice skips files whose name begins with _ " +
      "or a dot. Folders named column=value add columns."
  )

  val Paths: SourceOption[Seq[String]] =
    SourceOption("paths", FilePaths.Several, "Several folders, files or patterns to read, instead of 'path'.")

  val Schema: SourceOption[StructType] =
    SourceOption("schema", SchemaText.Kind, "Columns of the files. Default: Spark infers them.")

  val MaxFilesPerTrigger: SourceOption[Int] =
    SourceOption("maxFilesPerTrigger", OptionType.PositiveInt, "Maximum number of files per batch. Default: no limit.")

  val MaxBytesPerTrigger: SourceOption[Long] = SourceOption(
    "maxBytesPerTrigger",
    OptionType.Bytes,
    "Maximum number of bytes per batch, but at least one file or block. Several batches read a larger " +
      "file in blocks of 'maxPartitionBytes', if its format can be split. Default: no limit."
  )

  val MaxPartitionBytes: SourceOption[Long] = SourceOption(
    "maxPartitionBytes",
    OptionType.Bytes,
    "Maximum number of bytes of files per task, fixed at the first start of the query. Default: the value " +
      "of spark.sql.files.maxPartitionBytes at that start."
  )

  val OrderBy: SourceOption[FileOrder] = SourceOption(
    "orderBy",
    OptionType.choice[FileOrder]("modificationTime" -> FileOrder.ModificationTime, "path" -> FileOrder.Path),
    "Order in which files are read."
  ).withDefault(FileOrder.ModificationTime, "modificationTime")

  val ChangedFile: SourceOption[OnFileChanged] = SourceOption(
    "onFileChanged",
    OptionType.choice[OnFileChanged]("fail" -> OnFileChanged.Fail, "warn" -> OnFileChanged.Warn),
    "Policy for a file whose length or modification time differs from the listed one. warn reads the " +
      "present file, so rows may be missing or duplicated."
  ).withDefault(OnFileChanged.Fail, "fail")

  val Empty: SourceOption[OnEmpty] = SourceOption(
    "onEmpty",
    OptionType.choice[OnEmpty]("fail" -> OnEmpty.Fail, "warn" -> OnEmpty.Warn),
    "Policy for paths without a file to read. warn persists the empty list, and files that arrive later " +
      "are not read. Default: fail for a leg that another leg follows, otherwise warn."
  )

  val RecursiveFileLookup: SourceOption[Boolean] = SourceOption(
    "recursiveFileLookup",
    OptionType.Bool,
    "If true, Splice lists folders at any depth, and folder names add no columns."
  ).withDefault(false, "false")

  val PathGlobFilter: SourceOption[String] =
    SourceOption("pathGlobFilter", OptionType.Text, "Pattern that file names must match, such as *.parquet.")

  val ModifiedBefore: SourceOption[String] = SourceOption(
    "modifiedBefore",
    OptionType.Text,
    "Time in the session's time zone, such as 2026-11-01T00:00:00. Splice reads only files modified " +
      "before it."
  )

  val ModifiedAfter: SourceOption[String] = SourceOption(
    "modifiedAfter",
    OptionType.Text,
    "Time in the session's time zone, such as 2026-11-01T00:00:00. Splice reads only files modified after " +
      "it."
  )

  val BasePath: SourceOption[String] =
    SourceOption("basePath", OptionType.Text, "Folder below which folder names add columns. Default: each path.")

  /** Options that are also passed to Spark's listing. All other options are used by Splice only. */
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
    Empty
  )

  val set: OptionSet = OptionSet("Files", ofSplice ++ ofListing, others = isFormats)

  private def keys = ofSplice.map(fold)

  /** True if the option is passed to Spark's reader. */
  private[files] def isForSpark(key: String): Boolean = !keys.contains(SourceOptions.fold(key))

  // A key that resembles an option of Splice is treated as a typing error, because a file format would ignore the key
  // silently.
  private def isFormats(key: String): Boolean = {
    val word  = SourceOptions.fold(key)
    val slips = if (word.length > 4) 2 else 1
    (ofSplice ++ ofListing).map(_.key).forall(OptionSet.distance(word, _) > slips)
  }

  private def fold(option: SourceOption[_]): String = SourceOptions.fold(option.key)
}
