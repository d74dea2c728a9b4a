// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.chain

/** What happens when the history before an exact hand-over holds a record several times. */
sealed private[splice] trait OnDuplicates extends Product with Serializable

private[splice] object OnDuplicates {

  /** The query fails and names the offsets (default). */
  case object Fail extends OnDuplicates

  /** The offsets are logged as a warning. */
  case object Warn extends OnDuplicates
}
