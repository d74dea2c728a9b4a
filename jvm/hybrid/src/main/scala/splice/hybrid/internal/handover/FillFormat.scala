// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.handover

import java.util.Base64

import scala.collection.immutable.SortedMap
import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode

import splice.source.internal.entries.{Json, VersionedEntry}
import splice.source.log.OffsetRuns
import splice.source.{LogPartition, OffsetRanges}

/** Side-log format of log partitions that begin with holes of a history. The line of a partition is `[topic,
  * partition, from, [[from, until], ...], held]`, where `held` is an optional bitmap.
  */
private[hybrid] object FillFormat {

  def write(fill: SortedMap[LogPartition, OffsetRanges]): Seq[String] = fill.toSeq.map { case (p, ranges) =>
    val fill = ranges.fill.map { case (from, until) => Json.array(Seq(Json.number(from), Json.number(until))) }
    Json.write(Json.array(
      Seq(Json.text(p.topic), Json.number(p.partition.toLong), Json.number(ranges.from), Json.array(fill)) ++
        ranges.held.map(held => Json.text(Base64.getEncoder.encodeToString(held.toBytes)))
    ))
  }

  /** @throws SpliceException if a line is corrupt */
  def read(entry: VersionedEntry, lines: Seq[String]): SortedMap[LogPartition, OffsetRanges] =
    SortedMap.from(lines.map { line =>
      Json.read(line).flatMap(partition).getOrElse(entry.corrupt(s"'$line' is not a partition with ranges"))
    })

  private def partition(line: JsonNode): Option[(LogPartition, OffsetRanges)] = Json.items(line) match {
    case Seq(topic, partition, from, ranges, held @ _*) if topic.isTextual && held.size <= 1 =>
      for {
        known <- numbers(Seq(partition, from))
        fill  <- all(Json.items(ranges))(range => numbers(Json.items(range)).collect { case Seq(a, b) => a -> b })
        if fill.nonEmpty && isRising(fill, known.last)
        runs <- all(held)(bitmap)
      } yield LogPartition(topic.asText, known.head.toInt) ->
        OffsetRanges(known.last, fill.toVector, runs.headOption)
    case _ => None
  }

  private def isRising(ranges: Seq[(Long, Long)], from: Long): Boolean =
    ranges.zip(ranges.drop(1).map(_._1) :+ from).forall { case ((a, b), next) => a < b && b <= next }

  private def numbers(nodes: Seq[JsonNode]): Option[Seq[Long]] =
    all(nodes)(node => Option.when(node.isIntegralNumber)(node.longValue))

  private def bitmap(node: JsonNode): Option[OffsetRuns] =
    Option.when(node.isTextual)(node.asText).flatMap(text =>
      Try(OffsetRuns.fromBytes(Base64.getDecoder.decode(text))).toOption
    )

  private def all[A, B](of: Seq[A])(read: A => Option[B]): Option[Seq[B]] = {
    val values = of.flatMap(read(_))
    Option.when(values.size == of.size)(values)
  }
}
