// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.entries

/** The storage that a checkpoint may be on. */
sealed private[splice] trait CheckpointStore extends Product with Serializable

private[splice] object CheckpointStore {

  /** Only storage that creates a file whole, and only if it is absent. */
  case object Atomic extends CheckpointStore

  /** Any storage. Two drivers on one checkpoint may overwrite each other's entries. */
  case object Unsafe extends CheckpointStore
}
