// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.split

import scala.util.Try

import splice.kafka.internal.split.KafkaPosition
import splice.source.internal.entries.{Json, VersionedEntry}

/** Format of a [[DynamicPosition]]: a head line, then one line per cluster. */
private[splice] object PositionFormat {

  // The JSON is concatenated, because the offsets of a cluster are JSON text already, and a position may have many
  // offsets.
  def write(position: DynamicPosition): Seq[String] = VersionedEntry.write(
    Seq("change" -> Json.number(position.change.toLong)),
    position.clusters.toSeq.map { case (name, own) =>
      s"""{"cluster":${Json.write(Json.text(name))},"offsets":${own.json}}"""
    }
  )

  /** Parses an entry.
    *
    * @throws splice.source.errors.SpliceException
    *   if the lines are damaged
    */
  def read(entry: VersionedEntry): DynamicPosition = {
    val change   = DynamicPosition.change(entry("change")).getOrElse(entry.corrupt("'change' is not a change's number"))
    val clusters = entry.nodes.map { node =>
      Try(node.get("cluster").asText -> KafkaPosition.read(Json.write(node.get("offsets")))).getOrElse(
        entry.corrupt("a line does not have a cluster and its offsets")
      )
    }
    DynamicPosition.of(change, clusters)
  }
}
