// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import com.fasterxml.jackson.databind.JsonNode

import splice.source._

/** Text of the offsets that a leg ended with: the leg, then one line per log partition. */
private[splice] object TallyFormat {

  val Version = 1

  def write(leg: Leg, held: Seq[OffsetSummary]): Seq[String] =
    Json.write(Json.obj("leg" -> Json.text(leg.name), "v" -> Json.number(Version.toLong))) +:
      held.sortBy(_.partition).map { s =>
        val numbers = Seq(s.partition.partition.toLong, s.first, s.last, s.count, s.rows).map(Json.number)
        Json.write(Json.array((Json.text(s.partition.topic) +: numbers) ++ Seq(ranges(s.holes), ranges(s.repeated))))
      }

  /** @throws SpliceException when the lines are damaged, or of a newer version */
  def read(key: String, lines: Seq[String]): Seq[OffsetSummary] = {
    val what = s"Side-log entry $key"
    VersionedHead.read(what, lines.headOption.getOrElse(""), Version)
    lines.drop(1).map { line =>
      Json.read(line).flatMap(summary).getOrElse {
        throw CheckpointErrors.corrupt(what, s"'$line' is not a summary of offsets")
      }
    }
  }

  private def summary(node: JsonNode): Option[OffsetSummary] = Json.items(node) match {
    case Seq(topic, partition, first, last, count, rows, holes, repeated) =>
      Some(
        OffsetSummary(
          LogPartition(topic.asText, partition.asInt),
          first.asLong,
          last.asLong,
          count.asLong,
          ranges(holes),
          rows.asLong,
          ranges(repeated)
        )
      )
    case _ => None
  }

  private def ranges(all: Seq[(Long, Long)]): JsonNode =
    Json.array(all.map { case (from, until) => Json.array(Seq(Json.number(from), Json.number(until))) })

  private def ranges(node: JsonNode): Seq[(Long, Long)] =
    Json.items(node).map(Json.items).collect { case Seq(from, until) => from.asLong -> until.asLong }
}
