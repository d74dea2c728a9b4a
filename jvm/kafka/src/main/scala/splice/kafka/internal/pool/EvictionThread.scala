// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.pool

import java.time.Duration
import java.util.concurrent.{Executors, ScheduledExecutorService, TimeUnit}

import splice.source.internal.DaemonThread

/** Runs work periodically on a daemon thread, which exists only from `begin` to `end`. Any thread may use it. */
final private[splice] class EvictionThread(name: String, every: Duration) {

  private var timer: Option[ScheduledExecutorService] = None

  /** Starts the thread, unless it is running. */
  def begin(work: Runnable): Unit = synchronized {
    if (timer.isEmpty) {
      val made = Executors.newSingleThreadScheduledExecutor(DaemonThread.named(name))
      made.scheduleWithFixedDelay(work, every.toMillis, every.toMillis, TimeUnit.MILLISECONDS)
      timer = Some(made)
    }
  }

  /** Ends the thread after the current work. The work itself may call this method. */
  def end(): Unit = synchronized {
    timer.foreach(_.shutdown())
    timer = None
  }
}
