// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import java.time.Instant

import scala.collection.immutable.SortedMap

import org.slf4j.LoggerFactory

import splice.source.StartPosition.{Configured, Offsets, Timestamp}
import splice.source._

/** What a rule came to, when, and what it was made from: one line of proof for each thing found. */
final private[splice] case class HandOverDecision(start: StartPosition, at: Instant, proof: Seq[String])

private[splice] object HandOverDecision {

  private val logger = LoggerFactory.getLogger(classOf[HandOverDecision])

  /** Evaluates the rule of `leg`. Depends on its arguments only; `end` may run a job over the data of `before` to answer.
    *
    * @param history
    *   the offsets of the legs that an exact rule counts
    * @throws SpliceException
    *   when the end of `before` says no start that would lose nothing
    */
  def decide(before: Leg, leg: Leg, end: EndState, now: Instant)(
      history: => Seq[LegOffsets]
  ): HandOverDecision = leg.handOver match {
    case None                                      => HandOverDecision(Configured, now, Nil)
    case Some(rule: HandOver.Offsets)              => offsets(leg, rule, history, now)
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

  private def offsets(leg: Leg, rule: HandOver.Offsets, history: Seq[LegOffsets], now: Instant): HandOverDecision = {
    val before = history.map(_.leg.name)
    val all    = PartitionHistory.of(history)
    if (all.isEmpty) throw HandOverErrors.noRows(before, leg.name)
    val repeated = all.flatMap(_.duplicates)
    if (repeated.nonEmpty) failOrWarn(leg.onDuplicates, HandOverErrors.duplicates(before, leg.name, repeated))
    val holed = all.filter(_.missing > 0)
    if (holed.nonEmpty && !rule.allowHoles) throw HandOverErrors.holes(before, leg.name, holed)
    val archived = all.flatMap(h => h.archived.map(h.partition -> _))
    HandOverDecision(
      Offsets(SortedMap.from(all.map(h => h.partition -> h.next)), leg.onGap, SortedMap.from(archived)),
      now,
      all.map(_.proof)
    )
  }

  private def failOrWarn(policy: OnDuplicates, error: SpliceException): Unit = policy match {
    case OnDuplicates.Fail => throw error
    case OnDuplicates.Warn => logger.warn(error.getMessage)
  }

  // A log knows no time before 1970, and a history may.
  private def time(leg: Leg, start: Instant, now: Instant, proof: String): HandOverDecision =
    HandOverDecision(Timestamp(math.max(start.toEpochMilli, 0L), leg.onGap), now, Seq(proof))

  private def refuseFuture(before: Leg, leg: Leg, what: String, found: Instant, now: Instant): Unit =
    if (found.isAfter(now)) throw HandOverErrors.endInFuture(before.name, leg.name, what, found, now)
}
