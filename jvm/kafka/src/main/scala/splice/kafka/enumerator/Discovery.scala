// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import java.time.{Clock, Duration}
import java.util.concurrent.atomic.AtomicReference
import java.util.concurrent.{Executors, ScheduledExecutorService, TimeUnit}

import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

/** Looks for topics and partitions, so that a trigger with nothing to do asks for ends only. */
private[splice] trait Discovery extends AutoCloseable {

  /** Looks now, and waits for the answer. */
  def now(): LogDescription

  /** What was seen since this was last asked. */
  def news(): Option[LogDescription]
}

/** Looks on a thread of its own. A look that fails is a warning: if the cluster is gone, the next question about ends says so. */
final private[splice] class BackgroundDiscovery(log: LogMetadata, interval: Duration, run: String) extends Discovery {

  private val seen = new AtomicReference[Option[LogDescription]](None)

  private val period = math.max(interval.toMillis, 1L)

  private val thread: ScheduledExecutorService = Executors.newSingleThreadScheduledExecutor { task =>
    val made = new Thread(task, s"splice-kafka-discovery-$run")
    made.setDaemon(true)
    made
  }

  // Nothing is looked for before the source is used: a leg of a chain may wait for its turn.
  private lazy val begun = thread.scheduleWithFixedDelay(() => look(), period, period, TimeUnit.MILLISECONDS)

  override def now(): LogDescription = {
    seen.set(None)
    val found = log.describe()
    val _     = begun
    found
  }

  override def news(): Option[LogDescription] = seen.getAndSet(None)

  override def close(): Unit = { val _ = thread.shutdownNow() }

  private def look(): Unit =
    try seen.set(Some(log.describe()))
    catch {
      case _: InterruptedException          => ()
      case NonFatal(_) if thread.isShutdown => ()
      case NonFatal(e) => BackgroundDiscovery.log.warn(s"Looking for new partitions failed: ${e.getMessage}")
    }
}

private[splice] object BackgroundDiscovery {
  private val log = LoggerFactory.getLogger(classOf[BackgroundDiscovery])
}

/** Looks when it is asked, once the interval has passed: what happens depends on the clock only, as a simulation needs it. */
final private[splice] class ClockedDiscovery(log: LogMetadata, interval: Duration, clock: Clock) extends Discovery {

  private var next = clock.instant().plus(interval)

  override def now(): LogDescription = {
    next = clock.instant().plus(interval)
    log.describe()
  }

  override def news(): Option[LogDescription] = if (clock.instant().isBefore(next)) None else Some(now())

  override def close(): Unit = ()
}
