// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.tally

import java.time.Instant
import java.util.Base64

import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode

import splice.hybrid.internal.counting.CountedColumns
import splice.hybrid.internal.options.LogColumnsOption
import splice.source.internal.entries.{Json, VersionedEntry}
import splice.source.log.{Coverage, OffsetRuns}
import splice.source.{LogPartition, OffsetSummary, TimeRange}

/** Side-log format of a tally: the counted extents in the head, then one line per log partition.
  *
  * A line has the offsets as the base64 text of [[OffsetRuns]]. The line of a log also has the range that was read.
  */
private[splice] object TallyFormat {

  def write(
      tally: Tally,
      covered: Coverage,
      counted: Iterable[(LogPartition, OffsetRuns)],
      ofLog: Seq[OffsetSummary]
  ): Seq[String] = {
    val head = Seq(
      tally.columns.offsets.map(c => "columns" -> LogColumnsOption.json(c)),
      Some("covered" -> covered.json),
      tally.end.map(at => "end" -> Json.text(at)),
      Option.when(tally.columns.areFound)("found" -> Json.bool(true)),
      Some("invalid"                              -> Json.array(tally.invalid.map(Json.number))),
      tally.columns.time.map(name => "time" -> Json.text(name)),
      tally.times.map(range => "times" -> texts(Seq(range.first.toString, range.last.toString)))
    ).flatten
    val ranges = ofLog.map(log => line(log.partition, log.offsets, "range" -> numbers(Seq(log.from, log.until))))
    val runs   = counted.map { case (of, held) => line(of, held) }
    VersionedEntry.write(head, ranges ++ runs)
  }

  /** @throws SpliceException if the entry is corrupt */
  def read(entry: VersionedEntry): Tally = {
    val columns = entry.find("columns").map { node =>
      LogColumnsOption.read(LogColumnsOption.needed(node)).fold(
        why => entry.corrupt(s"'columns' is '$node': $why"),
        identity
      )
    }
    val times = entry.find("times").map(strings).map { texts =>
      Try(texts.map(Instant.parse)).toOption.collect { case Seq(first, last) => TimeRange(first, last) }
        .getOrElse(entry.corrupt(s"'$texts' are not a minimum and a maximum time"))
    }
    val covered             = entry("covered")
    def bad(line: JsonNode) = entry.corrupt(s"'$line' does not contain offsets")
    val lines               = entry.nodes.map(line => held(line).getOrElse(bad(line)))
    Tally.stored(
      CountedColumns(columns, entry.find("time").map(_.asText), entry.find("found").exists(_.asBoolean)),
      Coverage.read(covered).getOrElse(entry.corrupt(s"'$covered' is not a set of extents")),
      lines.collect { case (of, Right(runs)) => of -> runs },
      lines.collect { case (_, Left(range)) => range },
      Json.items(entry("invalid")).map(_.asLong),
      times,
      entry.find("end").map(_.asText)
    )
  }

  private def line(of: LogPartition, offsets: OffsetRuns, more: (String, JsonNode)*): String = Json.write(Json.obj(
    Seq(
      "offsets"   -> Json.text(Base64.getEncoder.encodeToString(offsets.toBytes)),
      "partition" -> Json.number(of.partition.toLong)
    ) ++ more :+ ("topic" -> Json.text(of.topic)): _*
  ))

  private def held(line: JsonNode): Option[(LogPartition, Either[OffsetSummary, OffsetRuns])] = for {
    topic     <- Json.field(line, "topic").filter(_.isTextual).map(_.asText)
    partition <- Json.field(line, "partition").filter(_.isInt).map(_.asInt)
    of = LogPartition(topic, partition)
    text <- Json.field(line, "offsets").filter(_.isTextual).map(_.asText)
    runs <- Try(OffsetRuns.fromBytes(Base64.getDecoder.decode(text))).toOption
    held <- Json.field(line, "range").fold(Option[Either[OffsetSummary, OffsetRuns]](Right(runs)))(range(of, runs, _))
  } yield of -> held

  private def range(of: LogPartition, runs: OffsetRuns, node: JsonNode): Option[Either[OffsetSummary, OffsetRuns]] =
    Json.items(node).map(_.asLong) match {
      case Seq(from, until) => Some(Left(OffsetSummary(of, runs, from, until)))
      case _                => None
    }

  private def strings(node: JsonNode): Seq[String] = Json.items(node).map(_.asText)

  private def texts(all: Seq[String]): JsonNode = Json.array(all.map(Json.text))

  private def numbers(all: Seq[Long]): JsonNode = Json.array(all.map(Json.number))
}
