// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.chain

/** Policy for records that the history of an exact hand-over has several times. */
sealed private[splice] trait OnDuplicates extends Product with Serializable

private[splice] object OnDuplicates {

  /** Fail the query with an error that lists the offsets (default). */
  case object Fail extends OnDuplicates

  /** Log the offsets as a warning and continue. */
  case object Warn extends OnDuplicates
}
