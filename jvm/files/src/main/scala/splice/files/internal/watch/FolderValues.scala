// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.watch

import java.time.ZoneId

import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.execution.datasources.{FileStatusCache, InMemoryFileIndex, PartitioningUtils}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, StructType}

import splice.files.internal.errors.FileErrors
import splice.files.internal.listing.{FolderOwners, ModificationTimes, RootPaths}
import splice.files.internal.session.ColumnNames
import splice.files.internal.settings.FileSettings
import splice.source.errors.SpliceError

/** Values of the partition columns of folders. Spark's file index parses the names of the folders.
  *
  * @param columns
  *   partition columns; empty if no folder has a value
  */
final private[files] class FolderValues private (val columns: StructType, rows: Map[Path, InternalRow]) {

  /** Values of a folder; None for a folder without values.
    *
    * @param expected
    *   partition columns of the list
    */
  def of(folder: Path, expected: StructType): Option[InternalRow] = rows.get(folder).map { row =>
    def names(schema: StructType) = schema.map(field => ColumnNames.key(field.name))
    if (names(columns) != names(expected))
      throw FileErrors.invalidPartition(
        folder.toString,
        s"the folder has values of ${shown(columns)}, and the first files have values of ${shown(expected)}"
      )
    row
  }

  private def shown(schema: StructType) = if (schema.isEmpty) "no columns" else schema.fieldNames.mkString(", ")
}

private[files] object FolderValues {

  /** Parses the names of folders.
    *
    * @param rows
    *   columns whose types partition columns of the same names have
    */
  def of(
      settings: FileSettings,
      roots: Seq[FileStatus],
      folders: Seq[VisitedFolder],
      rows: StructType
  ): FolderValues = {
    val spark                                          = SparkSession.active
    val (_, options)                                   = ModificationTimes.of(settings.spark.originalMap)
    val paths                                          = roots.map(_.getPath)
    def parse(examples: Seq[FileStatus]): FolderValues = {
      val index = new InMemoryFileIndex(spark, paths, options, Some(rows), new Listed(examples.toArray))
      val spec  = index.partitionSpec()
      new FolderValues(spec.partitionColumns.toNullable, spec.partitions.map(p => p.path -> p.values).toMap)
    }
    val examples = folders.flatMap(_.example).distinctBy(_.getPath.getParent)
    try if (examples.isEmpty) new FolderValues(new StructType, Map.empty) else parse(examples)
    catch {
      case NonFatal(e) =>
        examples.foreach { example =>
          try parse(Seq(example))
          catch {
            case NonFatal(of) =>
              throw FileErrors.invalidPartition(example.getPath.getParent.toString, SpliceError.text(of), Some(of))
          }
        }
        throw FileErrors.invalidPartition(paths.mkString(", "), SpliceError.text(e), Some(e))
    }
  }

  /** Files that Spark's index does not list again. */
  final private class Listed(files: Array[FileStatus]) extends FileStatusCache {
    private var left = files

    override def getLeafFiles(path: Path): Option[Array[FileStatus]] = {
      val now = left
      left = Array.empty
      Some(now)
    }

    override def putLeafFiles(path: Path, files: Array[FileStatus]): Unit = ()

    override def invalidateAll(): Unit = ()
  }
}

/** Order of folders by one partition column. */
final private[files] class PartitionOrder private (column: String, kind: DataType) {

  private val ordering = PartitionOrder.ordering(kind)

  private val zone = ZoneId.of(SQLConf.get.sessionLocalTimeZone)

  /** True if the folder does not have the name of the column, or has at least this value. */
  def isAtLeast(folder: Path, least: Any): Boolean =
    Option(folder.getName).filter(FolderOwners.isPartition).flatMap { name =>
      PartitioningUtils.parsePathFragment(name).collectFirst {
        case (key, text) if ColumnNames.key(key) == column && text != ExternalCatalogUtils.DEFAULT_PARTITION_NAME =>
          text
      }
    }.forall { text =>
      // A value of another type is visited, so that the listing reports it.
      try ordering.gteq(PartitioningUtils.castPartValueToDesiredType(kind, text, zone), least)
      catch { case NonFatal(_) => true }
    }
}

private[files] object PartitionOrder {

  def index(column: Option[String], partition: StructType): Option[Int] =
    column.map(name => partition.indexWhere(field => ColumnNames.key(field.name) == ColumnNames.key(name))).filter(_ >=
      0)

  def of(column: String, partition: StructType): Option[PartitionOrder] =
    index(Some(column), partition).map(i => new PartitionOrder(ColumnNames.key(column), partition(i).dataType))

  /** True if the names of a folder and its parents have a value for each column. */
  def hasColumns(folder: Path, partition: StructType): Boolean = {
    val names = RootPaths.upwards(folder).map(_.getName)
    val found = names.filter(FolderOwners.isPartition).map(name => ColumnNames.key(name.takeWhile(_ != '='))).toSet
    partition.forall(field => found(ExternalCatalogUtils.escapePathName(ColumnNames.key(field.name))))
  }

  def ordering(kind: DataType): Ordering[Any] = TypeUtils.getInterpretedOrdering(kind)
}
