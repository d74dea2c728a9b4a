// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.select

import splice.hybrid.internal.errors.HybridErrors
import splice.source.errors.SpliceOptionException

/** Errors about a leg's `select`. */
private[hybrid] object SelectErrors {

  private def conditions = HybridErrors.conditions

  /** Spark's parser or analyser refuses it. */
  def failed(option: String, cause: Throwable): SpliceOptionException = {
    val error = conditions.option("SPLICE_SELECT.INVALID_EXPRESSION", "option" -> option, "why" -> cause.getMessage)
    error.initCause(cause)
    error
  }

  /** It is more than a list of expressions. */
  def notAList(option: String, found: String): SpliceOptionException =
    conditions.option("SPLICE_SELECT.NOT_A_LIST", "option" -> option, "found" -> found)

  /** It holds something that does not give one row for each row, the same every time. */
  def refused(option: String, what: String, why: String): SpliceOptionException =
    conditions.option("SPLICE_SELECT.EXPRESSION_NOT_SUPPORTED", "option" -> option, "what" -> what, "why" -> why)
}
