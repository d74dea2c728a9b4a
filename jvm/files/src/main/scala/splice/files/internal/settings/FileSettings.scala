// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.settings

import org.apache.spark.sql.catalyst.FileSourceOptions
import org.apache.spark.sql.catalyst.util.{CaseInsensitiveMap, DropMalformedMode, ParseMode}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

import splice.files.internal.access.PathUsers
import splice.files.internal.options._
import splice.source.Limits
import splice.source.internal.Secrets
import splice.source.options.SourceOptions.fold
import splice.source.options.{CommonOptions, FailOrWarn, SourceOptions}

/** Parsed options of one file source.
  *
  * @param spark
  *   options for Spark's listing and reader. The case of keys is kept for the Hadoop configuration
  * @param prefix
  *   option prefix of the leg, such as `history.`
  */
final private[splice] case class FileSettings(
    kind: FileKind,
    paths: Seq[String],
    schema: Option[StructType],
    limits: Limits.Limited,
    maxPartitionBytes: Option[Long],
    order: FileOrder,
    onFileChanged: FailOrWarn,
    onEmpty: FailOrWarn,
    recursive: Boolean,
    spark: CaseInsensitiveMap[String],
    prefix: String,
    watch: Option[WatchSettings] = None
) {

  /** Name of an option in errors, with the prefix of its leg. */
  def name(key: String): String = prefix + key

  /** Options of the format that a list stores. */
  def reader: ReaderOptions = ReaderOptions.of(spark.originalMap)

  /** Redacted paths for logs and errors. */
  def shownPaths: Seq[String] = paths.map(Secrets.redact(FileOptions.Path.key, _))

  /** Users and passwords in the paths. */
  lazy val users: PathUsers = PathUsers.of(paths)

  def basePath: Option[String] = spark.get(FileOptions.BasePath.key)

  /** Spark's options `ignoreMissingFiles` and `ignoreCorruptFiles`. Default: the session settings of the same names. */
  def tolerance: FileSourceOptions = new FileSourceOptions(spark)

  /** True if Spark skips rows or the rest of a file that it cannot read. Which rows these are depends on the columns. */
  def skipsRows: Boolean =
    tolerance.ignoreCorruptFiles || spark.get("mode").map(ParseMode.fromString).contains(DropMalformedMode)

  /** The settings that skip missing or unreadable files, or that read changed files, and the change that each needs. */
  def skips: Seq[(String, String)] = {
    val ignored = Seq(
      (tolerance.ignoreMissingFiles, FileSourceOptions.IGNORE_MISSING_FILES, SQLConf.IGNORE_MISSING_FILES),
      (tolerance.ignoreCorruptFiles, FileSourceOptions.IGNORE_CORRUPT_FILES, SQLConf.IGNORE_CORRUPT_FILES)
    ).collect { case (true, option, session) =>
      s"'${if (spark.contains(option)) name(option) else session.key}' = 'true'" -> s"'${name(option)}' to 'false'"
    }
    val changed = name(FileOptions.ChangedFile.key)
    ignored ++ Option.when(onFileChanged == FailOrWarn.Warn)(s"'$changed' = 'warn'" -> s"'$changed' to 'fail'")
  }
}

private[splice] object FileSettings {

  /** @throws splice.source.errors.SpliceOptionException if an option is missing, invalid or not supported */
  def apply(options: SourceOptions): FileSettings = {
    StreamOptions.reject(options)
    val common   = CommonOptions.set.options.map(o => fold(o.key)).toSet
    val forSpark = options.toMap.filter { case (k, _) =>
      FileOptions.isForSpark(k) && !common(fold(k))
    }
    FileSettings(
      options(FileOptions.Format),
      FilePaths.of(options),
      options.find(FileOptions.Schema),
      Limits.Limited(
        files = options.find(FileOptions.MaxFilesPerTrigger),
        bytes = options.find(FileOptions.MaxBytesPerTrigger)
      ),
      options.find(FileOptions.MaxPartitionBytes),
      options(FileOptions.OrderBy),
      options(FileOptions.ChangedFile),
      options.find(FileOptions.Empty).getOrElse(FailOrWarn.Warn),
      options(FileOptions.RecursiveFileLookup),
      CaseInsensitiveMap(forSpark),
      options.name(""),
      WatchSettings(options)
    )
  }
}
