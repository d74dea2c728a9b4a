// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.settings

import java.util.Locale

import org.apache.spark.sql.catalyst.FileSourceOptions
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.types.StructType

import splice.files.internal.access.PathUsers
import splice.files.internal.options._
import splice.source.Limits
import splice.source.internal.Secrets
import splice.source.options.{CommonOptions, SourceOptions}

/** The options of one file source, parsed.
  *
  * @param spark
  *   what Spark's listing and the format's reader get; a Hadoop configuration takes the keys as they were written
  * @param prefix
  *   of the leg, such as `history.`
  */
final private[splice] case class FileSettings(
    kind: FileKind,
    paths: Seq[String],
    schema: Option[StructType],
    limits: Limits.Limited,
    maxPartitionBytes: Option[Long],
    order: FileOrder,
    onFileChanged: OnFileChanged,
    onEmpty: OnEmpty,
    recursive: Boolean,
    spark: CaseInsensitiveMap[String],
    prefix: String
) {

  /** The name of an option in errors, with the prefix of its leg. */
  def name(key: String): String = prefix + key

  /** The options of the format that a list keeps. */
  def reader: ReaderOptions = ReaderOptions.of(spark.originalMap)

  /** The paths for logs and errors. */
  def shownPaths: Seq[String] = paths.map(Secrets.redact(FileOptions.Path.key, _))

  /** Users and passwords in the paths. */
  lazy val users: PathUsers = PathUsers.of(paths)

  def basePath: Option[String] = spark.get(FileOptions.BasePath.key)

  /** Spark's options `ignoreMissingFiles` and `ignoreCorruptFiles`, else the session's settings of these names. */
  def tolerance: FileSourceOptions = new FileSourceOptions(spark)
}

private[splice] object FileSettings {

  /** @throws splice.source.errors.SpliceOptionException when an option is missing, not allowed or not supported */
  def apply(options: SourceOptions): FileSettings = {
    StreamOptions.refuse(options)
    val common   = CommonOptions.set.options.map(_.key.toLowerCase(Locale.ROOT)).toSet
    val forSpark = options.toMap.filter { case (k, _) =>
      FileOptions.isForSpark(k) && !common(k.toLowerCase(Locale.ROOT))
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
      options.find(FileOptions.Empty).getOrElse(OnEmpty.Warn),
      options(FileOptions.RecursiveFileLookup),
      CaseInsensitiveMap(forSpark),
      options.name("")
    )
  }
}
