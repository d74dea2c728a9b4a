// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

/** When batches run. */
sealed trait SimulatedTrigger extends Product with Serializable {

  /** Whether batches go on by themselves, as asynchronous progress tracking demands. */
  def isContinual: Boolean = false

  /** Whether a time ends its batches. */
  def isTimed: Boolean = false
}

object SimulatedTrigger {

  /** A number of triggers, then a stop. */
  final case class ProcessingTime(triggers: Int) extends SimulatedTrigger {
    override def isContinual: Boolean = true
  }

  /** All that is there at the start, in as many batches as the limits make of it. */
  case object AvailableNow extends SimulatedTrigger

  /** A number of batches that a time ends (Spark's real-time mode), then a stop. */
  final case class RealTime(batches: Int) extends SimulatedTrigger {
    override def isTimed: Boolean = true
  }

  /** One batch of all that is available. */
  case object Once extends SimulatedTrigger
}
