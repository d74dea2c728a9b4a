// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import java.time.Instant

import scala.collection.immutable.SortedMap

import splice.source.StartPosition.{Configured, Offsets, Timestamp}
import splice.source._

/** What a rule came to, when, and what it was made from: one line of proof for each thing found. */
final private[splice] case class HandOverDecision(start: StartPosition, at: Instant, proof: Seq[String])

private[splice] object HandOverDecision {

  /** Asks the rule of `leg`. Depends on its arguments only; `end` may run a job over the data of `before` to answer.
    *
    * @throws SpliceException
    *   when the end of `before` says no start that would lose nothing
    */
  def decide(before: Leg, leg: Leg, end: EndState, now: Instant): HandOverDecision = leg.handOver match {
    case None                                      => HandOverDecision(Configured, now, Nil)
    case Some(rule: HandOver.Offsets)              => offsets(before, leg, rule, end, now)
    case Some(HandOver.NowMinus(duration))         => time(leg, now.minus(duration), now, s"now=$now")
    case Some(HandOver.EventTime(column, overlap)) =>
      val last = end.eventTimes(column).getOrElse(throw HandOverErrors.noEventTime(before.name, leg.name, column)).last
      refuseFuture(before, leg, s"the greatest '$column'", last, now)
      time(leg, last.minus(overlap), now, s"$column=$last")
    case Some(HandOver.ModificationTime(overlap)) =>
      val last = end.modificationTimes.getOrElse(throw HandOverErrors.noFiles(before.name, leg.name)).last
      refuseFuture(before, leg, "the newest modification time", last, now)
      time(leg, last.minus(overlap), now, s"modificationTime=$last")
  }

  private def offsets(before: Leg, leg: Leg, rule: HandOver.Offsets, end: EndState, now: Instant): HandOverDecision = {
    val held = end.offsets(rule.columns)
    if (held.isEmpty) throw HandOverErrors.noRows(before.name, leg.name)
    val holed = held.filter(_.missing > 0)
    if (holed.nonEmpty && !rule.allowHoles) throw HandOverErrors.holes(before.name, leg.name, holed)
    HandOverDecision(
      Offsets(SortedMap.from(held.map(s => s.partition -> (s.last + 1))), leg.onGap),
      now,
      held.sortBy(_.partition).map(s => s"${s.partition} first=${s.first} last=${s.last} count=${s.count}")
    )
  }

  // A log knows no time before 1970, and a history may.
  private def time(leg: Leg, start: Instant, now: Instant, proof: String): HandOverDecision =
    HandOverDecision(Timestamp(math.max(start.toEpochMilli, 0L), leg.onGap), now, Seq(proof))

  private def refuseFuture(before: Leg, leg: Leg, what: String, found: Instant, now: Instant): Unit =
    if (found.isAfter(now)) throw HandOverErrors.endInFuture(before.name, leg.name, what, found, now)
}
