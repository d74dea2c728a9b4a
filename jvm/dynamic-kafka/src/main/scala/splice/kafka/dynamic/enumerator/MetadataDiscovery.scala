// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import java.time.{Clock, Duration, Instant}
import java.util.concurrent.{ExecutionException, Future, RejectedExecutionException}

import splice.kafka.dynamic.{DynamicErrors, KafkaMetadataService, StreamMetadata, StreamSelection}
import splice.kafka.enumerator.{BackgroundLooks, DiscoveryHealth}

/** Asks the metadata service, always on one thread of its own.
  *
  * @param interval
  *   how often
  * @param patience
  *   for how long it may give no answer
  */
final private[dynamic] class MetadataDiscovery(
    service: KafkaMetadataService,
    selection: StreamSelection,
    interval: Duration,
    patience: Duration,
    clock: Clock,
    run: String
) extends AutoCloseable {

  private val looks = new BackgroundLooks(
    s"splice-kafka-metadata-$run",
    interval,
    clock,
    "The streams' metadata could not be looked up"
  )(selection.of(service))

  /** Looks now and waits for the answer; from then on goes on looking by itself. */
  def now(): StreamMetadata =
    try looks.between(looks.now()).get()
    catch {
      case e: ExecutionException =>
        looks.failed(e.getCause)
        throw e.getCause
    } finally looks.begin

  /** Fails when a stream that is asked for by name does not exist. */
  def requireAll(found: StreamMetadata): Unit = selection match {
    case StreamSelection.Names(names) if (names -- found.streams.keySet).nonEmpty =>
      throw DynamicErrors.noStreams(names -- found.streams.keySet)
    case _ => ()
  }

  /** Fails when the service has given no answer for too long. */
  def requireAnswers(): Unit = health.failing.foreach { case (since, error) =>
    if (!clock.instant().isBefore(since.plus(patience))) throw DynamicErrors.silentService(since, error)
  }

  /** What was seen since this was last asked. */
  def news(): Option[StreamMetadata] = looks.news()

  def health: DiscoveryHealth = looks.health

  /** How old the last answer is. */
  def age(now: Instant): Option[Duration] = health.age(now)

  def isActive(cluster: String): Boolean = service.isClusterActive(cluster)

  override def close(): Unit = {
    try { val _: Future[Unit] = looks.between(service.close()) }
    catch { case _: RejectedExecutionException => () }
    looks.close(MetadataDiscovery.Patience)
  }
}

private[dynamic] object MetadataDiscovery {
  private val Patience = Duration.ofSeconds(5)
}
