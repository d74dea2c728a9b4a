// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.entries

/** Storage that a checkpoint may use. */
sealed private[splice] trait CheckpointStore extends Product with Serializable

private[splice] object CheckpointStore {

  /** Only storage that creates a file as a whole, and only if the file does not exist. */
  case object Atomic extends CheckpointStore

  /** Any storage. Two drivers on one checkpoint may overwrite each other's entries. */
  case object Unsafe extends CheckpointStore
}
