// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.table

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.catalog.HiveTableRelation
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, View}
import org.apache.spark.sql.connector.expressions.{NamedReference, Transform}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.sources.BaseRelation
import org.apache.spark.sql.{DataFrame, Row, classic}

import splice.source.options.SourceOptions.fold
import splice.tables.internal.options.{SliceStep, TableSettings}

/** Format of a table, as far as Splice knows its versions. */
sealed private[tables] trait TableFormat extends Product with Serializable

private[tables] object TableFormat {

  case object Delta extends TableFormat

  /** @param current id of the current snapshot; None for a table without snapshots */
  final case class Iceberg(current: Option[String]) extends TableFormat

  final case class Other(name: String) extends TableFormat

  def of(settings: TableSettings, table: DataFrame): TableFormat = {
    val written = settings.of match {
      case TableSettings.Named(_)     => None
      case TableSettings.Format(name) => Some(fold(name))
    }
    leaf(table) match {
      case _ if isView(table)            => Other("view")
      case Some(r: DataSourceV2Relation) =>
        val properties = r.table.properties.asScala
        val provider   = written.orElse(properties.get("provider").map(fold)).getOrElse("")
        if (provider.contains("iceberg") || properties.contains(CurrentSnapshot))
          Iceberg(properties.get(CurrentSnapshot).filter(_ != "none"))
        else named(provider, settings)
      case Some(r: LogicalRelation) =>
        named(written.orElse(r.catalogTable.flatMap(_.provider).map(fold)).getOrElse(""), settings)
      case Some(_: HiveTableRelation) => Other("hive")
      case _                          => named(written.getOrElse(""), settings)
    }
  }

  /** First partition column of the table that is a column of `table`, and the width of its slices if the column is
    * partitioned by a time transform.
    */
  def partitionColumn(table: DataFrame): Option[(String, Option[SliceStep])] = {
    val found = leaf(table).toSeq.flatMap {
      case r: DataSourceV2Relation => r.table.partitioning.toSeq.flatMap(ofTransform)
      case r: LogicalRelation      => ofFiles(r.relation)
      case hive: HiveTableRelation => hive.partitionCols.map(_.name -> None)
      case _                       => Nil
    }
    found.find { case (name, _) => table.schema.fieldNames.contains(name) }
  }

  private val CurrentSnapshot = "current-snapshot-id"

  private val Day = java.time.Duration.ofDays(1)

  private def named(provider: String, settings: TableSettings): TableFormat =
    if (provider.contains("delta")) Delta else Other(if (provider.isEmpty) settings.shown else provider)

  private def ofFiles(relation: BaseRelation): Seq[(String, Option[SliceStep])] = relation match {
    case files: HadoopFsRelation => files.partitionSchema.fieldNames.toSeq.map(_ -> None)
    case _                       => Nil
  }

  private def ofTransform(transform: Transform): Option[(String, Option[SliceStep])] = {
    val step = transform.name match {
      case "identity"         => Some(None)
      case "hours" | "hour"   => Some(Some(SliceStep.OfTime(java.time.Duration.ofHours(1))))
      case "days" | "day"     => Some(Some(SliceStep.OfTime(Day)))
      case "months" | "month" => Some(Some(SliceStep.OfMonths(1)))
      case "years" | "year"   => Some(Some(SliceStep.OfMonths(12)))
      case _                  => None
    }
    for {
      width  <- step
      column <- transform.references.toSeq.collectFirst { case r: NamedReference if r.fieldNames.length == 1 => r }
    } yield column.fieldNames.head -> width
  }

  /** The only relation that the plan of the table reads; None if there are several. */
  private def leaf(table: DataFrame): Option[LogicalPlan] = analyzed(table).collectLeaves() match {
    case Seq(single) => Some(single)
    case _           => None
  }

  private def isView(table: DataFrame): Boolean = analyzed(table).exists(_.isInstanceOf[View])

  private def analyzed(table: DataFrame): LogicalPlan =
    table.asInstanceOf[classic.Dataset[Row]].queryExecution.analyzed
}
