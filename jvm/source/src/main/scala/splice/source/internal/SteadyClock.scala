// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal

import java.time.{Clock, Instant, ZoneId}
import java.util.concurrent.atomic.AtomicLong

/** Clock for durations. The clock starts at the time of another clock, and later changes of the other clock have no
  * effect. Any thread may use the clock.
  *
  * @param of
  *   clock that defines the start and the time zone
  * @param ticks
  *   nanoseconds since an arbitrary start, such as `System.nanoTime`
  */
final private[splice] class SteadyClock(of: Clock, ticks: () => Long = () => SteadyClock.ticks()) extends Clock {

  private val (start, first) = (of.instant(), ticks())

  override def instant(): Instant = start.plusNanos(ticks() - first)

  override def getZone: ZoneId = of.getZone

  override def withZone(zone: ZoneId): Clock = new SteadyClock(of.withZone(zone), ticks)
}

private[splice] object SteadyClock {

  private val advanced = new AtomicLong

  /** Advances all clocks of this process by nanoseconds, for tests. */
  def advance(nanos: Long): Unit = { val _ = advanced.addAndGet(nanos) }

  private def ticks(): Long = System.nanoTime() + advanced.get()
}
