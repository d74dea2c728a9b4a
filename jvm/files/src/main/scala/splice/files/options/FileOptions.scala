// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.options

import java.util.Locale

import org.apache.spark.sql.types.StructType

import splice.source.{EditDistance, OptionSet, OptionType, SourceOption}

/** Options of the file source. All other keys are options of the file format and are passed to Spark's reader
  * unchanged.
  */
object FileOptions {

  val Format: SourceOption[FileKind] =
    SourceOption("format", OptionType.choice(FileKind.all.map(k => k.name -> k): _*), "the format of the files")

  val Path: SourceOption[String] = SourceOption(
    "path",
    FilePaths.One,
    "the folder, file or pattern (such as /lake/2026-*) to read; files whose name begins with _ or . are skipped, " +
      "folders named column=value give columns"
  )

  val Paths: SourceOption[Seq[String]] =
    SourceOption("paths", FilePaths.Several, "several folders, files or patterns to read, instead of 'path'")

  val Schema: SourceOption[StructType] =
    SourceOption("schema", SchemaText.Kind, "the columns of the files; by default Spark infers them")

  val MaxFilesPerTrigger: SourceOption[Int] =
    SourceOption("maxFilesPerTrigger", OptionType.PositiveInt, "how many files a batch reads at most; by default all")

  val MaxBytesPerTrigger: SourceOption[Long] = SourceOption(
    "maxBytesPerTrigger",
    OptionType.Bytes,
    "the greatest number of bytes per batch, but at least one file or block; a larger file is read by several batches, " +
      "in blocks of 'maxPartitionBytes', if its format can be split; by default all"
  )

  val MaxPartitionBytes: SourceOption[Long] = SourceOption(
    "maxPartitionBytes",
    OptionType.Bytes,
    "how many bytes of files a task reads at most; fixed when the query first starts; " +
      "by default spark.sql.files.maxPartitionBytes as it is then"
  )

  val OrderBy: SourceOption[FileOrder] = SourceOption(
    "orderBy",
    OptionType.choice[FileOrder]("modificationTime" -> FileOrder.ModificationTime, "path" -> FileOrder.Path),
    "which files are read first"
  ).withDefault(FileOrder.ModificationTime, "modificationTime")

  val ChangedFile: SourceOption[OnFileChanged] = SourceOption(
    "onFileChanged",
    OptionType.choice[OnFileChanged]("fail" -> OnFileChanged.Fail, "warn" -> OnFileChanged.Warn),
    "what to do when a file's length or modification time is not what it was when it was listed; " +
      "warn reads the file as it is now, so rows may be missing or come twice"
  ).withDefault(OnFileChanged.Fail, "fail")

  val Empty: SourceOption[OnEmpty] = SourceOption(
    "onEmpty",
    OptionType.choice[OnEmpty]("fail" -> OnEmpty.Fail, "warn" -> OnEmpty.Warn),
    "policy for paths without a file to read; warn persists the empty list, and files that arrive later are not read; " +
      "by default fail for a leg that another leg follows, else warn"
  )

  val RecursiveFileLookup: SourceOption[Boolean] = SourceOption(
    "recursiveFileLookup",
    OptionType.Bool,
    "whether folders are searched at any depth; then folder names give no columns"
  ).withDefault(false, "false")

  val PathGlobFilter: SourceOption[String] =
    SourceOption("pathGlobFilter", OptionType.Text, "a pattern that the name of a file must fit, such as *.parquet")

  val ModifiedBefore: SourceOption[String] = SourceOption(
    "modifiedBefore",
    OptionType.Text,
    "only files modified before this time, such as 2026-11-01T00:00:00, in the session's time zone"
  )

  val ModifiedAfter: SourceOption[String] = SourceOption(
    "modifiedAfter",
    OptionType.Text,
    "only files modified after this time, such as 2026-11-01T00:00:00, in the session's time zone"
  )

  val BasePath: SourceOption[String] =
    SourceOption("basePath", OptionType.Text, "the folder below which folder names give columns; by default each path")

  /** Options that are also passed to Spark's listing. All other options are used by Splice only. */
  private[files] val ofListing: Seq[SourceOption[_]] =
    Seq(RecursiveFileLookup, PathGlobFilter, ModifiedBefore, ModifiedAfter, BasePath)

  private val own: Seq[SourceOption[_]] = Seq(
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

  val set: OptionSet = OptionSet("Files", own ++ ofListing, others = isFormats)

  private def ownKeys = own.map(fold)

  /** True if the option is passed to Spark's reader. */
  private[files] def isForSpark(key: String): Boolean = !ownKeys.contains(key.toLowerCase(Locale.ROOT))

  // A key that resembles an option of Splice is treated as a typing error, because a file format would ignore the key
  // silently.
  private def isFormats(key: String): Boolean = {
    val word  = key.toLowerCase(Locale.ROOT)
    val slips = if (word.length > 4) 2 else 1
    (own ++ ofListing).map(fold).forall(EditDistance(word, _) > slips)
  }

  private def fold(option: SourceOption[_]): String = option.key.toLowerCase(Locale.ROOT)
}
