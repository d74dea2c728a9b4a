// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import splice.source.{ErrorConditions, SpliceOptionException}

/** Errors about how a chain is put together. */
private[splice] object HybridErrors {

  private[hybrid] val conditions = new ErrorConditions("splice/hybrid/error-conditions.json")

  def legName(option: String, name: String, why: String): SpliceOptionException =
    conditions.option("SPLICE_HYBRID.LEG_NAME", "option" -> option, "name" -> name, "why" -> why)

  def unbounded(leg: String, after: String): SpliceOptionException =
    conditions.option("SPLICE_HYBRID.UNBOUNDED_LEG", "leg" -> leg, "after" -> after)

  def nested(option: String, leg: String): SpliceOptionException =
    conditions.option("SPLICE_HYBRID.NESTED", "option" -> option, "leg" -> leg)
}
