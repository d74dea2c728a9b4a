// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.options

/** In which order files are read, batch after batch. Within one batch there is no order. */
sealed private[splice] trait FileOrder extends Product with Serializable

private[splice] object FileOrder {

  /** Oldest modification time first, then by path (default). */
  case object ModificationTime extends FileOrder

  /** By path, character by character. */
  case object Path extends FileOrder
}
