// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.handover

import java.time.{Duration, Instant}

import scala.collection.immutable.SortedMap

import splice.hybrid.HandOver
import splice.hybrid.internal.chain.Leg
import splice.hybrid.internal.errors.HandOverErrors
import splice.hybrid.internal.history.{LegOffsets, PartitionHistory}
import splice.source.StartPosition.{Configured, Offsets, Time}
import splice.source.internal.entries.Json
import splice.source.log.LogPartitions
import splice.source.{Evidence, LogPartition, OffsetRanges, StartPosition}

/** The result of a rule, its time, and its proof: one line of JSON for each value that the rule used. */
final private[splice] case class HandOverDecision(start: StartPosition, at: Instant, proof: Seq[String]) {

  /** The partitions that begin with offsets that the history lacks. */
  def fill: SortedMap[LogPartition, OffsetRanges] = start match {
    case Offsets(starts) => starts.filter(_._2.fill.nonEmpty)
    case _               => SortedMap.empty
  }
}

private[splice] object HandOverDecision {

  /** How far the end of a history may be after now: the clocks of writers and of the driver differ. */
  val ClockSkew: Duration = Duration.ofMinutes(5)

  /** Evaluates the rule of `leg`. Depends on its arguments only; `end` may run a job over the data of `before` to answer.
    *
    * @param history
    *   the offsets of the legs that an exact rule counts
    * @param log
    *   the log that `leg` reads
    * @throws SpliceException
    *   when the end of `before` says no start that would lose nothing
    */
  def decide(before: Leg, leg: Leg, end: Evidence, now: Instant)(
      history: => Seq[LegOffsets],
      log: => LogPartitions
  ): HandOverDecision = leg.handOver match {
    case None                        => HandOverDecision(Configured, now, Nil)
    case Some(_: HandOver.Offsets)   => offsets(leg, history, log, now)
    case Some(rule: HandOver.Custom) =>
      new CustomHandOver(before, leg, rule, end, now).decide(history, log.logRanges(_))
    case Some(HandOver.NowMinus(duration))         => time(leg, now.minus(duration), now, "now", now)
    case Some(HandOver.EventTime(column, overlap)) =>
      val last = end.eventTimes(column).getOrElse(throw HandOverErrors.noEventTime(before.name, leg.name, column)).last
      refuseFuture(before, leg, s"the greatest '$column'", last, now)
      time(leg, earlier(last, now).minus(overlap), now, column, last)
    case Some(HandOver.ModificationTime(overlap)) =>
      val last = end.modificationTimes.getOrElse(throw HandOverErrors.noFiles(before.name, leg.name)).last
      refuseFuture(before, leg, "the newest modification time", last, now)
      time(leg, earlier(last, now).minus(overlap), now, "modificationTime", last)
  }

  private def offsets(
      leg: Leg,
      history: Seq[LegOffsets],
      log: LogPartitions,
      now: Instant
  ): HandOverDecision = {
    val before = history.map(_.leg.name)
    val all    = PartitionHistory.of(history)
    if (all.isEmpty) throw HandOverErrors.noRows(before, leg.name)
    val table = HandOverTable(before, leg, all, log)
    HandOverDecision(Offsets(table.starts), now, table.lines)
  }

  // A log knows no time before 1970, and a history may.
  private def time(leg: Leg, start: Instant, now: Instant, what: String, found: Instant): HandOverDecision =
    HandOverDecision(
      Time(math.max(start.toEpochMilli, 0L), leg.onGap),
      now,
      Seq(Json.write(Json.obj("found" -> Json.text(found.toString), "what" -> Json.text(what))))
    )

  private def refuseFuture(before: Leg, leg: Leg, what: String, found: Instant, now: Instant): Unit =
    if (found.isAfter(now.plus(ClockSkew))) throw HandOverErrors.endInFuture(before.name, leg.name, what, found, now)

  // A start after now skips the records that are written until then.
  private def earlier(a: Instant, b: Instant): Instant = if (a.isBefore(b)) a else b
}
