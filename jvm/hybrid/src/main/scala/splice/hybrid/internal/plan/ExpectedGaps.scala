// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.plan

import java.time.Instant

import splice.hybrid.HandOver
import splice.hybrid.internal.chain.{Chain, Leg}
import splice.source.log.Outlook

/** Estimate of records that are missing from both the history and the log. The estimate reads no rows. */
private[hybrid] object ExpectedGaps {

  private val Shown = 20

  /** Warning for a leg with a hand-over rule; None if no gap is expected.
    *
    * The newest file has no records that are later than the file. Retention may have removed log records, so that the
    * first remaining record is later than the newest file. Then neither the history nor the log has the removed records
    * that are later than the newest file.
    */
  def of(chain: Chain, leg: Leg, outlook: Leg => Outlook): Option[String] = {
    val history = leg.handOver.toSeq.flatMap {
      case _: HandOver.Offsets                                  => chain.history(leg)
      case _: HandOver.EventTime | _: HandOver.ModificationTime => chain.legs.takeWhile(_ != leg).lastOption.toSeq
      case _                                                    => Nil
    }
    // Files are listed only if retention has removed records.
    val removed = if (history.isEmpty) Nil else outlook(leg).logs.toSeq.filter(_._2.range.from > 0)
    val times   = if (removed.isEmpty) Nil else history.map(before => outlook(before).modified.map(_.last))
    Option.when(times.nonEmpty && times.forall(_.nonEmpty))(times.flatten.max).flatMap { newest =>
      val later = for {
        (p, log) <- removed
        first    <- log.first if first.isAfter(newest)
      } yield s"$p begins at offset ${log.range.from} of $first"
      Option.when(later.nonEmpty)(text(leg, history.map(_.name), newest, later))
    }
  }

  private def text(leg: Leg, history: Seq[String], newest: Instant, later: Seq[String]): String = {
    val more = Option.when(later.sizeIs > Shown)(s"and ${later.size - Shown} more")
    s"A gap is expected between '${history.mkString("' and '")}' and leg '${leg.name}'. The newest file was modified at $newest, and " +
      s"retention has removed later records from the log: ${(later.take(Shown) ++ more).mkString("; ")}. " +
      s"'${leg.name}.onGap' decides at the switch. Archive the missing records before the switch, if these records " +
      "exist elsewhere."
  }
}
