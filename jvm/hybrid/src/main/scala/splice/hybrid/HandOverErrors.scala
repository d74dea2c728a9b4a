// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import java.time.Instant

import splice.source.{OffsetSummary, SpliceException}

/** Errors of a hand-over: the history's end says no start. Nothing has been written down then, so a restart asks again. */
private[splice] object HandOverErrors {

  private def conditions = HybridErrors.conditions

  private val Shown = 5

  def noRows(before: String, leg: String): SpliceException =
    conditions.error("SPLICE_HAND_OVER.NO_ROWS", "before" -> before, "leg" -> leg)

  def holes(before: String, leg: String, partitions: Seq[OffsetSummary]): SpliceException =
    conditions.error(
      "SPLICE_HAND_OVER.HOLES",
      "before" -> before,
      "leg"    -> leg,
      "holes"  -> partitions.map(describe).mkString("; ")
    )

  def noEventTime(before: String, leg: String, column: String): SpliceException =
    conditions.error("SPLICE_HAND_OVER.NO_EVENT_TIME", "before" -> before, "leg" -> leg, "column" -> column)

  def noFiles(before: String, leg: String): SpliceException =
    conditions.error("SPLICE_HAND_OVER.NO_FILES", "before" -> before, "leg" -> leg)

  def endInFuture(before: String, leg: String, what: String, found: Instant, now: Instant): SpliceException =
    conditions.error(
      "SPLICE_HAND_OVER.END_IN_FUTURE",
      "before" -> before,
      "leg"    -> leg,
      "what"   -> what,
      "found"  -> found.toString,
      "now"    -> now.toString
    )

  private def describe(summary: OffsetSummary): String = {
    val ranges = summary.holes.take(Shown).map { case (from, until) => s"$from to ${until - 1}" }
    val more   = if (summary.holes.size > Shown) Seq("...") else Nil
    s"${summary.partition} lacks ${summary.missing} (${(ranges ++ more).mkString(", ")})"
  }
}
