// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.runtime

/** Whether a source comes to an end by itself (FLIP-27). */
sealed trait Boundedness extends Product with Serializable

object Boundedness {

  /** The source ends: every leg of a hybrid but the last must be bounded. */
  case object Bounded extends Boundedness

  /** The source goes on for as long as the query runs. */
  case object ContinuousUnbounded extends Boundedness
}
