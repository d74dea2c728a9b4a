// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.options

import scala.collection.immutable.{SortedMap, SortedSet}

import com.fasterxml.jackson.databind.JsonNode

import splice.source.{Json, LogPartition}

/** Values per partition as Spark's Kafka source writes them: `{"orders":{"0":5,"1":7}}`. */
private[splice] object PartitionJson {

  /** One line, topics and partitions sorted. Written by hand, because it is written for every batch, of every partition.
    *
    * @param generations
    *   how many zeros stand before the numbers of a topic's partitions; 0 where not said
    */
  def write(values: SortedMap[LogPartition, Long], generations: Map[String, Int] = Map.empty): String = {
    val text  = new StringBuilder(values.size * 16).append('{')
    val rest  = values.iterator.buffered
    var comma = ""
    while (rest.hasNext) {
      val topic = rest.head._1.topic
      val zeros = "0" * generations.getOrElse(topic, 0)
      text.append(comma).append(Json.write(Json.text(topic))).append(":{")
      comma = ""
      while (rest.headOption.exists(_._1.topic == topic)) {
        val (partition, value) = rest.next()
        text.append(comma).append('"').append(zeros).append(partition.partition).append("\":").append(value)
        comma = ","
      }
      text.append('}')
      comma = ","
    }
    text.append('}').toString
  }

  /** None when the text is something else. */
  def read(text: String): Option[SortedMap[LogPartition, Long]] =
    Json.read(text).filter(_.isObject).flatMap(values)

  /** Values, and generations other than 0; None when the text is something else, or a topic is of two generations. */
  def readGenerations(text: String): Option[(SortedMap[LogPartition, Long], SortedMap[String, Int])] =
    for {
      root  <- Json.read(text).filter(_.isObject)
      found <- values(root)
      zeros = Json.fields(root).map { case (topic, partitions) =>
        topic -> Json.fields(partitions).map { case (p, _) => p.length - p.toInt.toString.length }.distinct
      }
      if zeros.forall(_._2.size <= 1)
    } yield found -> SortedMap.from(zeros.collect { case (topic, Seq(n)) if n > 0 => topic -> n })

  private def values(root: JsonNode): Option[SortedMap[LogPartition, Long]] = {
    val values = Json.fields(root).flatMap { case (topic, partitions) =>
      if (partitions.isObject) Json.fields(partitions).map { case (p, value) => entry(topic, p, value) } else Seq(None)
    }
    if (values.contains(None)) None else Some(SortedMap.from(values.flatten))
  }

  /** The partitions of `assign`: `{"orders":[0,1]}`. None when the text is something else, or names no partition. */
  def readPartitions(text: String): Option[SortedSet[LogPartition]] =
    Json.read(text).filter(_.isObject).flatMap { root =>
      val partitions = Json.fields(root).flatMap {
        case (topic, list) if list.isArray => Json.items(list).map(number(_).map(LogPartition(topic, _)))
        case _                             => Seq(None)
      }
      if (partitions.isEmpty || partitions.contains(None)) None else Some(SortedSet.from(partitions.flatten))
    }

  private def entry(topic: String, partition: String, value: JsonNode): Option[(LogPartition, Long)] =
    partition.toIntOption.filter(_ >= 0 && value.isIntegralNumber).map(LogPartition(topic, _) -> value.asLong)

  private def number(node: JsonNode): Option[Int] =
    if (node.isInt && node.asInt >= 0) Some(node.asInt) else None
}
