// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files

import scala.annotation.varargs
import scala.collection.immutable.SortedMap

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.types.StructType

import splice.files.internal.enumerator.{FileEnumerator, FilesPosition, SparkStorage}
import splice.files.internal.listing.{AnalysedFiles, FileListing, RootPaths}
import splice.files.internal.options.{FileOptions, FilePaths}
import splice.files.internal.reader.FileMetadata
import splice.files.internal.session.FileFormats
import splice.files.internal.settings.FileSettings
import splice.files.internal.split.FileSchemas
import splice.source.internal.entries.Json
import splice.source.options.CommonOptions
import splice.source.runtime.Boundedness
import splice.source.{EnumeratorContext, ReadMode, Source, SplitEnumerator}

/** Source of files (parquet, orc, json, csv, text) that uses Spark's readers.
  *
  * The first start of a query lists the files and persists the list. Later starts use the persisted list, so Splice
  * does not read files that arrive later. With `discovery=watch`, Splice lists the folder again and again and reads each new
  * file once. A watched folder is unbounded, unless `endWhen` is set. A file that changed after the listing fails the
  * query (see `onFileChanged`).
  * [[splice.files.internal.options.FileOptions]] defines the options. All other options are passed to Spark's reader.
  */
final class FileSource private[files] (private[splice] val settings: FileSettings) extends Source[FilesPosition] {

  @transient private lazy val analysis = new AnalysedFiles(settings)

  override def kind: String = FileSource.Kind

  override def boundedness: Boundedness =
    if (settings.watch.forall(_.endWhen.nonEmpty)) Boundedness.Bounded else Boundedness.ContinuousUnbounded

  /** Columns of the files. The first call lists the paths and infers the columns if necessary. A watched folder with a
    * given schema is not listed.
    */
  override def schema: StructType = columns.rows

  private[splice] def columns: FileSchemas = settings.schema.filter(_ => settings.watch.nonEmpty)
    .fold(analysis.schemas)(given => FileSchemas(given.toNullable, new StructType()))

  override def metadataColumns: StructType = FileMetadata.schema

  override def identity: SortedMap[String, String] = {
    val configuration = FileFormats.configuration(SparkSession.active, settings.spark.originalMap)
    val path          = RootPaths.qualified(settings.paths, configuration) match {
      case Seq(single) => single
      case several     => Json.write(Json.array(several.map(Json.text)))
    }
    SortedMap("format" -> settings.kind.name, "path" -> path)
  }

  // The identity accesses the file system, which may be unavailable once the leg has ended.
  override def toString: String =
    s"$kind [format=${settings.kind.name}, path=${settings.shownPaths.mkString(", ")}]"

  override def position(json: String): FilesPosition = FilesPosition.read(json)

  override def enumerator(context: EnumeratorContext): SplitEnumerator[FilesPosition] =
    new FileEnumerator(new SparkStorage(this, context.session), settings.limits, context)

  override def batchLimits: Seq[String] = Seq(FileOptions.MaxFilesPerTrigger, FileOptions.MaxBytesPerTrigger).map(_.key)

  override def mayBeColumnar: Boolean = settings.kind.vectorized

  override def beginsByTime: Boolean = false

  override def schemaNeedsStorage: Boolean = true

  override private[splice] def skipsRows: Boolean = settings.skipsRows

  override private[splice] def skipSettings: Seq[(String, String)] = settings.skips

  /** Columns of this start, if the files were already listed. */
  private[files] def analysed: Option[FileSchemas] = analysis.listed

  /** Listing of the paths for a run in the given mode. */
  private[files] def listing(mode: ReadMode): FileListing = analysis.listing(mode)
}

object FileSource {

  private[files] val Kind = "files"

  /** Begins the definition of a file source.
    *
    * @param format
    *   `parquet`, `orc`, `json`, `csv` or `text`
    * @param paths
    *   folders, files or patterns
    */
  @varargs
  def builder(format: String, paths: String*): FileSourceBuilder =
    new FileSourceBuilder(Seq(CommonOptions.Source.key -> Kind, FileOptions.Format.key -> format) ++
      FilePaths.options(paths))
}
