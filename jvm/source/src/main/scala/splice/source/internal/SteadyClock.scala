// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal

import java.time.{Clock, Duration, Instant, ZoneId}
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

/** Interval of the system clock, for work on a thread that reads this clock for each row. After the clock was set back,
  * the interval has ended, so that no work waits for the previous time. Used by one thread.
  *
  * @param start
  *   time at which the interval starts. All times are in milliseconds since 1970
  */
final private[splice] class ClockInterval(length: Duration, start: Long) {

  private val millis = length.toMillis
  private var end    = start + millis

  def hasEnded(now: Long): Boolean = now >= end || end - now > millis

  def restart(now: Long): Unit = end = now + millis

  /** The milliseconds from `now` until the end, at least 1. */
  def left(now: Long): Long = math.max(math.min(end - now, millis), 1L)
}
