// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.errors

import splice.source.internal.ErrorConditions

/** Errors about options. */
object OptionErrors {

  private val conditions = new ErrorConditions("splice/source/error-conditions.json")

  /** `option` is needed and not there; `doc` says what it is for. */
  def missing(option: String, doc: String): SpliceOptionException =
    conditions.option("SPLICE_OPTION.MISSING", "option" -> option, "doc" -> doc)

  /** `option` holds a text that is not allowed. */
  def invalidValue(option: String, value: String, allowed: String, why: String): SpliceOptionException =
    conditions.option(
      "SPLICE_OPTION.INVALID_VALUE",
      "option"  -> option,
      "value"   -> value,
      "allowed" -> allowed,
      "why"     -> why
    )

  /** Nobody knows `option`. */
  def unknown(option: String, nearest: Option[String]): SpliceOptionException =
    conditions.option(
      "SPLICE_OPTION.UNKNOWN",
      "option"     -> option,
      "suggestion" -> nearest.fold("See the option reference.")(near => s"Did you mean '$near'?")
    )

  /** Options that exclude each other, or of which exactly one is needed. */
  def conflict(options: Seq[String], why: String): SpliceOptionException =
    conditions.option("SPLICE_OPTION.CONFLICT", "options" -> options.mkString(", "), "why" -> why)
}
