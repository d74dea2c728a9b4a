// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import java.util.Base64

import scala.collection.immutable.SortedMap
import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode

import splice.kafka.split.KafkaPosition
import splice.source._

/** Where a log begins after a history, and the holes of the history that the log supplies: entries `fill-<n>`, of which the last one holds. A
  * start that was not stored, because a run was killed or because its hand-over failed, leaves an entry that a later start replaces.
  *
  * The first line of an entry is the start. Then comes a line per partition with holes: `[topic, partition, generation, from, [[from, until],
  * ...], held]`, where `held` is a bitmap or absent.
  */
final private[splice] class FillLog(log: SideLog) {

  private val entries = new NumberedEntries(log, "fill")(FillLog.read)

  private var current = entries.numbers.lastOption.map(entries(_))

  /** The holes that are durable. */
  def known: Fills = current.fold(Fills())(_.fills)

  /** Stores a start and its holes, durable when this returns. The result is the start that holds: that of another driver, with its holes, if
    * that driver has stored its start meanwhile.
    *
    * @param start
    *   has the generations of topics
    * @param ranges
    *   empty if the start does not depend on a history
    */
  def begin(start: KafkaPosition, ranges: SortedMap[LogPartition, OffsetRanges]): KafkaPosition =
    if (ranges.isEmpty && current.forall(_.fills.isEmpty)) start
    else {
      val holes = ranges.filter { case (p, of) => of.fill.nonEmpty && start.get(p).nonEmpty }
      val fills = Fills(holes.map { case (p, of) => (p, start.generation(p.topic)) -> new PartitionFill(of) }.toMap)
      val lines = FillLog.lines(start, fills)
      // A driver that is killed here again and again leaves one entry.
      val entry = current.filter(last => FillLog.lines(last.start, last.fills) == lines)
        .getOrElse(entries.append(VersionedEntry.write(Nil, lines)))
      current = Some(entry)
      entry.start
    }
}

private object FillLog {

  final private case class Entry(start: KafkaPosition, fills: Fills)

  private def lines(start: KafkaPosition, fills: Fills): Seq[String] =
    start.json +: fills.all.toSeq.sortBy(_._1).map { case ((p, generation), fill) => line(p, generation, fill.ranges) }

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

  private def read(entry: VersionedEntry): Entry = Entry(
    KafkaPosition.read(entry.lines.headOption.getOrElse(entry.corrupt("the start is missing"))),
    Fills(entry.lines.drop(1).map(hole(entry, _)).toMap)
  )

  private def hole(entry: VersionedEntry, line: String): ((LogPartition, Int), PartitionFill) =
    Json.read(line).flatMap(fill).getOrElse(entry.corrupt(s"'$line' is not a partition with ranges"))

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
