// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.select

import splice.hybrid.internal.errors.HybridErrors
import splice.source.errors.SpliceOptionException

/** Errors about the `select` of a leg. */
private[hybrid] object SelectErrors {

  private def conditions = HybridErrors.conditions

  /** Spark's parser or analyser rejects the list. */
  def failed(option: String, cause: Throwable): SpliceOptionException = {
    val error = conditions.option("SPLICE_SELECT.INVALID_EXPRESSION", "option" -> option, "why" -> cause.getMessage)
    error.initCause(cause)
    error
  }

  /** The text is more than a list of expressions. */
  def notAList(option: String, found: String): SpliceOptionException =
    conditions.option("SPLICE_SELECT.NOT_A_LIST", "option" -> option, "found" -> found)

  /** The list has an expression that is not deterministic, or that does not produce exactly one row per row. */
  def refused(option: String, what: String, why: String): SpliceOptionException =
    conditions.option("SPLICE_SELECT.EXPRESSION_NOT_SUPPORTED", "option" -> option, "what" -> what, "why" -> why)
}
