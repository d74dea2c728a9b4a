// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal

import java.time.{Clock, Instant, ZoneId}

/** A clock for durations: it starts with the time of another clock, and a step of that clock does not change it. Any thread.
  *
  * @param ticks
  *   nanoseconds from an arbitrary start, such as `System.nanoTime`
  */
final private[splice] class SteadyClock(of: Clock, ticks: () => Long = () => System.nanoTime()) extends Clock {

  private val (start, first) = (of.instant(), ticks())

  override def instant(): Instant = start.plusNanos(ticks() - first)

  override def getZone: ZoneId = of.getZone

  override def withZone(zone: ZoneId): Clock = new SteadyClock(of.withZone(zone), ticks)
}
