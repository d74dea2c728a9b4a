// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.state

import java.time.{Duration, Instant}

import scala.collection.immutable.SortedMap

import com.fasterxml.jackson.databind.JsonNode

import splice.kafka.dynamic.{StreamCutover, StreamPlace}
import splice.kafka.internal.split.KafkaPosition
import splice.source.internal.entries.Json

/** Format of a [[splice.kafka.dynamic.StreamPlace]] in a line of [[AppliedMetadataFormat]]. */
private[splice] object CutoverFormat {

  def write(place: StreamPlace): JsonNode = place match {
    case StreamPlace.Earliest             => Json.text("earliest")
    case StreamPlace.Latest               => Json.text("latest")
    case StreamCutover.At(time, lateness) =>
      Json.obj("time" -> Json.text(time.toString), "lateness" -> Json.text(lateness.toString))
    case StreamCutover.Offsets(clusters) =>
      val all = clusters.toSeq.map { case (name, offsets) => name -> Json.text(KafkaPosition(offsets).json) }
      Json.obj("offsets" -> Json.obj(all: _*))
  }

  def readPlace(node: JsonNode): StreamPlace = node.asText match {
    case "earliest" => StreamPlace.Earliest
    case "latest"   => StreamPlace.Latest
    case _          => read(node)
  }

  def read(node: JsonNode): StreamCutover = Json.field(node, "offsets").fold[StreamCutover](readTime(node)) { all =>
    StreamCutover.Offsets(SortedMap.from(Json.fields(all).map { case (name, offsets) =>
      name -> KafkaPosition.read(offsets.asText).offsets
    }))
  }

  def readTime(node: JsonNode): StreamCutover.At =
    StreamCutover.At(Instant.parse(node.get("time").asText), Duration.parse(node.get("lateness").asText))
}
