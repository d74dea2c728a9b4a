// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.plan

import scala.collection.mutable
import scala.util.Using

import org.slf4j.LoggerFactory

import splice.hybrid.internal.chain.{Chain, Leg, LegEnumerators}
import splice.source.EnumeratorContext
import splice.source.log.Outlook

/** Checks the legs after the first leg at the first start of a chain. A wrong topic or a missing permission then
  * fails before the history is read.
  */
private[hybrid] object LaterLegs {

  private val logger = LoggerFactory.getLogger("splice.hybrid.internal.plan.LaterLegs")

  /** Requests the outlook of each later leg once. An expected gap or a time after now is only a warning, because the
    * policies apply at the switch.
    *
    * @param context
    *   context with a side log that is discarded
    * @throws splice.source.errors.SpliceException
    *   if a leg cannot be read
    */
  def check(chain: Chain, context: EnumeratorContext): Unit = {
    Using.resource(new LegEnumerators(chain, context)(_ => None)) { enumerators =>
      val known             = mutable.Map.empty[String, Outlook]
      def outlook(leg: Leg) = known.getOrElseUpdate(leg.name, enumerators(leg)(_.outlook()))
      val later             = chain.legs.drop(1)
      later.foreach(outlook)
      later.flatMap(ExpectedGaps.of(chain, _, outlook)).foreach(text => logger.warn(text))
      val now = context.clock.instant()
      later.flatMap(FutureTimes.of(chain, _, outlook, now)).foreach(text => logger.warn(text))
    }
  }
}
