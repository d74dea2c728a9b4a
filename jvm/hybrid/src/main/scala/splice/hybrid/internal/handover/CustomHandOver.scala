// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.handover

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode

import splice.hybrid.HandOver
import splice.hybrid.internal.chain.Leg
import splice.hybrid.internal.errors.{HandOverErrors, Ranges}
import splice.hybrid.internal.history.{LegOffsets, PartitionHistory}
import splice.source.StartPosition.{Offsets, Time}
import splice.source.errors.SpliceException
import splice.source.internal.entries.Json
import splice.source.log.LogRange
import splice.source.{Evidence, LogPartition, OffsetRanges, StartPosition, TimeRange}

/** Decision of a [[HandOverRule]]: passes the evidence to the rule and validates the returned start. */
final private[hybrid] class CustomHandOver(before: Leg, leg: Leg, rule: HandOver.Custom, end: Evidence, now: Instant) {

  private type Log = SortedMap[LogPartition, LogRange]

  /** @param history
    *   offsets of the legs that are counted for the rule
    * @throws SpliceException
    *   if the rule fails or returns an invalid start
    */
  def decide(history: Seq[LegOffsets], log: SortedMap[LogPartition, Long] => Log): HandOverDecision = {
    val held     = PartitionHistory.of(if (history.isEmpty && before.source.readsLog) ofLog else history)
    val ranges   = log(SortedMap.from(held.map(h => h.partition -> h.until)))
    val evidence = Json.write(CustomHandOver.evidence(before, leg, rule, end, now, held, ranges))
    val result   =
      try Option(rule.by.load().start(evidence)).getOrElse("")
      catch { case NonFatal(e) => throw HandOverErrors.ruleFailed(before.name, leg.name, rule.by.toString, e) }
    val start = read(result, ranges)
    HandOverDecision(start, now, Seq(evidence, Json.write(Json.obj("returned" -> Json.text(result)))))
  }

  // Topics on several clusters have no offsets that belong to one log.
  private def ofLog: Seq[LegOffsets] =
    try Seq(LegOffsets(before, end.offsets()))
    catch { case _: SpliceException => Nil }

  private def read(result: String, log: Log): StartPosition = {
    def invalid(why: String) = HandOverErrors.invalidStart(before.name, leg.name, rule.by.toString, result, why)
    Json.read(result).map(Json.fields) match {
      case Some(Seq("timestamp" -> time)) =>
        Time(millis(time).fold(why => throw invalid(why), identity), leg.onGap)
      case Some(Seq("offsets" -> topics)) =>
        offsets(partitions(topics).fold(why => throw invalid(why), identity), log, invalid)
      case _ => throw invalid("the result must be a JSON object with either 'offsets' or 'timestamp'")
    }
  }

  private def millis(time: JsonNode): Either[String, Long] =
    if (!time.isIntegralNumber || !time.canConvertToLong || time.asLong < 0)
      Left(s"'timestamp' is ${Json.write(time)}, and must be milliseconds since 1970-01-01T00:00:00Z")
    else if (time.asLong > now.toEpochMilli)
      Left(
        s"'timestamp' is ${Instant.ofEpochMilli(time.asLong)}, after now ($now), so all rows before that time would be skipped"
      )
    else Right(time.asLong)

  private def partitions(topics: JsonNode): Either[String, Seq[(LogPartition, Long)]] = {
    val all = for {
      (topic, byPartition) <- Json.fields(topics)
      (partition, offset)  <- Json.fields(byPartition)
    } yield (topic, partition.toIntOption.filter(_ >= 0), offset)
    val isNested = topics.isObject && Json.fields(topics).forall(_._2.isObject)
    val wrong    = all.find { case (_, partition, offset) =>
      partition.isEmpty || !offset.isIntegralNumber || !offset.canConvertToLong || offset.asLong < 0
    }
    if (!isNested) Left("'offsets' must have an object of offsets by partition for each topic")
    else if (wrong.nonEmpty) Left("a partition and an offset must be whole numbers, 0 or more")
    else Right(all.collect { case (topic, Some(partition), offset) => LogPartition(topic, partition) -> offset.asLong })
  }

  private def offsets(
      starts: Seq[(LogPartition, Long)],
      log: Log,
      invalid: String => SpliceException
  ): StartPosition = {
    val unknown = starts.map(_._1).filterNot(log.contains)
    if (unknown.nonEmpty)
      throw invalid(
        s"leg '${leg.name}' does not read ${CustomHandOver.text(unknown)}; the leg reads ${CustomHandOver.text(log.keys)}"
      )
    val beyond = starts.collectFirst { case (p, offset) if offset > log(p).until => (p, offset, log(p).until) }
    beyond.foreach { case (p, offset, until) =>
      throw invalid(s"offset $offset of $p is after the end of the log, $until")
    }
    val lost = starts.collect {
      case (p, offset) if offset < log(p).from => p -> Ranges(Iterator(offset -> log(p).from))
    }
    HandOverTable.checkGap(Seq(before.name), leg, lost)
    val known = starts.toMap
    Offsets(log.map { case (p, range) => p -> OffsetRanges(math.max(known.getOrElse(p, range.from), range.from)) })
  }
}

private[hybrid] object CustomHandOver {

  private val Shown = 20

  private def evidence(
      before: Leg,
      leg: Leg,
      rule: HandOver.Custom,
      end: Evidence,
      now: Instant,
      held: Seq[PartitionHistory],
      log: SortedMap[LogPartition, LogRange]
  ): JsonNode = {
    val position = Json.read(end.position.json).getOrElse(Json.text(end.position.json))
    // A log has no files.
    val modified = if (before.source.readsLog) None else end.modificationTimes()
    Json.obj(
      Seq("ended" -> Json.obj("leg" -> Json.text(before.name), "position" -> position)) ++
        rule.time.flatMap(_ => end.eventTimes()).map("eventTimes" -> times(_)) ++
        Seq("leg" -> Json.text(leg.name), "log" -> ranges(log)) ++
        modified.map("modificationTimes" -> times(_)) ++
        Seq("now" -> Json.number(now.toEpochMilli)) ++
        Option.when(held.nonEmpty)("offsets" -> Json.array(held.map(counted))): _*
    )
  }

  private def times(range: TimeRange): JsonNode =
    Json.obj("first" -> Json.number(range.first.toEpochMilli), "last" -> Json.number(range.last.toEpochMilli))

  private def ranges(log: SortedMap[LogPartition, LogRange]): JsonNode = Json.obj(
    log.toSeq.groupBy(_._1.topic).toSeq.sortBy(_._1).map { case (topic, logs) =>
      topic -> Json.obj(logs.map { case (p, LogRange(from, until)) => p.partition.toString -> pair(from, until) }: _*)
    }: _*
  )

  private def counted(history: PartitionHistory): JsonNode = Json.obj(
    "legs" -> Json.array(history.parts.map { case (leg, held) =>
      Json.obj(
        "leg"     -> Json.text(leg.name),
        "offsets" -> Json.number(held.offsets.count),
        "range"   -> pair(held.from, held.until),
        "rows"    -> Json.number(held.offsets.rows)
      )
    }),
    "missing"   -> Ranges(history.holes(history.from, history.until)).json,
    "partition" -> Json.number(history.partition.partition.toLong),
    "repeated"  -> Ranges(history.offsets.repeated).json,
    "topic"     -> Json.text(history.partition.topic),
    "until"     -> Json.number(history.until)
  )

  private def pair(from: Long, until: Long): JsonNode = Json.array(Seq(Json.number(from), Json.number(until)))

  private def text(partitions: Iterable[LogPartition]): String = {
    val rest = partitions.size - Shown
    (partitions.take(Shown).map(_.toString) ++ Option.when(rest > 0)(s"$rest more")).mkString(", ")
  }
}
