// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal

import java.time.Duration

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
