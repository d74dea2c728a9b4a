// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.checkpoint

import com.fasterxml.jackson.databind.JsonNode

import splice.source.internal.checks.StoredOffset
import splice.source.internal.entries.Json

/** Views of a checkpoint as JSON: its state, its offsets, and differences between batches. */
private[spark] object CheckpointViews {

  /** Returns the state of the query and of each source. */
  def state(content: CheckpointContent, sources: Seq[CheckpointSource]): JsonNode = {
    def numbers(name: String, batch: Option[Long]) = batch.map(name -> Json.number(_)).toSeq
    val query                                      = content.query.map("query" -> Json.text(_)).toSeq
    val first                                      = content.offsets.headOption.map(_._1)
    Json.obj(
      query ++ numbers("first", first) ++ numbers("planned", content.planned) ++
        numbers("committed", content.committed) ++ Seq(
          "uncommitted" -> Json.array(content.uncommitted.map(Json.number)),
          "sources"     -> Json.array(sources.map(source(content, _)))
        ): _*
    )
  }

  private def source(content: CheckpointContent, source: CheckpointSource): JsonNode = {
    def end(name: String, batch: Option[Long]) =
      batch.flatMap(content.end(_, source.name)).flatMap(position).map(name -> _).toSeq
    val legs = source.chain.toSeq.flatten.filter(_.name.nonEmpty).map { leg =>
      Json.obj(
        "name"    -> Json.text(leg.name.getOrElse("")),
        "kind"    -> Json.text(leg.source),
        "removed" -> Json.bool(leg.removed)
      )
    }
    val entries = source.entries.map { entry =>
      val name    = "entry" -> Json.text(Seq(entry.scope, entry.key).filter(_.nonEmpty).mkString("/"))
      val content = entry.content.fold(
        found => Seq("damaged" -> Json.text(found.what)),
        valid => Seq("head" -> valid.head, "lines" -> Json.number(valid.lines.size.toLong))
      )
      Json.obj(name +: content: _*)
    }
    Json.obj(
      Seq("source" -> Json.text(source.name)) ++ source.kind.map("kind" -> Json.text(_)) ++
        Option.when(legs.nonEmpty)("legs" -> Json.array(legs)) ++ source.leg.map("leg" -> Json.text(_)) ++
        end("committed", content.committed) ++ end("planned", content.planned) ++
        Seq("sideLog" -> Json.bool(source.hasSideLog), "entries" -> Json.array(entries)): _*
    )
  }

  /** Returns the changes from one position to another position, for each source. */
  def difference(before: Map[String, StoredOffset], after: Map[String, StoredOffset]): JsonNode = {
    val sources = (before.keySet ++ after.keySet).toSeq.sorted.map { source =>
      def numbers(of: Map[String, StoredOffset]) =
        of.get(source).flatMap(position).fold(Map.empty[Seq[String], Long])(LogOffsets.numbers)
      val (from, until) = (numbers(before), numbers(after))
      val changes       = (from.keySet ++ until.keySet).toSeq.sortBy(_.mkString("\u0000")).collect {
        case path if from.get(path) != until.get(path) =>
          val known = from.get(path).map("before" -> Json.number(_)) ++
            until.get(path).map("after" -> Json.number(_)) ++
            from.get(path).zip(until.get(path)).map { case (a, b) => "change" -> Json.number(b - a) }
          Json.obj(("path" -> Json.array(path.map(Json.text))) +: known.toSeq: _*)
      }
      Json.obj("source" -> Json.text(source), "changes" -> Json.array(changes))
    }
    Json.obj("sources" -> Json.array(sources))
  }

  private def position(offset: StoredOffset): Option[JsonNode] = Json.read(offset.json)
}
