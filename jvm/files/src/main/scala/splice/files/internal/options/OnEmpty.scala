// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.options

sealed private[splice] trait OnEmpty extends Product with Serializable

private[splice] object OnEmpty {

  /** The query fails before the list is persisted, so that a restart lists again. */
  case object Fail extends OnEmpty

  /** A warning is logged, and the empty list is persisted. */
  case object Warn extends OnEmpty
}
