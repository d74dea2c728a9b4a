// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.listing

import org.apache.hadoop.fs.{FileStatus, LocatedFileStatus, Path}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.datasources.FileFormat
import org.apache.spark.sql.types.StructType

import splice.files.internal.errors.FileErrors
import splice.files.internal.options.FileOptions
import splice.files.internal.session.{ColumnNames, FileFormats}
import splice.files.internal.settings.FileSettings
import splice.files.internal.split.{BlockHome, FileSchemas, ListedFile}

/** Files and columns at the paths of a source. Spark's file index lists the files once. Hidden files, filters,
  * partition columns and output folders of Spark's file sink therefore behave as in Spark's batch reader.
  *
  * @param matches
  *   existing folders and files of each configured path
  */
final private[files] class FileListing private (
    settings: FileSettings,
    spark: SparkSession,
    index: CommittedFiles,
    known: FileListing.Known,
    matches: Seq[Set[Path]]
) {

  private lazy val format: FileFormat = FileFormats.of(settings.kind)

  /** Nullable columns, from the option `schema`, from the previous analysis, or inferred by Spark.
    *
    * @throws splice.source.errors.SpliceException
    *   if no file has columns to infer
    */
  lazy val schemas: FileSchemas = {
    val partition = index.partitionSchema.toNullable
    val data      = known match {
      case FileListing.Nothing     => inferred
      case FileListing.Given(rows) => FileListing.without(rows, partition)
      // Folders of partition columns may have arrived, or may have been removed, since the analysis.
      case FileListing.Before(same) => settings.schema.fold(same.data)(FileListing.without(_, partition))
    }
    rejectDuplicates(data)
    FileSchemas(data.toNullable, partition)
  }

  private lazy val folders = index.listFiles(Nil, Nil)

  /** Files in reading order, except for the order by event time. */
  def files: IndexedSeq[ListedFile] = {
    val listed = for {
      folder <- folders
      file   <- folder.files
    } yield {
      val path = file.getPath
      ListedFile(
        RootPaths.text(path),
        file.getLen,
        file.getModificationTime,
        format.isSplitable(spark, settings.spark, path),
        folder.values,
        FileListing.homes(file.fileStatus)
      )
    }
    ListedFile.sorted(listed, settings.order)
  }

  /** Last committed batch of the only sink that has written the files, if all files of the sink are selected. */
  def batch: Option[Long] = index.owners match {
    case Seq(only) =>
      val selected = folders.iterator.flatMap(_.files).map(_.getPath.toUri.getPath).toSet
      only.batch.filter(_ => only.committed.forall { case (path, file) => file.getLen == 0 || selected(path) })
    case _ => None
  }

  /** Warnings about files below the paths that are not in [[files]], and about paths without files. */
  def warnings: Seq[String] = {
    val selected = folders.iterator.flatMap(_.files).map(_.getPath).toSet
    notSelected(selected) ++ (if (selected.isEmpty) Nil else withoutFiles(selected))
  }

  private def withoutFiles(selected: Set[Path]): Seq[String] = {
    val used  = selected ++ selected.map(_.getParent).flatMap(RootPaths.upwards)
    val shown = settings.shownPaths
    val empty = shown.zip(matches).collect { case (path, found) if !found.exists(used) => path }
    empty.headOption.toSeq.map { example =>
      s"No file matches ${empty.size} of ${shown.size} paths, for example $example. Check that the storage is mounted, " +
        "that the files have content and no name that begins with _ or a dot, and that " +
        s"'${settings.name(FileOptions.PathGlobFilter.key)}', '${settings.name(FileOptions.ModifiedBefore.key)}' and " +
        s"'${settings.name(FileOptions.ModifiedAfter.key)}' accept the files."
    }
  }

  private def notSelected(selected: Set[Path]): Seq[String] = {
    val data   = index.data
    val others = data.filterNot(selected)
    others.minByOption(_.toString).toSeq.map { example =>
      s"Splice does not read ${others.size} of ${data.size} files at ${settings.shownPaths.mkString(", ")}, for example " +
        s"${RootPaths.text(example)}. If a path has files in folders named " +
        "column=value, Splice reads only these files, else only the files directly in the path. Set " +
        s"'${settings.name(FileOptions.RecursiveFileLookup.key)}' to 'true' to read all files without columns from " +
        "folder names, move the files, or replace the path by patterns for its files and its folders."
    }
  }

  private def rejectDuplicates(data: StructType): Unit =
    data.fieldNames.toSeq.groupBy(ColumnNames.key).values.find(_.size > 1).foreach { same =>
      throw FileErrors.duplicateColumn(same, settings.paths, settings.name(FileOptions.Schema.key))
    }

  private def inferred: StructType =
    format
      .inferSchema(spark, settings.spark, index.allFiles())
      .filter(_.nonEmpty)
      .getOrElse(throw FileErrors.noSchema(settings.kind.name, settings.paths))
}

private[files] object FileListing {

  /** Columns that are defined before the listing. */
  sealed trait Known {
    def rows: Option[StructType]
  }

  case object Nothing extends Known {
    override def rows: Option[StructType] = None
  }

  /** The user sets all columns, or all except partition columns. */
  final case class Given(columns: StructType) extends Known {
    override def rows: Option[StructType] = Some(columns)
  }

  /** The query was analysed with these columns. */
  final case class Before(schemas: FileSchemas) extends Known {
    override def rows: Option[StructType] = Some(schemas.rows)
  }

  /** Columns of a given schema in the files. CSV columns are matched by position, so an inferred schema keeps columns
    * that are also partition columns.
    */
  def without(schema: StructType, partition: StructType): StructType = {
    val folders = partition.map(f => ColumnNames.key(f.name)).toSet
    StructType(schema.filterNot(f => folders(ColumnNames.key(f.name))))
  }

  /** Locations of the blocks of a file; empty for local files and object stores. */
  def homes(status: FileStatus): Seq[BlockHome] = status match {
    case located: LocatedFileStatus =>
      located.getBlockLocations.toSeq
        .map(b => BlockHome(b.getOffset, b.getLength, b.getHosts.toSeq.filter(_ != "localhost")))
        .filter(_.hosts.nonEmpty)
    case _ => Nil
  }

  /** Lists the paths of a source.
    *
    * @throws splice.source.errors.SpliceException
    *   if a path does not exist
    */
  def apply(settings: FileSettings, known: Known): FileListing = {
    val spark            = SparkSession.active
    val options          = settings.spark.originalMap
    val configuration    = FileFormats.configuration(spark, options)
    val existing         = RootPaths.existing(settings.paths, configuration)
    val roots            = RootPaths.outermost(existing.flatten, settings.recursive)
    val owners           = FolderOwners(settings, configuration, spark)
    val (times, ofIndex) = ModificationTimes.of(options)
    val index            = CommittedFiles(spark, roots, ofIndex, times, known.rows, owners)
    new FileListing(settings, spark, index, known, existing.map(_.map(_.getPath).toSet))
  }
}
