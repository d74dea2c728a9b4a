// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.split

import scala.util.Try

import splice.kafka.split.KafkaPosition
import splice.source.{CheckpointErrors, Json}

/** A [[DynamicPosition]] as lines: a head, then one for each cluster. */
private[split] object PositionFormat {

  val Version = 1

  // By hand, since a cluster's offsets are JSON already and there may be very many.
  def write(position: DynamicPosition): Seq[String] =
    s"""{"change":${position.change},"v":$Version}""" +: position.clusters.toSeq.map { case (name, own) =>
      s"""{"cluster":${Json.write(Json.text(name))},"offsets":${own.json}}"""
    }

  /** @throws splice.source.SpliceException when the lines are damaged, or of a newer version */
  def read(key: String, lines: Seq[String]): DynamicPosition = {
    val what                 = s"Side-log entry $key"
    def corrupt(why: String) = CheckpointErrors.corrupt(what, why)
    val nodes   = lines.map(l => Json.read(l).filter(_.isObject).getOrElse(throw corrupt(s"'$l' is not JSON")))
    val head    = nodes.headOption.getOrElse(throw corrupt("it is empty"))
    val version = Json.field(head, "v").filter(_.isInt).getOrElse(throw corrupt("'v' is missing")).asInt
    if (version > Version) throw CheckpointErrors.newer(what, version, Version)
    val change   = DynamicPosition.change(head).getOrElse(throw corrupt("'change' is missing"))
    val clusters = nodes.drop(1).map { node =>
      Try(node.get("cluster").asText -> KafkaPosition.read(Json.write(node.get("offsets")))).getOrElse(
        throw corrupt("a line does not have a cluster and its offsets")
      )
    }
    DynamicPosition.of(change, clusters)
  }
}
