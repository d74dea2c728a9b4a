// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.handover

import java.time.{Duration, Instant}

import scala.collection.immutable.SortedMap

import splice.hybrid.HandOver
import splice.hybrid.internal.chain.Leg
import splice.hybrid.internal.errors.HandOverErrors
import splice.hybrid.internal.history.{LegOffsets, PartitionHistory}
import splice.source.StartPosition.{Configured, Exact, Offsets, Time}
import splice.source.internal.entries.Json
import splice.source.log.LogPartitions
import splice.source.{Evidence, LogPartition, OffsetRanges, StartPosition}

/** Result of a rule, with its time and proof. The proof has one line of JSON per value that the rule used.
  *
  * @param delay
  *   delay of a watermark that a log needs after the switch; set when its source has accepted the start
  */
final private[splice] case class HandOverDecision(
    start: StartPosition,
    at: Instant,
    proof: Seq[String],
    delay: Option[SwitchDelay] = None
) {

  /** Partitions that begin with offsets that the history lacks. */
  def fill: SortedMap[LogPartition, OffsetRanges] = start match {
    case Offsets(starts) => starts.filter(_._2.fill.nonEmpty)
    case _               => SortedMap.empty
  }
}

private[splice] object HandOverDecision {

  /** Tolerated lead of the end of a history over the driver's clock. Clocks of writers and of the driver differ. */
  val ClockSkew: Duration = Duration.ofMinutes(5)

  /** Evaluates the rule of `leg`. The result depends on the arguments only. `end` may run a job over the data of
    * `before`.
    *
    * @param history
    *   offsets of the legs that an exact rule counts
    * @param log
    *   log that `leg` reads
    * @throws SpliceException
    *   if every start after the end of `before` would lose rows
    */
  def decide(before: Leg, leg: Leg, end: Evidence, now: Instant)(
      history: => Seq[LegOffsets],
      log: => LogPartitions
  ): HandOverDecision = leg.handOver match {
    case None                        => HandOverDecision(Configured, now, Nil)
    case Some(_: HandOver.Offsets)   => offsets(leg, history, log, now)
    case Some(rule: HandOver.Custom) =>
      new CustomHandOver(before, leg, rule, end, now)
        .decide(history, if (leg.source.beginsByOffsets) log.logRanges(_) else _ => SortedMap.empty)
    case Some(rule: HandOver.WriterCheckpoint) =>
      new WriterHandOver(before, leg, rule, end, now).decide(log.logRanges(_))
    case Some(HandOver.AfterVersion)                  => afterVersion(before, leg, end, now)
    case Some(HandOver.NowMinus(duration))            => time(leg, now.minus(duration), now, "now", now)
    case Some(HandOver.EventTime(column, overlap, _)) =>
      val last = end.eventTimes().getOrElse(throw HandOverErrors.noEventTime(before.name, leg.name, column)).last
      rejectFuture(before, leg, s"the greatest '$column'", last, now)
      time(leg, earlier(last, now).minus(overlap), now, column, last)
    case Some(HandOver.ModificationTime(overlap)) =>
      val last = end.modificationTimes().getOrElse(throw HandOverErrors.noFiles(before.name, leg.name)).last
      rejectFuture(before, leg, "the newest modification time", last, now)
      time(leg, earlier(last, now).minus(overlap), now, "modificationTime", last)
  }

  private def offsets(
      leg: Leg,
      history: Seq[LegOffsets],
      log: LogPartitions,
      now: Instant
  ): HandOverDecision = {
    val before = history.map(_.leg)
    val all    = PartitionHistory.of(history)
    if (all.isEmpty) throw HandOverErrors.noRows(before, leg.name)
    val table = HandOverTable(before, leg, all, log)
    HandOverDecision(Offsets(table.starts), now, table.lines)
  }

  private def afterVersion(before: Leg, leg: Leg, end: Evidence, now: Instant): HandOverDecision = {
    def missing = HandOverErrors.noVersion(before.name, leg.name, before.source.toString)
    val table   = end.table.getOrElse(throw missing)
    val start   = end.after().getOrElse(throw missing)
    val version = table.id.getOrElse("")
    if (start.hasGap)
      HandOverTable.applyOnGap(leg, HandOverErrors.versionGap(before.name, leg.name, table.name, version))
    val proof = Json.obj("version" -> Json.text(version), "position" -> Json.text(start.offset))
    HandOverDecision(Exact(start.offset), now, Seq(Json.write(proof)))
  }

  // A history may have times before 1970, but a log may not.
  private def time(leg: Leg, start: Instant, now: Instant, label: String, last: Instant): HandOverDecision =
    HandOverDecision(
      Time(math.max(start.toEpochMilli, 0L), leg.onGap),
      now,
      Seq(Json.write(Json.obj("found" -> Json.text(last.toString), "what" -> Json.text(label))))
    )

  private def rejectFuture(before: Leg, leg: Leg, label: String, last: Instant, now: Instant): Unit =
    if (last.isAfter(now.plus(ClockSkew))) throw HandOverErrors.endInFuture(before.name, leg.name, label, last, now)

  // A start after now would skip the records that are written before the start.
  private def earlier(a: Instant, b: Instant): Instant = if (a.isBefore(b)) a else b
}
