// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.errors

import splice.source.errors.{SpliceException, SpliceOptionException}
import splice.source.internal.ErrorConditions

/** Errors in the structure of a chain. */
private[splice] object HybridErrors {

  private[hybrid] val conditions = new ErrorConditions("splice/hybrid/error-conditions.json")

  def legName(option: String, name: String, reason: String): SpliceOptionException =
    conditions.option("SPLICE_HYBRID.INVALID_LEG_NAME", "option" -> option, "name" -> name, "reason" -> reason)

  def unbounded(leg: String, next: String): SpliceOptionException =
    conditions.option("SPLICE_HYBRID.UNBOUNDED_LEG", "leg" -> leg, "nextLeg" -> next)

  def nested(option: String, leg: String): SpliceOptionException =
    conditions.option("SPLICE_HYBRID.NESTED_HYBRID", "option" -> option, "leg" -> leg)

  /** @param stored
    *   end of the leg when the switch was decided
    */
  def otherEnd(leg: String, next: String, stored: String, current: String): SpliceException = conditions.error(
    "SPLICE_HYBRID.OTHER_END",
    "leg"     -> leg,
    "nextLeg" -> next,
    "stored"  -> stored,
    "current" -> current
  )

  /** @param position
    *   position from which the legs are needed
    */
  def removedLeg(legs: Seq[String], position: String): SpliceException =
    conditions.error("SPLICE_HYBRID.REMOVED_LEG", "legs" -> legs.mkString("' and '"), "position" -> position)
}
