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
import splice.source.errors.SpliceException
import splice.source.internal.entries.Json
import splice.source.log.LogRange
import splice.source.{Evidence, LogPartition, TableVersion, TimeRange}

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
    val start = new ReturnedStart(before, leg, rule.by.toString, now).read(result, ranges)
    HandOverDecision(start, now, Seq(evidence, Json.write(Json.obj("returned" -> Json.text(result)))))
  }

  // Topics on several clusters have no offsets that belong to one log.
  private def ofLog: Seq[LegOffsets] =
    try Seq(LegOffsets(before, end.offsets()))
    catch { case _: SpliceException => Nil }
}

private[hybrid] object CustomHandOver {

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
        Option.when(held.nonEmpty)("offsets" -> Json.array(held.map(counted))) ++
        end.table.map("table" -> table(_)): _*
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

  private def table(version: TableVersion): JsonNode = Json.obj(
    Seq(
      "committed" -> Json.number(version.committed.toEpochMilli),
      "format"    -> Json.text(version.format),
      "metadata"  -> Json.obj(version.metadata.toSeq.map { case (key, value) => key -> Json.text(value) }: _*),
      "name"      -> Json.text(version.name)
    ) ++ version.id.map("id" -> Json.text(_)): _*
  )

  private def pair(from: Long, until: Long): JsonNode = Json.array(Seq(Json.number(from), Json.number(until)))
}
