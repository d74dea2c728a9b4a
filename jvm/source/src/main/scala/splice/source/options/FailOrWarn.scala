// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.options

/** Policy of an option for a case that may lose or repeat rows, or that the user may not have intended. The text of the
  * option states the case, and what Splice does after a warning.
  */
sealed trait FailOrWarn extends Product with Serializable

object FailOrWarn {

  /** The query ends with an error. */
  case object Fail extends FailOrWarn

  /** Splice logs a warning, and the query continues. */
  case object Warn extends FailOrWarn

  val option: OptionType[FailOrWarn] = OptionType.choice[FailOrWarn]("fail" -> Fail, "warn" -> Warn)
}
