// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.options

sealed private[splice] trait OnEmpty extends Product with Serializable

private[splice] object OnEmpty {

  /** Fail the query before the list is persisted. After a restart, Splice lists the files again. */
  case object Fail extends OnEmpty

  /** Log a warning and persist the empty list. */
  case object Warn extends OnEmpty
}
