// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.runtime

/** Specifies whether a source has an end (FLIP-27). */
sealed trait Boundedness extends Product with Serializable

object Boundedness {

  /** The source has an end. Every leg of a hybrid except the last leg must be bounded. */
  case object Bounded extends Boundedness

  /** The source has no end, and provides rows as long as the query runs. */
  case object ContinuousUnbounded extends Boundedness
}
