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
import org.apache.orc.{DateColumnStatistics, OrcFile, Reader, TimestampColumnStatistics}
import org.apache.parquet.column.statistics.{IntStatistics, LongStatistics}
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.parquet.schema.LogicalTypeAnnotation.{
  DateLogicalTypeAnnotation,
  TimeUnit,
  TimestampLogicalTypeAnnotation
}
import org.apache.spark.paths.SparkPath
import org.apache.spark.util.SerializableConfiguration

import splice.files.internal.access.PathUsers
import splice.files.internal.options.FileKind
import splice.files.internal.settings.FileSettings
import splice.files.internal.split.ListedFile
import splice.source.TimeRange
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
)

/** Footer of one file.
  *
  * @param times
  *   values of each date and timestamp column with statistics; None if the column has only nulls
  * @param columns
  *   all columns at the top level
  */
final private[files] case class Footer(rows: Long, times: Map[String, Option[ColumnTimes]], columns: Set[String])

/** Least and greatest value of a column.
  *
  * @param isInstant
  *   true for timestamps; false for dates and for timestamps without time zone, whose values are in UTC here
  */
final private[files] case class ColumnTimes(first: Instant, last: Instant, isInstant: Boolean) {
  def range: TimeRange = TimeRange(first, last)

  def and(other: ColumnTimes): ColumnTimes = ColumnTimes(
    if (first.isBefore(other.first)) first else other.first,
    if (last.isBefore(other.last)) other.last else last,
    isInstant
  )
}

private[files] object Footers {

  private val FilesOfTask = 16

  /** Sums of footers, or of their errors. */
  def of(all: Seq[Either[String, Footer]]): Footers = {
    val (failed, known) = all.partitionMap(identity)
    val times           = known.iterator.flatMap(_.times).collect {
      case (name, Some(values)) if values.isInstant =>
        name -> values.last
    }
    Footers(
      known.map(_.rows).sum,
      failed.size.toLong,
      failed.headOption,
      times.toSeq.groupMapReduce(_._1)(_._2)((a, b) => if (a.isBefore(b)) b else a)
    )
  }

  /** Reads all footers in one job, in the order of the files; None if the format has no footers. */
  def read(
      settings: FileSettings,
      configuration: Configuration,
      files: Seq[ListedFile],
      jobs: Jobs
  ): Option[Seq[Either[String, Footer]]] = settings.kind match {
    case FileKind.Parquet | FileKind.Orc =>
      val task = new Task(settings.kind, new SerializableConfiguration(configuration), settings.users)
      Some(jobs.run(files.map(_.path).grouped(FilesOfTask).toVector)(_ => Nil)(task).flatten)
    case FileKind.Json | FileKind.Csv | FileKind.Text => None
  }

  final private class Task(kind: FileKind, shipped: SerializableConfiguration, users: PathUsers)
      extends (Seq[String] => Seq[Either[String, Footer]])
      with Serializable {

    override def apply(paths: Seq[String]): Seq[Either[String, Footer]] = paths.map { path =>
      try Right(users.guarded(read(SparkPath.fromUrlString(users.restore(path)).toPath)))
      catch { case NonFatal(e) => Left(s"$path: ${e.getMessage}") }
    }

    private def read(path: Path): Footer = kind match {
      case FileKind.Orc =>
        Using.resource(OrcFile.createReader(path, OrcFile.readerOptions(shipped.value)))(ofOrc)
      case _ =>
        Using.resource(ParquetFileReader.open(HadoopInputFile.fromPath(path, shipped.value)))(ofParquet)
    }
  }

  private def ofParquet(reader: ParquetFileReader): Footer = {
    val chunks = reader.getFooter.getBlocks.asScala.toSeq.flatMap(_.getColumns.asScala).filter(_.getPath.size == 1)
    val times  = chunks.groupMap(_.getPath.toArray.head)(values).collect {
      case (name, all) if all.forall(_.nonEmpty) => name -> all.flatMap(_.flatten).reduceOption(_.and(_))
    }
    Footer(reader.getRecordCount, times, reader.getFileMetaData.getSchema.getFields.asScala.map(_.getName).toSet)
  }

  /** The values of a column of one row group; None without statistics of a time. The result of a column with only nulls
    * is empty.
    */
  private def values(column: ColumnChunkMetaData): Option[Option[ColumnTimes]] = {
    def range(least: Long, greatest: Long, unit: ChronoUnit, isInstant: Boolean) =
      Some(ColumnTimes(Instant.EPOCH.plus(least, unit), Instant.EPOCH.plus(greatest, unit), isInstant))
    (column.getPrimitiveType.getLogicalTypeAnnotation, column.getStatistics) match {
      case (_: TimestampLogicalTypeAnnotation | _: DateLogicalTypeAnnotation, known)
          if known.isNumNullsSet && known.getNumNulls == column.getValueCount => Some(None)
      case (kind: TimestampLogicalTypeAnnotation, known: LongStatistics) if known.hasNonNullValue =>
        val unit = kind.getUnit match {
          case TimeUnit.MILLIS => ChronoUnit.MILLIS
          case TimeUnit.MICROS => ChronoUnit.MICROS
          case TimeUnit.NANOS  => ChronoUnit.NANOS
        }
        Some(range(known.getMin, known.getMax, unit, kind.isAdjustedToUTC))
      case (_: DateLogicalTypeAnnotation, known: IntStatistics) if known.hasNonNullValue =>
        Some(range(known.getMin.toLong, known.getMax.toLong, ChronoUnit.DAYS, isInstant = false))
      case _ => None
    }
  }

  private def ofOrc(reader: Reader): Footer = {
    val names                                                        = reader.getSchema.getFieldNames.asScala.toSeq
    def range(least: Instant, greatest: Instant, isInstant: Boolean) = Some(ColumnTimes(least, greatest, isInstant))
    def day(number: Long)                                            = Instant.EPOCH.plus(number, ChronoUnit.DAYS)
    val times = names.zip(reader.getSchema.getChildren.asScala).flatMap { case (name, column) =>
      Option(reader.getStatistics()(column.getId)).collect {
        case known @ (_: TimestampColumnStatistics | _: DateColumnStatistics) if known.getNumberOfValues == 0 => None
        case known: TimestampColumnStatistics if Option(known.getMinimum).nonEmpty                            =>
          range(known.getMinimum.toInstant, known.getMaximum.toInstant, isInstant = true)
        case known: DateColumnStatistics if Option(known.getMinimumLocalDate).nonEmpty =>
          range(day(known.getMinimumDayOfEpoch), day(known.getMaximumDayOfEpoch), isInstant = false)
      }.map(name -> _)
    }
    Footer(reader.getNumberOfRows, times.toMap, names.toSet)
  }
}
