// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.split

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.collection.mutable

import com.fasterxml.jackson.databind.JsonNode

import splice.source.LogPartition
import splice.source.internal.entries.Json

/** Values per partition in the JSON of Spark's Kafka source: `{"orders":{"0":5,"1":7}}`. */
private[splice] object PartitionJson {

  /** Returns the offset as one line of JSON. Topics and partitions have the order of Spark's source, which is the order
    * of Scala's mutable hash maps.
    *
    * Spark starts a batch if the text of an offset changes. With another order, a query that changes its source would
    * have one empty batch. The JSON is written without a library, because each batch writes the offsets of all
    * partitions.
    *
    * @param generations
    *   the number of zeros before the numbers of a topic's partitions; 0 if not specified
    */
  def write(values: SortedMap[LogPartition, Long], generations: Map[String, Int] = Map.empty): String = {
    val topics = mutable.HashMap.empty[String, String]
    val rest   = values.iterator.buffered
    while (rest.hasNext) {
      val topic = rest.head._1.topic
      val pairs = mutable.ArrayBuffer.empty[(Int, Long)]
      while (rest.headOption.exists(_._1.topic == topic)) {
        val (partition, value) = rest.next()
        pairs += partition.partition -> value
      }
      val text = partitions(pairs, "0" * generations.getOrElse(topic, 0))
      // Spark's source adds a topic once per partition. A second addition of a key may enlarge the map and change its
      // order.
      pairs.iterator.take(2).foreach(_ => topics(topic) = text)
    }
    Json.compose(topics)
  }

  private def partitions(sorted: mutable.ArrayBuffer[(Int, Long)], zeros: String): String = {
    // A hash map of the numbers from 0 to n has the order of the numbers. For other numbers, the order depends on the
    // growth of the map.
    val ordered =
      if (sorted.last._1 == sorted.size - 1) sorted else mutable.HashMap.empty[Int, Long].addAll(sorted.iterator)
    val text = new StringBuilder(sorted.size * 16)
    ordered.foreach { case (partition, value) =>
      text.append(if (text.isEmpty) '{' else ',').append('"').append(zeros).append(partition)
      text.append("\":").append(value)
    }
    text.append('}').toString
  }

  /** The values; None if the text has another format. */
  def read(text: String): Option[SortedMap[LogPartition, Long]] =
    Json.readObject(text).flatMap(values)

  /** The values, and the generations other than 0; None if the text has another format, or a topic has two generations.
    */
  def readGenerations(text: String): Option[(SortedMap[LogPartition, Long], SortedMap[String, Int])] =
    for {
      root    <- Json.readObject(text)
      offsets <- values(root)
      zeros = Json.fields(root).map { case (topic, partitions) =>
        topic -> Json.fields(partitions).map { case (p, _) => p.length - p.toInt.toString.length }.distinct
      }
      if zeros.forall(_._2.size <= 1)
    } yield offsets -> SortedMap.from(zeros.collect { case (topic, Seq(n)) if n > 0 => topic -> n })

  private def values(root: JsonNode): Option[SortedMap[LogPartition, Long]] = {
    val values = Json.fields(root).flatMap { case (topic, partitions) =>
      if (partitions.isObject) Json.fields(partitions).map { case (p, value) => entry(topic, p, value) } else Seq(None)
    }
    if (values.contains(None)) None else Some(SortedMap.from(values.flatten))
  }

  /** The partitions of `assign`: `{"orders":[0,1]}`, or None if the text has another format or names no partition. */
  def readPartitions(text: String): Option[SortedSet[LogPartition]] =
    Json.readObject(text).flatMap { root =>
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
