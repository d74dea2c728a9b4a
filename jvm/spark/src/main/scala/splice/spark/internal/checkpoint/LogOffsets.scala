// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.checkpoint

import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

import splice.source.internal.entries.Json

/** The log offsets in the JSON of a position: of a Kafka source, of a leg of a hybrid, or of one cluster of many.
  *
  * @param part
  *   keys from the position to its part, such as `legs` and `live`; empty for a Kafka source
  */
final private[spark] case class LogOffsets(part: Seq[String]) {

  import LogOffsets._

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

  /** Returns the position with other offsets, and the changes. Partitions that `offsets` does not name keep their
    * offsets. The order of keys is unchanged.
    *
    * @return
    *   the reason if `offsets` is not valid for the position
    */
  def moved(position: JsonNode, offsets: JsonNode): Either[String, (JsonNode, Seq[Change])] = {
    val copy  = position.deepCopy[JsonNode]()
    val found = find(copy)
    val steps = for {
      (topic, partitions) <- Json.fields(offsets)
      (key, offset)       <- Json.fields(partitions)
    } yield step(found, topic, key, offset)
    val failed = steps.collectFirst { case Left(reason) => reason }
    failed.orElse(Option.when(steps.isEmpty)("no topic and partition is given")).toLeft {
      copy -> steps.collect { case Right(change) if change.before != change.after => change }
    }
  }

  private def step(topics: Option[JsonNode], topic: String, key: String, offset: JsonNode): Either[String, Change] = {
    val existing = topics.flatMap(Json.field(_, topic)).collect { case node: ObjectNode => node }
    for {
      partitions <- existing.toRight(s"topic '$topic' is not in the position")
      number     <- key.toIntOption.filter(_ >= 0).toRight(s"'$key' is not a partition")
      name       <- Json.fields(partitions).map(_._1).find(same(_, key, number))
        .toRight(s"partition $key of topic '$topic' is not in the position")
      after <- Option.when(offset.isIntegralNumber && offset.canConvertToLong && offset.asLong >= 0)(offset.asLong)
        .toRight(s"$offset is not an offset; offsets are numbers from 0")
    } yield {
      val before = partitions.get(name).asLong
      val _      = partitions.put(name, after)
      Change(topic, number, before, after)
    }
  }

  // A partition with zeros has offsets of a recreated topic. Such offsets are valid for the same generation only.
  private def same(known: String, wanted: String, number: Int) =
    if (wanted.length > number.toString.length) known == wanted else known.toIntOption.contains(number)
}

private[spark] object LogOffsets {

  /** Another offset of a partition. */
  final case class Change(topic: String, partition: Int, before: Long, after: Long) {

    def json: JsonNode = Json.obj(
      "topic"     -> Json.text(topic),
      "partition" -> Json.number(partition.toLong),
      "before"    -> Json.number(before),
      "after"     -> Json.number(after)
    )
  }

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
