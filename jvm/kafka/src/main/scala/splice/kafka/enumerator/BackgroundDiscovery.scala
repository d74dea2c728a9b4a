// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import java.time.{Clock, Duration}
import java.util.concurrent.atomic.AtomicReference
import java.util.concurrent.{Executors, RejectedExecutionException, ScheduledExecutorService, TimeUnit}

import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

/** Looks on a thread of its own, less often while looks fail. A look that fails is a warning: if the cluster is gone, the next
  * question about ends says so, and if it stays so for too long the query fails with it.
  */
final private[splice] class BackgroundDiscovery(log: LogMetadata, interval: Duration, clock: Clock, run: String)
    extends Discovery {

  private val seen = new AtomicReference[Option[LogDescription]](None)
  private val felt = new AtomicReference(DiscoveryHealth())

  private val thread: ScheduledExecutorService = Executors.newSingleThreadScheduledExecutor { task =>
    val made = new Thread(task, s"splice-kafka-discovery-$run")
    made.setDaemon(true)
    made
  }

  // Nothing is looked for before the source is used: a leg of a chain may wait for its turn.
  private lazy val begun: Unit = again()

  override def now(): LogDescription = {
    seen.set(None)
    val found = log.describe()
    feel(_.succeeded(clock.instant()))
    begun
    found
  }

  override def news(): Option[LogDescription] = seen.getAndSet(None)

  override def health: DiscoveryHealth = felt.get()

  override def close(): Unit = { val _ = thread.shutdownNow() }

  private def again(): Unit =
    try {
      val millis = math.max(health.delay(interval).toMillis, 1L)
      val _      = thread.schedule((() => look()): Runnable, millis, TimeUnit.MILLISECONDS)
    } catch { case _: RejectedExecutionException => () }

  private def look(): Unit = {
    try {
      val found = log.describe()
      feel(_.succeeded(clock.instant()))
      seen.set(Some(found))
    } catch {
      case _: InterruptedException          => ()
      case NonFatal(_) if thread.isShutdown => ()
      case NonFatal(e)                      =>
        feel(_.failed(clock.instant(), e))
        BackgroundDiscovery.log.warn(s"Looking for new partitions failed: ${e.getMessage}")
    } finally again()
  }

  private def feel(change: DiscoveryHealth => DiscoveryHealth): Unit = {
    val _ = felt.updateAndGet(before => change(before))
  }
}

private[splice] object BackgroundDiscovery {
  private val log = LoggerFactory.getLogger(classOf[BackgroundDiscovery])
}
