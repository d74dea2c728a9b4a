// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.chain

/** What a leg that begins by offsets does about holes: offsets before the end of the history that no previous leg has. */
sealed private[splice] trait OnHoles extends Product with Serializable

private[splice] object OnHoles {

  /** The leg reads these offsets from the log first (default). */
  case object Fill extends OnHoles

  /** The query fails and names the holes. */
  case object Fail extends OnHoles

  /** Nothing: a compacted or transactional topic has no record at some offsets. */
  case object Ignore extends OnHoles
}
