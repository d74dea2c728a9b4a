// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.errors

import splice.source.internal.ErrorConditions

/** Errors about options. */
object OptionErrors {

  private val conditions = ErrorConditions.OfSource

  /** Creates the error for a required option that is not set. `description` is the description of the option. */
  def missing(option: String, description: String): SpliceOptionException =
    conditions.option("SPLICE_OPTION.MISSING", "option" -> option, "description" -> description)

  /** Creates the error for a text that is not allowed. `allowed` describes the allowed texts, and `description` is the
    * description of the option.
    */
  def invalidValue(option: String, value: String, allowed: String, description: String): SpliceOptionException =
    conditions.option(
      "SPLICE_OPTION.INVALID_VALUE",
      "option"      -> option,
      "value"       -> value,
      "allowed"     -> allowed,
      "description" -> description
    )

  /** Creates the error for options that no component supports.
    *
    * @param nearest
    *   the most similar supported option
    * @param others
    *   further unknown options, each with the most similar supported option
    */
  def unknown(
      option: String,
      nearest: Option[String],
      others: Seq[(String, Option[String])] = Nil
  ): SpliceOptionException = {
    def suggestion(near: Option[String]) = near.fold("See the option reference.")(key => s"Did you mean '$key'?")
    val more = others.map { case (key, near) => s"The option '$key' is also unknown. ${suggestion(near)}" }
    conditions.option(
      "SPLICE_OPTION.UNKNOWN",
      "option"     -> option,
      "suggestion" -> (suggestion(nearest) +: more).mkString(" ")
    )
  }

  /** Creates the error for options that exclude each other, or for a group of options of which exactly one must be set.
    */
  def conflict(options: Seq[String], reason: String): SpliceOptionException =
    conditions.option("SPLICE_OPTION.CONFLICT", "options" -> options.mkString(", "), "reason" -> reason)
}
