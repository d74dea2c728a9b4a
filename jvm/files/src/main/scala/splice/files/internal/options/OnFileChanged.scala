// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.options

/** What happens when a file's length or modification time is not what it was when it was listed. */
sealed private[splice] trait OnFileChanged extends Product with Serializable

private[splice] object OnFileChanged {

  /** The query fails and names the file (default). */
  case object Fail extends OnFileChanged

  /** A warning is logged, and the file is read as it is now: with other content rows may be missing or come twice. */
  case object Warn extends OnFileChanged
}
