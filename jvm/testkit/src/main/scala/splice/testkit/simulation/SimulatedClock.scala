// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

import java.time.{Clock, Duration, Instant, ZoneId, ZoneOffset}

/** Time that goes on only when it is told to. */
final class SimulatedClock(start: Instant) extends Clock {

  private var now = start

  def advance(by: Duration): Unit = now = now.plus(by)

  override def instant(): Instant = now

  override def getZone: ZoneId = ZoneOffset.UTC

  override def withZone(zone: ZoneId): Clock = this
}
