// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.plan

import java.time.{Duration, Instant}

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
  def of(chain: Chain, leg: Leg, outlook: Leg => Outlook): Option[String] =
    found(chain, leg, outlook)(_.isAfter(_)) { (history, newest, logs) =>
      s"A gap is expected between $history and leg '${leg.name}'. The newest file was modified at $newest, and " +
        s"retention has removed later records from the log: $logs. '${leg.name}.onGap' decides at the switch. Archive " +
        "the missing records before the switch, if these records exist elsewhere."
    }

  /** Warning for a leg if a gap is near, and none exists yet: the time from the first record of a partition to the
    * newest file is less than a quarter of the age of this record. Less than a quarter of the retention is then left.
    */
  def near(chain: Chain, leg: Leg, outlook: Leg => Outlook, now: Instant): Option[String] = {
    def isNear(first: Instant, newest: Instant) =
      Duration.between(first, newest).multipliedBy(4).compareTo(Duration.between(first, now)) < 0
    found(chain, leg, outlook)(isNear) { (history, newest, logs) =>
      s"A gap between $history and leg '${leg.name}' is near. The newest file was modified at $newest, and retention " +
        s"has removed most of the earlier records from the log: $logs. Increase the retention of the log until the " +
        "switch."
    }
  }

  /** @param isLate
    *   compares the time of the first record of a partition with the time of the newest file
    * @param text
    *   receives the legs of the history, the time of the newest file, and the found partitions
    */
  private def found(chain: Chain, leg: Leg, outlook: Leg => Outlook)(isLate: (Instant, Instant) => Boolean)(
      text: (String, Instant, String) => String
  ): Option[String] = {
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
        first    <- log.first if isLate(first, newest)
      } yield s"$p begins at offset ${log.range.from} of $first"
      val more = Option.when(later.sizeIs > Shown)(s"and ${later.size - Shown} more")
      Option.when(later.nonEmpty)(
        text(history.map(_.name).mkString("'", "' and '", "'"), newest, (later.take(Shown) ++ more).mkString("; "))
      )
    }
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
