// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.metadata

import java.time.{Clock, Duration, Instant}
import java.util.concurrent.{ExecutionException, TimeUnit, TimeoutException}

import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import splice.kafka.dynamic.internal.errors.{DynamicErrors, MetadataErrors}
import splice.kafka.dynamic.internal.options.StreamSelection
import splice.kafka.dynamic.{KafkaMetadataService, StreamMetadata}
import splice.kafka.internal.cluster.{BackgroundPoller, DiscoveryHealth, PendingLook}

/** Asks the metadata service, always on one thread of its own.
  *
  * @param interval
  *   how often
  * @param patience
  *   for how long it may give no answer
  * @param waits
  *   how long the query's thread waits for a response
  */
final private[dynamic] class MetadataDiscovery(
    service: KafkaMetadataService,
    selection: StreamSelection,
    interval: Duration,
    patience: Duration,
    clock: Clock,
    run: String,
    waits: MetadataDiscovery.Waits = MetadataDiscovery.Waits()
) extends AutoCloseable {

  // A request that had not ended when the last batch began, and the last one that a warning names.
  private var observed = Option.empty[PendingLook]
  private var reported = Option.empty[PendingLook]

  private val poller = new BackgroundPoller(
    s"splice-kafka-metadata-$run",
    interval,
    clock,
    "The streams' metadata could not be looked up"
  )(newest(selection.of(service)))

  // Of the discovery's thread. A stale replica of the service may respond between two batches.
  private var received = Option.empty[StreamMetadata]

  @volatile private var isTaken = false

  private def newest(found: StreamMetadata): StreamMetadata = {
    val earlier = received.filter(_ => !isTaken)
    val kept    = earlier.filter(_.generation.exists(known => found.generation.exists(_ < known)))
    isTaken = false
    received = kept.orElse(Some(found))
    kept.getOrElse(found)
  }

  /** Polls the service now and waits for the response. After that, the thread polls it every `interval`.
    *
    * @param restarts
    *   whether the checkpoint has metadata, so that the query can start without a response
    * @throws splice.source.errors.SpliceException
    *   if the service does not respond in time; a response that arrives later is not lost, since Splice polls again
    */
  def now(restarts: Boolean = false): StreamMetadata = {
    val limit = if (restarts) waits.restart else waits.start
    try poller.between(poller.now()).get(limit.toMillis, TimeUnit.MILLISECONDS)
    catch {
      case _: TimeoutException   => throw DynamicErrors.slowService(service.toString, limit, restarts)
      case e: ExecutionException =>
        poller.failed(e.getCause)
        e.getCause match {
          case NonFatal(error)                 => throw error
          case BackgroundPoller.Failure(error) =>
            throw MetadataErrors.unavailable(service.toString, error.toString, Some(error))
          case error => throw error
        }
    } finally poller.begin
  }

  /** Fails when a stream that is asked for by name does not exist. */
  def requireAll(found: StreamMetadata): Unit = selection match {
    case StreamSelection.Names(names) if (names -- found.streams.keySet).nonEmpty =>
      throw DynamicErrors.noStreams(names -- found.streams.keySet)
    case _ => ()
  }

  /** Fails when the service has given no answer for too long: its requests failed, or one of them does not end. Called once per batch. */
  def requireResponses(): Unit = {
    val (state, now) = (health, clock.instant())
    // A request that was sent before the machine was suspended may still be about to end.
    val hanging = state.pending.filter(observed.contains)
    observed = state.pending
    val noResponse = hanging.map(look => look.since -> new TimeoutException("a request has not ended"))
    (state.failing ++ noResponse).minByOption(_._1).foreach { case (since, error) =>
      if (!now.isBefore(since.plus(patience))) throw DynamicErrors.silentService(since, error)
    }
    hanging.filter(look => !now.isBefore(look.since.plus(waits.restart)) && reported != hanging).foreach { look =>
      reported = hanging
      MetadataDiscovery.log.warn(
        s"A request to $service has not ended since ${look.since}. The query continues with the last metadata until " +
          s"'metadata.failureTimeout' (${patience.toSeconds} s)."
      )
    }
  }

  /** What was seen since this was last asked. */
  def news(): Option[StreamMetadata] = {
    val found = poller.news()
    if (found.nonEmpty) isTaken = true
    found
  }

  /** What [[news]] would return. Any thread may call it. */
  def next: Option[StreamMetadata] = poller.pending

  def health: DiscoveryHealth = poller.health

  /** How old the last answer is. */
  def age(now: Instant): Option[Duration] = health.age(now)

  override def close(): Unit = close(())

  /** Cancels the request that is pending, and closes the service.
    *
    * @param others
    *   closes other objects meanwhile, on the caller's thread
    */
  def close(others: => Unit): Unit = poller.close(MetadataDiscovery.Patience)(service.close())(others)
}

private[dynamic] object MetadataDiscovery {
  private val log = LoggerFactory.getLogger(classOf[MetadataDiscovery])

  // A query stops within 5 seconds.
  private val Patience = Duration.ofMillis(4500)

  /** How long the query's thread waits for a response of the service.
    *
    * @param start
    *   at the first start of the query, which needs a response
    * @param restart
    *   at a restart, which can continue with the metadata of the checkpoint
    */
  final case class Waits(start: Duration = Duration.ofMinutes(5), restart: Duration = Duration.ofSeconds(10))
}
