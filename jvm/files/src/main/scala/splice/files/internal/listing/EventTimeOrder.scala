// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.listing

import java.time.temporal.ChronoUnit
import java.time.{Duration, Instant}

import org.apache.spark.sql.types.{DataType, DateType, StructField, TimestampNTZType, TimestampType}

import splice.files.internal.errors.FileErrors
import splice.files.internal.options.FileOptions
import splice.files.internal.session.ColumnNames
import splice.files.internal.settings.FileSettings
import splice.files.internal.split.{FileSchemas, ListedFile}
import splice.source.TimeRange
import splice.source.internal.Secrets

/** Files in the ascending order of the middle of their times.
  *
  * The delay of a watermark must cover the greatest difference between the greatest time of a file and the least time of
  * a later file. No other order of whole files needs less: two neighbours in another order need at least the same delay
  * after an exchange.
  *
  * @param delay
  *   the delay that the order needs; empty if no file has a time that is before a time of an earlier file
  */
final private[files] case class EventTimeOrder(files: IndexedSeq[ListedFile], delay: Option[EventTimeOrder.Delay])

private[files] object EventTimeOrder {

  /** The delay of two files, in the order of reading. */
  final case class Delay(needed: Duration, earlier: (ListedFile, Instant), later: (ListedFile, Instant))

  /** Sorts files by their times. Files without a time are first.
    *
    * @param files
    *   each file with the least and the greatest value of the column; None if the file has no value
    */
  def apply(files: Seq[(ListedFile, Option[TimeRange])]): EventTimeOrder = {
    val (timed, empty) = files.partitionMap { case (file, range) => range.map(file -> _).toLeft(file) }
    val sorted         = timed.sortBy { case (file, range) =>
      (micros(range.first) + micros(range.last), micros(range.first), file.path)
    }
    val newest = sorted.scanLeft(Option.empty[(ListedFile, Instant)]) { case (before, (file, range)) =>
      before.filterNot(_._2.isBefore(range.last)).orElse(Some(file -> range.last))
    }
    val delays = newest.zip(sorted).collect {
      case (Some((earlier, last)), (file, range)) if !last.isBefore(range.first) =>
        // A row is late if its time is not after the watermark.
        Delay(Duration.between(range.first, last).plusMillis(1), earlier -> last, file -> range.first)
    }
    EventTimeOrder((empty ++ sorted.map(_._1)).toIndexedSeq, delays.maxByOption(_.needed))
  }

  private def micros(time: Instant): Long = ChronoUnit.MICROS.between(Instant.EPOCH, time)

  /** Sorts files by a column. Reads the footers, unless the column is a partition column.
    *
    * @throws splice.source.errors.SpliceException
    *   if the column has no times, or if a file has no statistics of the column
    */
  def of(settings: FileSettings, column: String, schemas: FileSchemas, files: Seq[ListedFile])(
      footers: => Option[Seq[Either[String, Footer]]]
  ): EventTimeOrder = {
    def same(name: String)      = ColumnNames.key(name) == ColumnNames.key(column)
    val option                  = settings.name(FileOptions.OrderBy.key)
    def reject(problem: String) = throw FileErrors.notATime(option, column, problem, settings.kind.name)
    val field                   =
      schemas.rows.find(f => same(f.name)).getOrElse(reject(
        s"The files have the columns ${schemas.rows.fieldNames.mkString(", ")}"
      ))
    if (!isTime(field.dataType)) reject(s"The column has the type ${field.dataType.sql}")
    val ranges = schemas.partition.indexWhere(f => same(f.name)) match {
      case -1 => footers.getOrElse(reject(s"Files of ${settings.kind.name} have no statistics")).zip(files).map {
          case (Left(error), _)      => throw FileErrors.noTimes(option, column, error)
          case (Right(footer), file) => ofFooter(footer, same).getOrElse(
              throw FileErrors.noTimes(
                option,
                column,
                s"${Secrets.redact(FileOptions.Path.key, file.path)} has no statistics of the column"
              )
            )
        }
      case index => files.map(ofFolder(_, index, schemas.partition(index)))
    }
    EventTimeOrder(files.zip(ranges))
  }

  private def isTime(kind: DataType): Boolean = kind match {
    case DateType | TimestampType | TimestampNTZType => true
    case _                                           => false
  }

  /** The range of a file; None if the file has rows without statistics. A missing column has only nulls. */
  private def ofFooter(footer: Footer, same: String => Boolean): Option[Option[TimeRange]] =
    footer.times.collectFirst { case (name, values) if same(name) => values.map(_.range) }
      .orElse(Option.when(footer.rows == 0 || !footer.columns.exists(same))(None))

  private def ofFolder(file: ListedFile, index: Int, field: StructField): Option[TimeRange] =
    Option.unless(file.values.isNullAt(index)) {
      val time = field.dataType match {
        case DateType => Instant.EPOCH.plus(file.values.getInt(index).toLong, ChronoUnit.DAYS)
        case _        => Instant.EPOCH.plus(file.values.getLong(index), ChronoUnit.MICROS)
      }
      TimeRange(time, time)
    }
}
