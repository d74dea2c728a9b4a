// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.plan

import java.time.Instant

import splice.hybrid.HandOver
import splice.hybrid.internal.chain.{Chain, HybridColumns, Leg}
import splice.hybrid.internal.handover.HandOverDecision
import splice.hybrid.internal.options.HandOverOptions
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

/** Check for times of a history that are later than now. A time rule would fail at the switch. The check reads no
  * rows.
  */
private[hybrid] object FutureTimes {

  /** Warning for a leg with a time rule; None if no available time of the previous leg is later than now. */
  def of(chain: Chain, leg: Leg, outlook: Leg => Outlook, now: Instant): Option[String] = for {
    rule          <- leg.handOver
    before        <- chain.legs.takeWhile(_ != leg).lastOption
    (label, last) <- latest(rule, () => outlook(before)) if last.isAfter(now.plus(HandOverDecision.ClockSkew))
  } yield s"$label in leg '${before.name}' is $last, and now is $now. The switch to leg '${leg.name}' fails with " +
    "SPLICE_HAND_OVER_DATA.END_IN_FUTURE, because all records before that time would be skipped. Correct the rows or the files, or set " +
    s"'${leg.name}.${HandOverOptions.Rule.key}' to another rule, such as '${HandOverOptions.OffsetsRule}'."

  private def latest(rule: HandOver, before: () => Outlook): Option[(String, Instant)] = rule match {
    case HandOver.EventTime(column, _, _) =>
      before().latest.collectFirst {
        case (name, last) if HybridColumns.same(name, column) => s"The greatest '$column'" -> last
      }
    case HandOver.ModificationTime(_) => before().modified.map(times => "The newest modification time" -> times.last)
    case _                            => None
  }
}
