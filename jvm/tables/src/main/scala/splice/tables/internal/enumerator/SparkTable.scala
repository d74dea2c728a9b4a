// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.enumerator

import org.apache.spark.sql.functions.{col, lit, max, min}
import org.apache.spark.sql.types.{NullType, StructType}
import org.apache.spark.sql.{DataFrame, SparkSession}

import splice.source.errors.SpliceOptionException
import splice.source.internal.PinnedSession
import splice.source.internal.rows.PlainType
import splice.source.runtime.SessionSettings
import splice.source.{EnumeratorContext, SplitReaderFactory, StartAfterVersion}
import splice.tables.internal.errors.TableErrors
import splice.tables.internal.options.{SliceStep, TableOptions, TableSettings}
import splice.tables.internal.reader.{SlicePartitions, SlicePlan, TableReaders}
import splice.tables.internal.slices.{SliceBounds, SliceColumn, Slices}
import splice.tables.internal.table.{PinnedVersion, TableCommits, TableFormat, TableReader, TableVersions}

/** Table that Spark reads. */
final private[tables] class SparkTable(settings: TableSettings, pinned: SessionSettings) extends TableStorage {

  private val session = new PinnedSession(pinned)

  private val reader = new TableReader(settings)

  // Spark plans a batch more than once. Newest plan first.
  private var plans = List.empty[((Int, Int, StructType), SlicePlan)]

  override def describe(context: EnumeratorContext): TableContent = session.run {
    val version = new TableVersions(settings, reader, context.clock.instant()).resolve()
    val rows    = reader.rows(version.option)
    val slices  = if (version.isEmpty) Slices.Empty else reader.explained(version.option)(divide(rows, version))
    TableContent(version, rows.schema, slices)
  }

  override def lastBatch(content: TableContent, query: String): Option[Long] = session.run {
    explained(content)(new TableCommits(settings).lastBatch(content.pinned.version, query))
  }

  override def after(content: TableContent): Option[StartAfterVersion] = session.run {
    explained(content) {
      new TableCommits(settings).after(content.pinned.version, TableFormat.of(settings, reader.load(None)))
    }
  }

  // The current schema of the table may differ, so a restart may name the version that the first start has fixed.
  override def difference(content: TableContent): Option[SpliceOptionException] = {
    val PinnedVersion(version, _, _, before) = content.pinned
    settings.requested.filterNot { case (_, text) => before.contains(text) || version.id.contains(text.trim) }
      .map { case (key, text) => TableErrors.versionChanged(settings, key, text, version.id.getOrElse("none")) }
  }

  override def size(content: TableContent, from: Int, until: Int, columns: Option[StructType]): TableStorage.Size =
    session.run {
      val plan = planned(content, from, until, columns.getOrElse(content.columns))
      explained(content)(TableStorage.Size(plan.partitions, plan.bytes))
    }

  override def readers(content: TableContent, columns: StructType, batches: Seq[(Int, Int)]): SplitReaderFactory =
    session.run {
      val context = SparkSession.active.sparkContext
      val plans   = batches.map { case (from, until) => (from, until) -> planned(content, from, until, columns) }
      // All tasks of a scan read rows, or all tasks read column batches.
      val isColumnar = plans.forall(_._2.isColumnar)
      explained(content) {
        val shipped = plans.map { case (batch, plan) =>
          val batches    = if (isColumnar) plan.batches else None
          val items      = batches.toRight(plan.rows)
          val partitions = items.fold(_.partitions, _._1.partitions)
          batch -> SlicePartitions(items, context.broadcast(partitions))
        }
        new TableReaders(shipped.toMap, settings.shown, pinned)
      }
    }

  private def explained[A](content: TableContent)(body: => A): A = reader.explained(content.pinned.option)(body)

  private def planned(content: TableContent, from: Int, until: Int, columns: StructType): SlicePlan = {
    val key = (from, until, columns)
    plans.find(_._1 == key).map(_._2).getOrElse {
      val created = plan(content, from, until, columns)
      plans = (key -> created) +: plans.take(SparkTable.Kept - 1)
      created
    }
  }

  private def plan(content: TableContent, from: Int, until: Int, columns: StructType): SlicePlan = {
    val all      = reader.rows(content.pinned.option)
    val slice    = content.slices.predicate(from, until).fold(all)(all.where)
    val selected = slice.select(columns.fields.toSeq.map { column =>
      val name = column.name
      all.schema.fields.find(_.name == name) match {
        // A later version of the table has the column.
        case None => lit(None.orNull).cast(column.dataType).as(name)
        case Some(found) if PlainType.of(found.dataType) == PlainType.of(column.dataType) =>
          col(SliceColumn.quoted(name))
        case Some(found) =>
          throw TableErrors.columnChanged(settings, name, found.dataType.sql, column.dataType.sql)
      }
    }: _*)
    explained(content)(SlicePlan.of(selected)).fold(why => throw TableErrors.planNotSupported(settings, why), identity)
  }

  private def divide(rows: DataFrame, version: PinnedVersion): Slices = {
    val ofTable = TableFormat.partitionColumn(reader.load(version.option))
    val name    = settings.sliceBy.orElse(ofTable.map(_._1).filter(hasOrder(rows.schema, _)))
    name.fold[Slices](Slices.Whole) { wanted =>
      val column      = sliceColumn(rows, wanted)
      val isPartition = ofTable.exists(_._1 == column.name)
      val step = settings.sliceEvery.orElse(ofTable.filter(_ => isPartition && settings.slices.isEmpty).flatMap(_._2))
      if (step.isEmpty && settings.slices.isEmpty && !isPartition) throw TableErrors.noWidth(settings, column.name)
      if ((step.nonEmpty || settings.slices.nonEmpty) && !SliceColumn.hasScale(column.kind))
        throw TableErrors.noScale(settings, column.name, column.kind.sql)
      step.foreach(checkStep(column, _))
      val isFixed = version.version.id.nonEmpty
      if (step.isEmpty && settings.slices.isEmpty) byValues(rows, column, isFixed)
      else byScale(rows, column, step, isFixed)
    }
  }

  private def byValues(rows: DataFrame, column: SliceColumn, isFixed: Boolean): Slices = {
    val values  = col(SliceColumn.quoted(column.name))
    val ordered = rows.where(values.isNotNull).groupBy(values).agg(lit(1)).orderBy(values).select(column.texts())
    val all     = ordered.collect().toVector.map(_.getString(0))
    val width   = (all.size + TableOptions.MaxSlices - 1) / TableOptions.MaxSlices
    val firsts  = all.grouped(width.max(1)).map(_.head).toVector
    slices(column, firsts.drop(1), all.lastOption, isFixed)
  }

  private def byScale(rows: DataFrame, column: SliceColumn, step: Option[SliceStep], isFixed: Boolean): Slices = {
    val value = col(SliceColumn.quoted(column.name))
    val found = rows
      .agg(min(column.finite).as("least"), max(column.finite).as("greatest"), max(value).as("last"))
      .select(Seq("least", "greatest", "last").map(name => column.texts(col(name))): _*)
      .head()
    def text(i: Int) = Option(found.getString(i))
    val bounds       = for {
      least    <- text(0)
      greatest <- text(1)
    } yield step match {
      case Some(width) =>
        SliceBounds.every(column, least, greatest, width, TableOptions.MaxSlices).getOrElse {
          throw TableErrors.tooManySlices(settings, column.name, TableOptions.MaxSlices)
        }
      case None => SliceBounds.count(column, least, greatest, settings.slices.getOrElse(1))
    }
    slices(column, bounds.getOrElse(Vector.empty), text(2), isFixed)
  }

  // Rows that arrive after the first start belong to no batch of a table without versions, as far as the column shows.
  private def slices(column: SliceColumn, bounds: Vector[String], last: Option[String], isFixed: Boolean): Slices =
    Slices.ByColumn(column, bounds, if (isFixed) None else last)

  private def hasOrder(columns: StructType, name: String): Boolean =
    columns.fields.exists(column => column.name == name && SliceColumn.hasOrder(column.dataType))

  private def sliceColumn(rows: DataFrame, name: String): SliceColumn = {
    val resolved = SparkTable.resolve(rows.schema, name)
    val column   = resolved.getOrElse(throw TableErrors.columnNotFound(settings, name, rows.schema.fieldNames.toSeq))
    if (SliceColumn.hasOrder(column.dataType) && column.dataType != NullType) SliceColumn(column.name, column.dataType)
    else throw TableErrors.noOrder(settings, column.name, column.dataType.sql)
  }

  private def checkStep(column: SliceColumn, step: SliceStep): Unit = {
    val fits = step match {
      case SliceStep.OfNumber(_)                       => !SliceColumn.isTime(column.kind)
      case SliceStep.OfTime(_) | SliceStep.OfMonths(_) => SliceColumn.isTime(column.kind)
    }
    if (!fits) throw TableErrors.invalidWidth(settings, column.name, column.kind.sql)
  }
}

private object SparkTable {

  private val Kept = 4

  private def resolve(columns: StructType, name: String) =
    columns.fields.find(_.name == name).orElse(columns.fields.find(_.name.equalsIgnoreCase(name)))
}
