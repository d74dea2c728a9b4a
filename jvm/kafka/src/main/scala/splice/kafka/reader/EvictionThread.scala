// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.reader

import java.time.Duration
import java.util.concurrent.{Executors, ScheduledExecutorService, TimeUnit}

import splice.source.DaemonThread

/** Does something again and again on a daemon thread, which is there only from `begin` to `end`. Used by any thread. */
final private[splice] class EvictionThread(name: String, every: Duration) {

  private var timer: Option[ScheduledExecutorService] = None

  /** Begins, unless it has begun. */
  def begin(work: Runnable): Unit = synchronized {
    if (timer.isEmpty) {
      val made = Executors.newSingleThreadScheduledExecutor(DaemonThread.named(name))
      made.scheduleWithFixedDelay(work, every.toMillis, every.toMillis, TimeUnit.MILLISECONDS)
      timer = Some(made)
    }
  }

  /** Ends after the work that is under way, which may call this itself. */
  def end(): Unit = synchronized {
    timer.foreach(_.shutdown())
    timer = None
  }
}
