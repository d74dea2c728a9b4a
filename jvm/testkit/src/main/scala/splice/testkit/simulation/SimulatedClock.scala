// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

import java.time.{Clock, Duration, Instant, ZoneId, ZoneOffset}

/** A time of day that only a simulation changes. */
final class SimulatedClock(start: Instant) extends Clock { outer =>

  private var passed = start
  private var offset = Duration.ZERO

  /** Time passes. */
  def advance(by: Duration): Unit = passed = passed.plus(by)

  /** The system sets the clock forward, or back by a negative duration. No time passes. */
  def set(by: Duration): Unit = offset = offset.plus(by)

  /** The sum of these changes. */
  def ahead: Duration = offset

  /** The same clock without the changes of [[set]]. */
  object steady extends Clock {
    override def instant(): Instant            = passed
    override def getZone: ZoneId               = outer.getZone
    override def withZone(zone: ZoneId): Clock = this
  }

  override def instant(): Instant = passed.plus(offset)

  override def getZone: ZoneId = ZoneOffset.UTC

  override def withZone(zone: ZoneId): Clock = this
}
