// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

import java.time.{Clock, Duration, Instant, ZoneId, ZoneOffset}

/** Clock that only a simulation changes. */
final class SimulatedClock(start: Instant) extends Clock { outer =>

  private var passed = start
  private var offset = Duration.ZERO

  /** Advances the time. */
  def advance(by: Duration): Unit = passed = passed.plus(by)

  /** Sets the wall clock forward, or back for a negative duration, without elapsed time. */
  def set(by: Duration): Unit = offset = offset.plus(by)

  /** Sum of all changes of the wall clock. */
  def ahead: Duration = offset

  /** Same clock without the changes of [[set]]. */
  object steady extends Clock {
    override def instant(): Instant            = passed
    override def getZone: ZoneId               = outer.getZone
    override def withZone(zone: ZoneId): Clock = this
  }

  override def instant(): Instant = passed.plus(offset)

  override def getZone: ZoneId = ZoneOffset.UTC

  override def withZone(zone: ZoneId): Clock = this
}
