// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.options

/** Policy for a file whose length or modification time differs from the listing. */
sealed private[splice] trait OnFileChanged extends Product with Serializable

private[splice] object OnFileChanged {

  /** Fail the query with an error that names the file (default). */
  case object Fail extends OnFileChanged

  /** Log a warning and read the current file. If the content has changed, rows may be missing or duplicated. */
  case object Warn extends OnFileChanged
}
