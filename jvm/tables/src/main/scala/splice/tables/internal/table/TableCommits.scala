// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.table

import java.sql.Timestamp
import java.time.Instant

import scala.annotation.tailrec

import org.apache.spark.sql.functions.col
import org.apache.spark.sql.{DataFrame, Row, SparkSession}

import splice.source.options.SourceOptions.fold
import splice.source.{StartAfterVersion, TableVersion}
import splice.tables.internal.options.TableSettings

/** Commits of a table, which the format records: the history of Delta, or the snapshots of Iceberg. */
final private[tables] class TableCommits(settings: TableSettings) {

  /** Delta's history, with one row per version. */
  def history: DataFrame = SparkSession.active.sql(s"DESCRIBE HISTORY $place")

  /** Table of Iceberg with metadata, such as `snapshots`. */
  def metadata(name: String): DataFrame = settings.of match {
    case TableSettings.Named(table) => SparkSession.active.table(s"$table.$name")
    case TableSettings.Format(_)    =>
      val path = settings.find("path").getOrElse("")
      val of   = if (path.contains("/")) s"$path#$name" else s"$path.$name"
      SparkSession.active.read.format("iceberg").options(settings.reader.filterNot(o => fold(o._1) == "path")).load(of)
  }

  /** Number of the last batch of a Spark query, given by its id, that a version contains. Commits that a later commit has
    * undone, such as RESTORE of Delta or a rollback of Iceberg, are not in the version.
    */
  def lastBatch(version: TableVersion, query: String): Option[Long] = version.id.flatMap(_.toLongOption).flatMap { id =>
    version.format match {
      case "delta"   => newest(id, ofDelta(query))
      case "iceberg" => newest(id, ofIceberg(query))
      case _         => None
    }
  }

  /** Start of a stream of the table after a version; None if the format has no stream that begins at a version. */
  def after(version: TableVersion, current: => TableFormat): Option[StartAfterVersion] = for {
    id     <- version.id.flatMap(_.toLongOption).filter(_ => version.format == "iceberg")
    newest <- Some(current).collect { case TableFormat.Iceberg(Some(snapshot)) => snapshot.toLong }
  } yield {
    val rows    = metadata("snapshots").collect().toSeq
    def summary = rows.filter(_.getAs[Long]("snapshot_id") == newest).flatMap(TableCommits.map(_, "summary")).toMap
    // The metrics of a summary are optional.
    def counted = metadata("entries").where("status < 2 AND data_file.content = 0").where(col("snapshot_id") === newest)
    IcebergLine(rows.map(snapshot), newest).after(id, version.committed) {
      summary.get("added-data-files").fold(counted.count())(_.toLong)
    }
  }

  private def snapshot(row: Row): IcebergLine.Snapshot = IcebergLine.Snapshot(
    row.getAs[Long]("snapshot_id"),
    Option(row.getAs[Any]("parent_id")).collect { case id: Long => id },
    TableCommits.instant(row.getAs[Any]("committed_at"))
  )

  @tailrec private def newest(id: Long, commits: Map[Long, TableCommits.Commit]): Option[Long] = commits.get(id) match {
    case Some(TableCommits.Commit(Some(batch), _))   => Some(batch)
    case Some(TableCommits.Commit(None, Some(base))) => newest(base, commits)
    case _                                           => None
  }

  private def ofDelta(query: String): Map[Long, TableCommits.Commit] = history.collect().toSeq.map { row =>
    val version = row.getAs[Long]("version")
    val of      = TableCommits.map(row, "operationParameters")
    val base    = row.getAs[String]("operation") match {
      case "RESTORE" => of.get("version").flatMap(_.toLongOption)
      case _         => Some(version - 1)
    }
    version -> TableCommits.Commit(of.get("epochId").filter(_ => of.get("queryId").contains(query)).map(_.toLong), base)
  }.toMap

  private def ofIceberg(query: String): Map[Long, TableCommits.Commit] =
    metadata("snapshots").collect().toSeq.map { row =>
      val of     = TableCommits.map(row, "summary")
      val parent = Option(row.getAs[Any]("parent_id")).collect { case id: Long => id }
      val batch  =
        of.get("spark.sql.streaming.epochId").filter(_ => of.get("spark.sql.streaming.queryId").contains(query))
      row.getAs[Long]("snapshot_id") -> TableCommits.Commit(batch.map(_.toLong), parent)
    }.toMap

  private def place: String = settings.of match {
    case TableSettings.Named(table) => table
    case TableSettings.Format(_)    => s"delta.`${settings.find("path").getOrElse("").replace("`", "``")}`"
  }
}

private[tables] object TableCommits {

  /** @param batch
    *   number of the batch of the query, if the query has made the commit
    * @param base
    *   id of the version that the commit has changed
    */
  private case class Commit(batch: Option[Long], base: Option[Long])

  def instant(value: Any): Instant = value match {
    case time: Timestamp => time.toInstant
    case time: Instant   => time
    case other           => throw new IllegalStateException(s"$other is not a time")
  }

  /** Entries of a column of maps; empty for null. */
  def map(row: Row, column: String): Map[String, String] =
    Option(row.getAs[scala.collection.Map[String, String]](column)).fold(Map.empty[String, String])(_.toMap)
}
