// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.options

/** Order of files across batches. Files within one batch have no order. */
sealed private[splice] trait FileOrder extends Product with Serializable

private[splice] object FileOrder {

  /** Oldest modification time first, then by path (default). */
  case object ModificationTime extends FileOrder

  /** Lexicographic order of paths. */
  case object Path extends FileOrder
}
