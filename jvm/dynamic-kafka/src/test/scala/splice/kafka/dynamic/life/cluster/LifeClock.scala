// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life.cluster

import java.time.{Clock, Duration, Instant, ZoneId, ZoneOffset}

import splice.testkit.simulation.SimulatedClock

/** Clock for durations of a query. The longer the query thread waits within one call, the faster the clock advances.
  *
  * Only calls of the scenario thread advance the clock, so times depend on the seed. While all clusters are healthy, no
  * request is delayed, so the clock advances much later.
  *
  * @param time
  *   clock that returns the time; a planted fault replaces the steady clock
  * @param wait
  *   wait for the responses of the clusters
  */
final private[life] class LifeClock(clock: SimulatedClock, isHealthy: => Boolean, time: Clock, wait: LifeWait)
    extends Clock {

  private val own   = Thread.currentThread
  private var calls = 0

  /** Begins a call of the query, and resets the number of reads of the clock. */
  def begin(): Unit = calls = 0

  override def instant(): Instant = {
    if (Thread.currentThread eq own) {
      calls += 1
      if (calls > LifeClock.Short && (calls > LifeClock.Longest || !isHealthy)) {
        // A response that no fault delays arrives before the clock advances.
        wait.settle()
        clock.advance(Duration.ofSeconds(if (calls > LifeClock.Long) 30 else 1))
      }
    }
    time.instant()
  }

  override def getZone: ZoneId = ZoneOffset.UTC

  override def withZone(zone: ZoneId): Clock = this
}

private[life] object LifeClock {

  /** Number of clock reads that exceeds the reads of one batch. */
  private val Short = 60

  private val Long = 90

  private val Longest = 20000
}
