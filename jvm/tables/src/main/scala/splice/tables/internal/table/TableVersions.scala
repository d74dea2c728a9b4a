// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.table

import java.time.Instant

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.functions.{col, lit}
import org.apache.spark.sql.{Row, SparkSession}
import org.slf4j.LoggerFactory

import splice.source.TableVersion
import splice.source.options.FailOrWarn
import splice.tables.internal.errors.TableErrors
import splice.tables.internal.options.{TableOptions, TableSettings}

/** Version of a table that a query reads.
  *
  * @param option
  *   option of Spark's reader that selects the version, and its value
  * @param requested
  *   text of the option that has selected the version at the first start
  * @param isEmpty
  *   true if the table has no version yet, and therefore no row
  */
final private[tables] case class PinnedVersion(
    version: TableVersion,
    option: Option[(String, String)],
    isEmpty: Boolean = false,
    requested: Option[String] = None
)

/** Resolves the version of a table at the first start of a query. A time, a branch or a tag becomes an id. */
final private[tables] class TableVersions(settings: TableSettings, reader: TableReader, now: Instant) {

  private val AsOf = TableOptions.VersionAsOf.key

  private val commits = new TableCommits(settings)

  /** @throws splice.source.errors.SpliceException
    *   if the version does not exist, or if the table has no versions and the policy is `fail`
    */
  def resolve(): PinnedVersion = {
    val table  = reader.load(None)
    val format = TableFormat.of(settings, table)
    val pinned = reader.explained(settings.requested) {
      format match {
        case TableFormat.Delta            => delta()
        case TableFormat.Iceberg(current) => iceberg(current)
        case TableFormat.Other(name)      => other(name)
      }
    }
    pinned.copy(requested = settings.requested.map(_._2))
  }

  /** Delta's history has one row per version. */
  private def delta(): PinnedVersion = {
    val history = commits.history
    val found   = settings.requested match {
      case None                  => history.limit(1)
      case Some((AsOf, version)) => history.where(col("version") === lit(version).cast("bigint"))
      case Some((_, time))       => history.where(col("timestamp") <= lit(time).cast("timestamp"))
    }
    val row = found.orderBy(col("version").desc).head(1).headOption.getOrElse(throw noVersion())
    pinned(
      "delta",
      row.getAs[Long]("version").toString,
      TableCommits.instant(row.getAs[Any]("timestamp")),
      plain(row) ++ TableCommits.map(row, "operationParameters")
    )
  }

  private def iceberg(current: Option[String]): PinnedVersion = {
    def chosen(table: String, of: Row => Boolean, order: String) =
      commits.metadata(
        table
      ).orderBy(col(order)).collect().filter(of).lastOption.map(_.getAs[Long]("snapshot_id").toString)
    val id = settings.requested match {
      case None                                              => current
      case Some((AsOf, id)) if id.trim.toLongOption.nonEmpty => Some(id.trim)
      case Some((AsOf, ref))                                 =>
        chosen("refs", _.getAs[String]("name") == ref.trim, "snapshot_id").orElse(throw noVersion())
      case Some((_, time)) =>
        val until = SparkSession.active.range(1).select(lit(time).cast("timestamp")).head().get(0)
        val at    = Option(until).map(TableCommits.instant).getOrElse(throw noVersion())
        chosen(
          "history",
          row => !TableCommits.instant(row.getAs[Any]("made_current_at")).isAfter(at),
          "made_current_at"
        )
          .orElse(throw noVersion())
    }
    id match {
      case None           => PinnedVersion(TableVersion(settings.shown, "iceberg", None, now), None, isEmpty = true)
      case Some(snapshot) =>
        val row = commits.metadata("snapshots").where(col("snapshot_id") === snapshot.toLong).head(1).headOption
        row.fold(throw noVersion()) { found =>
          pinned(
            "iceberg",
            snapshot,
            TableCommits.instant(found.getAs[Any]("committed_at")),
            TableCommits.map(found, "summary")
          )
        }
    }
  }

  private def other(format: String): PinnedVersion = {
    val own = settings.ownVersion.map(_._2)
    (settings.requested, settings.of) match {
      case (Some((key, _)), TableSettings.Format(_)) =>
        throw TableErrors.versionNotSupported(settings.name(key), format)
      case (Some(option @ (_, value)), _) =>
        PinnedVersion(TableVersion(settings.shown, format, Some(value), now), Some(option))
      case (None, _) =>
        if (own.isEmpty) settings.onNoVersion match {
          case FailOrWarn.Fail => throw TableErrors.noVersions(settings, format)
          case FailOrWarn.Warn => TableVersions.logger.warn(
              s"${settings.shown} ($format) has no versions, so a batch that is repeated after a failure may have other rows."
            )
        }
        PinnedVersion(TableVersion(settings.shown, format, own, now), None)
    }
  }

  private def pinned(format: String, id: String, at: Instant, more: Map[String, String]): PinnedVersion =
    PinnedVersion(TableVersion(settings.shown, format, Some(id), at, SortedMap.from(more)), Some(AsOf -> id))

  private def noVersion() = TableErrors.versionNotFound(settings)

  private def plain(row: Row): Map[String, String] =
    row.schema.fieldNames.filterNot(TableVersions.notMetadata).flatMap { name =>
      row.getAs[Any](name) match {
        case text: String   => Some(name -> text)
        case number: Number => Some(name -> number.toString)
        case flag: Boolean  => Some(name -> flag.toString)
        case _              => None
      }
    }.toMap
}

private object TableVersions {
  private val logger = LoggerFactory.getLogger(classOf[TableVersions])

  private val notMetadata = Set("version", "userId", "userName")
}
