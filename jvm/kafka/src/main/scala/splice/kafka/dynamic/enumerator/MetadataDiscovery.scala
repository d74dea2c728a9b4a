// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import java.time.{Clock, Duration, Instant}
import java.util.concurrent.atomic.AtomicReference
import java.util.concurrent.{
  ExecutionException,
  Executors,
  RejectedExecutionException,
  ScheduledExecutorService,
  TimeUnit
}

import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import splice.kafka.dynamic.{DynamicErrors, KafkaMetadataService, StreamMetadata, StreamSelection}
import splice.kafka.enumerator.DiscoveryHealth

/** Asks the metadata service on a thread of its own, again and again, less often while that fails. */
final private[dynamic] class MetadataDiscovery(
    service: KafkaMetadataService,
    selection: StreamSelection,
    interval: Duration,
    clock: Clock,
    run: String
) extends AutoCloseable {

  private val seen = new AtomicReference[Option[StreamMetadata]](None)
  private val felt = new AtomicReference(DiscoveryHealth())

  private val thread: ScheduledExecutorService = Executors.newSingleThreadScheduledExecutor { task =>
    val made = new Thread(task, s"splice-kafka-metadata-$run")
    made.setDaemon(true)
    made
  }

  private lazy val begun: Unit = again()

  /** Looks now and waits for the answer; from then on goes on looking by itself. */
  def now(): StreamMetadata =
    try {
      val found = thread.submit(() => ask()).get()
      feel(_.succeeded(clock.instant()))
      found
    } catch {
      case e: ExecutionException =>
        feel(_.failed(clock.instant(), e.getCause))
        throw e.getCause
    } finally begun

  /** Fails when a stream that is asked for by name does not exist. */
  def requireAll(found: StreamMetadata): Unit = selection match {
    case StreamSelection.Names(names) if (names -- found.streams.keySet).nonEmpty =>
      throw DynamicErrors.noStreams(names -- found.streams.keySet)
    case _ => ()
  }

  /** What was seen since this was last asked. */
  def news(): Option[StreamMetadata] = seen.getAndSet(None)

  def health: DiscoveryHealth = felt.get()

  /** How old the last answer is. */
  def age(now: Instant): Option[Duration] = health.age(now)

  def isActive(cluster: String): Boolean = service.isClusterActive(cluster)

  override def close(): Unit = {
    try { val _ = thread.submit((() => service.close()): Runnable) }
    catch { case _: RejectedExecutionException => () }
    thread.shutdown()
    if (!thread.awaitTermination(5, TimeUnit.SECONDS)) { val _ = thread.shutdownNow() }
  }

  private def ask(): StreamMetadata = selection.of(service)

  private def again(): Unit =
    try {
      val millis = math.max(health.delay(interval).toMillis, 1L)
      val _      = thread.schedule((() => look()): Runnable, millis, TimeUnit.MILLISECONDS)
    } catch { case _: RejectedExecutionException => () }

  private def look(): Unit = {
    try {
      val found = ask()
      feel(_.succeeded(clock.instant()))
      seen.set(Some(found))
    } catch {
      case _: InterruptedException          => ()
      case NonFatal(_) if thread.isShutdown => ()
      case NonFatal(e)                      =>
        feel(_.failed(clock.instant(), e))
        MetadataDiscovery.log.warn(s"The streams' metadata could not be looked up: ${e.getMessage}")
    } finally again()
  }

  private def feel(change: DiscoveryHealth => DiscoveryHealth): Unit = {
    val _ = felt.updateAndGet(before => change(before))
  }
}

private[dynamic] object MetadataDiscovery {
  private val log = LoggerFactory.getLogger(classOf[MetadataDiscovery])
}
