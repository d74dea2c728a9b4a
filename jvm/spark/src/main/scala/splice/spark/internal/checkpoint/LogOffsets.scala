// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.checkpoint

import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode

import splice.source.internal.entries.Json

/** The log offsets in the JSON of a position: of a Kafka source, of a leg of a hybrid, or of one cluster of many.
  *
  * @param part
  *   keys from the position to its part, such as `legs` and `live`; empty for a Kafka source
  */
final private[spark] case class LogOffsets(part: Seq[String]) {

  /** Returns the offsets per topic and partition, or None if the position does not have the part. */
  def find(position: JsonNode): Option[JsonNode] =
    part.foldLeft(Option(position))((node, key) => node.flatMap(Json.field(_, key)))

  /** Returns the offsets in the format of `startingOffsets`. Positions mark a recreated topic by zeros before the
    * numbers of its partitions, and options have no such mark.
    */
  def starting(position: JsonNode): Option[JsonNode] = find(position).map { topics =>
    Json.obj(Json.fields(topics).map { case (topic, partitions) =>
      val sorted = Json.fields(partitions).map { case (key, offset) => key.toInt -> offset }.sortBy(_._1)
      topic -> Json.obj(sorted.map { case (partition, offset) => partition.toString -> offset }: _*)
    }.sortBy(_._1): _*)
  }

}

private[spark] object LogOffsets {

  // Keys of a position that name no object of the user.
  private val Frames = Set("legs", "clusters")
  private val Format = Set("v")

  /** Returns the numbers in a position by the keys that lead to them, such as leg, topic and partition. */
  def numbers(position: JsonNode): Map[Seq[String], Long] = Json.fields(position).flatMap {
    case (key, value) if Format(key) && value.isNumber => Nil
    case (key, value) if value.isObject                =>
      numbers(value).map { case (path, number) => (if (Frames(key)) path else key +: path) -> number }
    case (key, value) if value.isIntegralNumber         => Seq(Seq(key) -> value.asLong)
    case (key, value) if value.isTextual && key == "at" =>
      Seq(Seq(key) -> Try(value.asText.split("-").last.toLong).getOrElse(0L))
    case _ => Nil
  }.toMap
}
