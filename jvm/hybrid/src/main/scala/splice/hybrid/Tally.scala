// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import com.fasterxml.jackson.databind.JsonNode

import splice.source._

/** The offsets that a leg has read at its end: an entry with one line per log partition.
  *
  * @param columns
  *   the columns that they were counted by
  */
final private[splice] case class Tally(columns: OffsetColumns, held: Seq[OffsetSummary]) {

  def lines: Seq[String] = VersionedEntry.write(
    Seq("columns" -> Json.array(Seq(columns.topic, columns.partition, columns.offset).map(Json.text))),
    held.sortBy(_.partition).map { one =>
      Json.write(Json.obj(
        "count"     -> Json.number(one.count),
        "first"     -> Json.number(one.first),
        "holes"     -> Tally.ranges(one.holes),
        "last"      -> Json.number(one.last),
        "partition" -> Json.number(one.partition.partition.toLong),
        "repeated"  -> Tally.ranges(one.repeated),
        "rows"      -> Json.number(one.rows),
        "topic"     -> Json.text(one.partition.topic)
      ))
    }
  )
}

private[splice] object Tally {

  /** @throws SpliceException when a line is damaged */
  def read(entry: VersionedEntry): Tally = {
    val columns = Json.items(entry("columns")).map(_.asText) match {
      case Seq(topic, partition, offset) => OffsetColumns(topic, partition, offset)
      case _                             => entry.corrupt("'columns' does not name a topic, a partition and an offset")
    }
    Tally(
      columns,
      entry.nodes.map(line => summary(line).getOrElse(entry.corrupt(s"'$line' is not a summary of offsets")))
    )
  }

  private def summary(line: JsonNode): Option[OffsetSummary] = {
    def number(field: String) = Json.field(line, field).filter(_.isIntegralNumber).map(_.asLong)
    for {
      topic     <- Json.field(line, "topic").filter(_.isTextual)
      partition <- number("partition")
      first     <- number("first")
      last      <- number("last")
      count     <- number("count")
      rows      <- number("rows")
      holes     <- Json.field(line, "holes")
      repeated  <- Json.field(line, "repeated")
    } yield OffsetSummary(
      LogPartition(topic.asText, partition.toInt),
      first,
      last,
      count,
      ranges(holes),
      rows,
      ranges(repeated)
    )
  }

  private def ranges(all: Seq[(Long, Long)]): JsonNode =
    Json.array(all.map { case (from, until) => Json.array(Seq(Json.number(from), Json.number(until))) })

  private def ranges(node: JsonNode): Seq[(Long, Long)] =
    Json.items(node).map(Json.items).collect { case Seq(from, until) => from.asLong -> until.asLong }
}
