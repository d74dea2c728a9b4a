// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.listing

import java.time.Instant
import java.time.temporal.ChronoUnit

import scala.jdk.CollectionConverters._
import scala.util.Using
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.orc.{OrcFile, Reader, TimestampColumnStatistics}
import org.apache.parquet.column.statistics.LongStatistics
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.parquet.schema.LogicalTypeAnnotation.{TimeUnit, TimestampLogicalTypeAnnotation}
import org.apache.spark.paths.SparkPath
import org.apache.spark.util.SerializableConfiguration

import splice.files.internal.access.PathUsers
import splice.files.internal.options.FileKind
import splice.files.internal.settings.FileSettings
import splice.files.internal.split.ListedFile
import splice.source.runtime.Jobs

/** Number of rows and greatest times from the footers of files.
  *
  * @param failed
  *   number of files with an unreadable footer
  * @param example
  *   error of one unreadable footer
  * @param latest
  *   greatest value of each timestamp column with statistics
  */
final private[files] case class Footers(
    rows: Long,
    failed: Long,
    example: Option[String],
    latest: Map[String, Instant]
) {
  private def and(other: Footers): Footers = Footers(
    rows + other.rows,
    failed + other.failed,
    example.orElse(other.example),
    Footers.latest(latest.toSeq ++ other.latest)
  )
}

private[files] object Footers {

  private val Nothing = Footers(0L, 0L, None, Map.empty)

  private val FilesOfTask = 16

  /** Reads all footers in one job; None if the format has no footers. */
  def read(
      settings: FileSettings,
      configuration: Configuration,
      files: Seq[ListedFile],
      jobs: Jobs
  ): Option[Footers] = settings.kind match {
    case FileKind.Parquet | FileKind.Orc =>
      val task    = new Task(settings.kind, new SerializableConfiguration(configuration), settings.users)
      val footers = jobs.run(files.map(_.path).grouped(FilesOfTask).toVector)(_ => Nil)(task)
      Some(footers.foldLeft(Nothing)(_.and(_)))
    case FileKind.Json | FileKind.Csv | FileKind.Text => None
  }

  final private class Task(kind: FileKind, shipped: SerializableConfiguration, users: PathUsers)
      extends (Seq[String] => Footers)
      with Serializable {

    override def apply(paths: Seq[String]): Footers = paths.iterator.map { path =>
      try users.guarded(read(SparkPath.fromUrlString(users.restore(path)).toPath))
      catch { case NonFatal(e) => Footers(0L, 1L, Some(s"$path: ${e.getMessage}"), Map.empty) }
    }.foldLeft(Nothing)(_.and(_))

    private def read(path: Path): Footers = kind match {
      case FileKind.Orc =>
        Using.resource(OrcFile.createReader(path, OrcFile.readerOptions(shipped.value))) { reader =>
          Footers(reader.getNumberOfRows, 0L, None, latest(times(reader)))
        }
      case _ =>
        Using.resource(ParquetFileReader.open(HadoopInputFile.fromPath(path, shipped.value))) { reader =>
          val columns = reader.getFooter.getBlocks.asScala.toSeq.flatMap(_.getColumns.asScala)
          Footers(reader.getRecordCount, 0L, None, latest(columns.flatMap(time)))
        }
    }
  }

  private def latest(times: Seq[(String, Instant)]): Map[String, Instant] =
    times.groupMapReduce(_._1)(_._2)((a, b) => if (a.isBefore(b)) b else a)

  /** Greatest value of a column of one row group; None for nested columns and for timestamps without time zone. */
  private def time(column: ColumnChunkMetaData): Option[(String, Instant)] =
    (column.getPath.toArray, column.getPrimitiveType.getLogicalTypeAnnotation, column.getStatistics) match {
      case (Array(name), kind: TimestampLogicalTypeAnnotation, statistics: LongStatistics)
          if kind.isAdjustedToUTC && statistics.hasNonNullValue =>
        val unit = kind.getUnit match {
          case TimeUnit.MILLIS => ChronoUnit.MILLIS
          case TimeUnit.MICROS => ChronoUnit.MICROS
          case TimeUnit.NANOS  => ChronoUnit.NANOS
        }
        Some(name -> Instant.EPOCH.plus(statistics.getMax, unit))
      case _ => None
    }

  private def times(reader: Reader): Seq[(String, Instant)] = {
    val (schema, statistics) = (reader.getSchema, reader.getStatistics)
    for {
      (name, column) <- schema.getFieldNames.asScala.toSeq.zip(schema.getChildren.asScala)
      greatest <- Option(statistics(column.getId)).collect { case times: TimestampColumnStatistics => times.getMaximum }
      if Option(greatest).nonEmpty
    } yield name -> greatest.toInstant
  }
}
