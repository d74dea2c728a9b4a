// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

/** Trigger of batches. */
sealed trait SimulatedTrigger extends Product with Serializable {

  /** True if batches run continuously, which asynchronous progress tracking requires. */
  def isContinual: Boolean = false

  /** True for real-time batches, which end at a time. */
  def isTimed: Boolean = false
}

object SimulatedTrigger {

  /** Number of triggers, then a stop. */
  final case class ProcessingTime(triggers: Int) extends SimulatedTrigger {
    override def isContinual: Boolean = true
  }

  /** All data that is available at the start, in batches within the limits. */
  case object AvailableNow extends SimulatedTrigger

  /** Number of batches in Spark's real-time mode, then a stop. */
  final case class RealTime(batches: Int) extends SimulatedTrigger {
    override def isContinual: Boolean = true
    override def isTimed: Boolean     = true
  }

  /** Number of steps of the epoch thread in Spark's continuous mode, then a stop. */
  final case class Continuous(steps: Int) extends SimulatedTrigger

  /** One batch with all available data. */
  case object Once extends SimulatedTrigger

  /** One bounded read instead of a stream. */
  case object Bounded extends SimulatedTrigger
}
