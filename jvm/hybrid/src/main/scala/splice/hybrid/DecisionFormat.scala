// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import scala.collection.immutable.SortedMap

import com.fasterxml.jackson.databind.JsonNode

import splice.source.StartPosition.{Configured, Offsets, Timestamp}
import splice.source._

/** How a rule's decision is written down: the rule and the moment, the start, then one line of proof for each thing found. */
private[splice] object DecisionFormat {

  val Version = 1

  def write(leg: Leg, decision: HandOverDecision): Seq[String] = {
    val head = Json.obj(
      "at"   -> Json.text(decision.at.toString),
      "leg"  -> Json.text(leg.name),
      "rule" -> Json.text(leg.handOver.fold("")(_.text)),
      "v"    -> Json.number(Version.toLong)
    )
    Json.write(head) +: Json.write(position(decision.start)) +: decision.proof
  }

  /** The start that was decided. What to do about a gap is not part of it: a user may come to allow one.
    *
    * @throws SpliceException
    *   when the lines are damaged, or of a newer version
    */
  def read(key: String, lines: Seq[String], onGap: OnGap): StartPosition = {
    val what = s"Side-log entry $key"
    lines match {
      case head +: start +: _ =>
        VersionedHead.read(what, head, Version)
        Json.read(start).flatMap(position(_, onGap)).getOrElse {
          throw CheckpointErrors.corrupt(what, s"'$start' is not a start")
        }
      case _ => throw CheckpointErrors.corrupt(what, "it is cut off")
    }
  }

  private def position(start: StartPosition): JsonNode = start match {
    case Configured           => Json.obj("configured" -> Json.bool(true))
    case Timestamp(millis, _) => Json.obj("timestamp" -> Json.number(millis))
    case start: Offsets       =>
      val entries = start.offsets.toSeq.map { case (p, offset) =>
        val numbers = Seq(p.partition.toLong, offset) ++ start.archived.get(p)
        Json.array(Json.text(p.topic) +: numbers.map(Json.number))
      }
      Json.obj("offsets" -> Json.array(entries))
  }

  private def position(node: JsonNode, onGap: OnGap): Option[StartPosition] = {
    def configured = Json.field(node, "configured").map(_ => Configured)
    def timestamp  = Json.field(node, "timestamp").filter(_.isIntegralNumber).map(n => Timestamp(n.asLong, onGap))
    def offsets    = Json.field(node, "offsets").map { all =>
      val entries = Json.items(all).map(Json.items).collect { case Seq(topic, partition, numbers @ _*) =>
        LogPartition(topic.asText, partition.asInt) -> numbers.map(_.asLong)
      }
      Offsets(
        SortedMap.from(entries.collect { case (p, offset +: _) => p -> offset }),
        onGap,
        SortedMap.from(entries.collect { case (p, Seq(_, archived)) => p -> archived })
      )
    }
    configured.orElse(timestamp).orElse(offsets)
  }
}
