// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import scala.collection.immutable.SortedMap

import com.fasterxml.jackson.databind.JsonNode

import splice.source.StartPosition.{Configured, Offsets, Timestamp}
import splice.source._

/** A decision as a side-log entry: the rule, the time and the start in the head, then one line of proof for each thing found. */
private[splice] object DecisionFormat {

  def write(leg: Leg, decision: HandOverDecision): Seq[String] = VersionedEntry.write(
    Seq(
      "at"    -> Json.text(decision.at.toString),
      "rule"  -> Json.text(HandOver.text(leg.handOver)),
      "start" -> position(decision.start)
    ),
    decision.proof
  )

  /** @throws SpliceException when the entry is damaged */
  def read(entry: VersionedEntry): Decided = {
    val start = entry("start")
    // A policy is not part of the decision: a user may allow a gap later.
    def found(onGap: OnGap) = position(start, onGap).getOrElse(entry.corrupt(s"'$start' is not a start"))
    val _                   = found(OnGap.Fail)
    Decided(entry.text("at"), entry.text("rule"), found)
  }

  /** A decision that was read.
    *
    * @param at
    *   the time of the decision
    * @param rule
    *   the rule in one line
    * @param start
    *   the start, for a policy for gaps
    */
  final case class Decided(at: String, rule: String, start: OnGap => StartPosition)

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
