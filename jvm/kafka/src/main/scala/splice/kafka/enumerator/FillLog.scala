// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import java.util.Base64

import scala.collection.immutable.SortedMap
import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode

import splice.kafka.split.KafkaPosition
import splice.source._

/** The holes of a history that the log supplies: entries `fill-<n>`, of which the last one holds. A start that was not stored, because a run
  * was killed or because its hand-over failed, leaves an entry that a later start replaces.
  *
  * An entry has a line per partition: `[topic, partition, generation, from, [[from, until], ...], held]`, where `held` is a bitmap or absent.
  */
final private[splice] class FillLog(log: SideLog) {

  private val entries = new NumberedEntries(log, "fill")(FillLog.read)

  private var current = entries.numbers.lastOption.fold(Fills())(entries(_))

  /** The holes that are durable. */
  def known: Fills = current

  /** Stores the holes of a start, durable when this returns.
    *
    * @param start
    *   has the generations of topics
    */
  def begin(start: KafkaPosition, ranges: SortedMap[LogPartition, OffsetRanges]): Unit = {
    val holes = ranges.filter { case (p, of) => of.fill.nonEmpty && start.get(p).nonEmpty }
    val fills = Fills(holes.map { case (p, of) => (p, start.generation(p.topic)) -> new PartitionFill(of) }.toMap)
    // A driver that is killed here again and again leaves one entry.
    val lines = FillLog.lines(fills)
    if (lines != FillLog.lines(current)) {
      val _ = entries.create(VersionedEntry.write(Nil, lines))
    }
    current = fills
  }
}

private object FillLog {

  private def lines(fills: Fills): Seq[String] = fills.all.toSeq.sortBy(_._1).map { case ((p, generation), fill) =>
    line(p, generation, fill.ranges)
  }

  private def line(p: LogPartition, generation: Int, ranges: OffsetRanges): String = {
    val fill = ranges.fill.map { case (from, until) => Json.array(Seq(Json.number(from), Json.number(until))) }
    Json.write(Json.array(
      Seq(
        Json.text(p.topic),
        Json.number(p.partition.toLong),
        Json.number(generation.toLong),
        Json.number(ranges.from),
        Json.array(fill)
      ) ++ ranges.held.map(held => Json.text(Base64.getEncoder.encodeToString(held.toBytes)))
    ))
  }

  private def read(entry: VersionedEntry): Fills = Fills(entry.nodes.map { line =>
    fill(line).getOrElse(entry.corrupt(s"'${Json.write(line)}' is not a partition with ranges"))
  }.toMap)

  private def fill(line: JsonNode): Option[((LogPartition, Int), PartitionFill)] = Json.items(line) match {
    case Seq(topic, partition, generation, from, ranges, held @ _*) if topic.isTextual && held.size <= 1 =>
      for {
        known <- numbers(Seq(partition, generation, from))
        fill  <- all(Json.items(ranges))(range => numbers(Json.items(range)).collect { case Seq(a, b) => a -> b })
        if fill.nonEmpty && isRising(fill, known.last)
        runs <- all(held)(bitmap)
      } yield (LogPartition(topic.asText, known.head.toInt), known(1).toInt) ->
        new PartitionFill(OffsetRanges(known.last, fill.toVector, runs.headOption))
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
    val found = of.flatMap(read(_))
    Option.when(found.size == of.size)(found)
  }
}
