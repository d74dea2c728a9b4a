// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.options

/** Order of files across batches. Files within one batch have no order. */
sealed trait FileOrder extends Product with Serializable

object FileOrder {

  /** Oldest modification time first, then by path (default). */
  case object ModificationTime extends FileOrder

  /** Lexicographic order of paths. */
  case object Path extends FileOrder
}
