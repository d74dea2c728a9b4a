// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.chain

/** Policy for holes at an exact hand-over. A hole is an offset before the end of the history that no previous leg
  * has.
  */
sealed private[splice] trait OnHoles extends Product with Serializable

private[splice] object OnHoles {

  /** Read these offsets from the log first (default). */
  case object Fill extends OnHoles

  /** Fail the query with an error that lists the holes. */
  case object Fail extends OnHoles

  /** Ignore holes. A compacted or transactional topic has no record at some offsets. */
  case object Ignore extends OnHoles
}
