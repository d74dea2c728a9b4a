// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.enumerator

import java.time.Instant
import java.time.format.DateTimeParseException

import scala.collection.immutable.SortedMap
import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.sql.types.{DataType, StructType}

import splice.source.TableVersion
import splice.source.internal.entries.{Json, VersionedEntry}
import splice.tables.internal.slices.{SliceColumn, Slices}
import splice.tables.internal.split.TableRange
import splice.tables.internal.table.PinnedVersion

/** Content of the entry `table`, which the first start of a query fixes.
  *
  * @param columns
  *   columns of the pinned version
  */
final private[tables] case class TableContent(pinned: PinnedVersion, columns: StructType, slices: Slices)

/** Format of the entry `table`. The head has the version and the column of the slices. A line with the columns, and one
  * line per bound follow.
  */
private[tables] object TableEntry {

  /** Key of the entry. */
  val Key = "table"

  def write(content: TableContent): Seq[String] = {
    val TableContent(PinnedVersion(version, option, isEmpty, requested), columns, slices) = content
    val head                                                                              = Seq(
      "format"    -> Json.text(version.format),
      "name"      -> Json.text(version.name),
      "committed" -> Json.text(version.committed.toString),
      "metadata"  -> Json.obj(version.metadata.toSeq.map { case (key, value) => key -> Json.text(value) }: _*),
      "empty"     -> Json.bool(isEmpty)
    ) ++ version.id.map("id" -> Json.text(_)) ++ requested.map("requested" -> Json.text(_)) ++
      option.map { case (key, value) => "option" -> Json.array(Seq(Json.text(key), Json.text(value))) }
    val (fields, bounds) = slices match {
      case Slices.Empty                       => (Seq("slices" -> Json.text("none")), Nil)
      case Slices.Whole                       => (Seq("slices" -> Json.text("whole")), Nil)
      case Slices.ByColumn(column, all, last) =>
        val by = Seq("slices" -> Json.text("column"), "column" -> Json.text(column.name), "type" -> json(column.kind))
        (by ++ last.map("last" -> Json.text(_)), all.map(Json.quoted))
    }
    VersionedEntry.write(head ++ fields, columns.json +: bounds)
  }

  /** @throws splice.source.errors.SpliceException if the entry is damaged */
  def read(entry: VersionedEntry): TableContent = {
    val columns = entry.lines.headOption.flatMap(kind).collect { case fields: StructType => fields }
      .getOrElse(entry.corrupt("the columns are missing"))
    val bounds =
      entry.nodes.drop(1).map(node => if (node.isTextual) node.asText else entry.corrupt(s"$node is not a text"))
    val slices = entry.text("slices") match {
      case "none"   => Slices.Empty
      case "whole"  => Slices.Whole
      case "column" =>
        val by = kind(Json.write(entry("type"))).getOrElse(entry.corrupt("'type' is not a type"))
        Slices.ByColumn(SliceColumn(entry.text("column"), by), bounds.toVector, entry.find("last").map(_.asText))
      case other => entry.corrupt(s"'slices' is $other")
    }
    val metadata = Json.fields(entry("metadata")).map { case (key, value) => key -> value.asText }
    val option  = entry.find("option").map(Json.items(_).map(_.asText)).collect { case Seq(key, value) => key -> value }
    val version = TableVersion(
      entry.text("name"),
      entry.text("format"),
      entry.find("id").map(_.asText),
      instant(entry),
      SortedMap.from(metadata)
    )
    TableContent(
      PinnedVersion(version, option, entry("empty").asBoolean, entry.find("requested").map(_.asText)),
      columns,
      slices
    )
  }

  private def instant(entry: VersionedEntry): Instant =
    try Instant.parse(entry.text("committed"))
    catch { case e: DateTimeParseException => entry.corrupt(e.getMessage) }

  private def json(kind: DataType): JsonNode = Json.read(kind.json).getOrElse(Json.text(kind.json))

  private def kind(json: String): Option[DataType] = Try(DataType.fromJson(json)).toOption
}

/** Batch that is planned: whole slices, and the number of parts of their plan. The entry is `parts-<from>`. */
final private[tables] case class PlannedBatch(from: Int, until: Int, parts: Int) {

  def ranges: Seq[TableRange] = (0 until parts).map(TableRange(from, until, _, parts))

  def lines: Seq[String] =
    VersionedEntry.write(
      "from"  -> Json.number(from.toLong),
      "until" -> Json.number(until.toLong),
      "parts" -> Json.number(parts.toLong)
    )
}

private[tables] object PlannedBatch {

  /** Prefix of the entries. */
  val Prefix = "parts"

  def read(entry: VersionedEntry): PlannedBatch =
    PlannedBatch(entry.long("from").toInt, entry.long("until").toInt, entry.long("parts").toInt)
}
