// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.plan

import java.time.Instant

import splice.hybrid.HandOver
import splice.hybrid.internal.chain.{Chain, HybridColumns, Leg}
import splice.hybrid.internal.handover.HandOverDecision
import splice.hybrid.internal.options.HandOverOptions
import splice.source.log.Outlook

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
