// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.checkpoint

import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode

import splice.source.internal.entries.Json

/** File `offsets/<n>` of a checkpoint: the version, the metadata of the batch, and one line per source.
  *
  * In version 1, the number of a source is the number of its line. In later versions, a line begins with the name of its
  * source.
  */
final private[spark] case class OffsetFile(lines: Seq[String]) {

  import OffsetFile._

  private def isNumbered = lines.headOption.contains("v1")

  /** True for an epoch of continuous mode. Spark logs no metadata for an epoch. */
  def isEpoch: Boolean = lines.lift(1).exists(_.isBlank)

  /** True if the file has a version, metadata and one line per source. */
  def isComplete: Boolean = lines.headOption.exists(_.matches("v\\d+")) && lines.size > Head

  /** Names of the sources in their order. */
  def sources: Seq[String] = lines.drop(Head).zipWithIndex.map { case (line, number) =>
    if (isNumbered) number.toString else line.takeWhile(_ != ':')
  }

  /** Returns the offset of a source. None if the source is unknown, or if the source had no offset in the batch. */
  def position(source: String): Option[String] = {
    val index = sources.indexOf(source)
    Option.when(index >= 0)(lines(Head + index).drop(prefix(source).length)).filter(_ != Nothing)
  }

  private def prefix(source: String) = if (isNumbered) "" else s"$source:"
}

private[spark] object OffsetFile {

  // The number of lines before the offsets: the version, and the metadata of the batch.
  private val Head = 2

  // The text of the offset log for a source from which a batch reads nothing.
  private val Nothing = "-"

  def read(text: String): OffsetFile = OffsetFile(text.linesIterator.toSeq)
}

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
