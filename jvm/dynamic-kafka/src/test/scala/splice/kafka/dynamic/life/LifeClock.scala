// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life

import java.time.{Clock, Duration, Instant, ZoneId, ZoneOffset}

import splice.testkit.simulation.SimulatedClock

/** The clock for durations of a query: it passes faster the longer the query's thread waits within one call.
  *
  * Only calls of the thread that lives the life move it, so that the times of a life depend on its seed. While all
  * clusters are healthy, a response is only as late as its thread, so time passes much later.
  */
final private[dynamic] class LifeClock(clock: SimulatedClock, isHealthy: => Boolean) extends Clock {

  private val own   = Thread.currentThread
  private var calls = 0

  /** A call of the query begins. */
  def begin(): Unit = calls = 0

  override def instant(): Instant = {
    if (Thread.currentThread eq own) {
      calls += 1
      if (calls > LifeClock.Short && (calls > LifeClock.Longest || !isHealthy))
        clock.advance(Duration.ofSeconds(if (calls > LifeClock.Long) 30 else 1))
    }
    clock.steady.instant()
  }

  override def getZone: ZoneId = ZoneOffset.UTC

  override def withZone(zone: ZoneId): Clock = this
}

private object LifeClock {

  /** More than one batch needs. */
  private val Short = 60

  private val Long = 90

  private val Longest = 20000
}
