// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.metadata

import java.time.{Clock, Duration, Instant}
import java.util.concurrent.{ExecutionException, TimeUnit, TimeoutException}

import scala.collection.immutable.SortedMap
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import splice.kafka.dynamic.internal.errors.{DynamicErrors, MetadataErrors}
import splice.kafka.dynamic.internal.options.StreamSelection
import splice.kafka.dynamic.{KafkaCluster, KafkaMetadataService, StreamMetadata}
import splice.source.errors.SpliceException
import splice.source.internal.polling.{BackgroundPoller, PendingPoll, PollHealth}

/** Sends requests to the metadata service, always on one separate thread.
  *
  * @param interval
  *   interval between requests
  * @param patience
  *   maximum time that the query runs without a response; an invalid document is a response
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

  // The request that was running at the start of the last batch, and the last request that a warning names.
  private var observed = Option.empty[PendingPoll]
  private var reported = Option.empty[PendingPoll]

  private val poller = new BackgroundPoller(
    s"splice-kafka-metadata-$run",
    interval,
    clock,
    "Splice could not read the metadata of the streams"
  )(request())

  // Only the discovery's thread uses this field. Between two batches, a stale replica of the service may respond.
  private var received = Option.empty[StreamMetadata]

  @volatile private var isTaken = false

  // Only the discovery thread uses this field.
  private var unknown = Set.empty[String]

  @volatile private var restored = SortedMap.empty[String, KafkaCluster]

  // Only the query's thread uses this field.
  private var invalid = Option.empty[SpliceException]

  private def request(): MetadataDiscovery.Response =
    try Right(newest(completed(selection.of(service))))
    catch {
      case MetadataErrors.InvalidMetadata(error) =>
        Left(MetadataDiscovery.Invalid(error, received.filter(_ => !isTaken)))
    }

  // A service may return only the clusters of its streams, although Splice still drains topics of other clusters.
  private def completed(metadata: StreamMetadata): StreamMetadata = {
    val unlisted = restored -- metadata.clusters.keySet
    metadata.copy(clusters = metadata.clusters ++ unlisted.flatMap { case (name, cluster) =>
      isActive(name, cluster).map(active => name -> cluster.copy(active = active))
    })
  }

  // A service may not know a cluster that was removed long ago. Its other response is valid.
  private def isActive(name: String, stored: KafkaCluster): Option[Boolean] =
    try {
      val active = service.isUnlistedActive(name)
      unknown -= name
      active
    } catch {
      case e: SpliceException =>
        if (!unknown(name)) {
          MetadataDiscovery.logger.warn(
            s"The metadata service does not return if cluster $name is active, so its last value applies: ${e.text}"
          )
          unknown += name
        }
        Some(stored.active)
    }

  private def newest(metadata: StreamMetadata): StreamMetadata = {
    val earlier = received.filter(_ => !isTaken)
    val kept    = earlier.filter(_.generation.exists(known => metadata.generation.exists(_ < known)))
    isTaken = false
    received = kept.orElse(Some(metadata))
    kept.getOrElse(metadata)
  }

  /** Polls the service now and waits for the response. After that, the thread polls the service every `interval`.
    *
    * @param stored
    *   the clusters of the checkpoint; None if the checkpoint has no metadata, so that the query cannot start without a
    *   response
    * @throws splice.source.errors.SpliceException
    *   if the service does not respond in time, or returns an invalid document. A response that arrives later is not
    *   lost, because Splice polls again
    */
  def now(stored: Option[SortedMap[String, KafkaCluster]] = None): StreamMetadata = {
    val limit = if (stored.nonEmpty) waits.restart else waits.start
    stored.foreach(restored = _)
    val response =
      try poller.between(poller.now()).get(limit.toMillis, TimeUnit.MILLISECONDS)
      catch {
        case _: TimeoutException   => throw DynamicErrors.slowService(service.toString, limit, stored.nonEmpty)
        case e: ExecutionException =>
          poller.failed(e.getCause)
          e.getCause match {
            case NonFatal(error)                 => throw error
            case BackgroundPoller.Failure(error) =>
              throw MetadataErrors.unavailable(service.toString, error.toString, Some(error))
            case error => throw error
          }
      } finally poller.begin()
    invalid = response.left.toOption.map(_.error)
    response match {
      case Right(metadata) => metadata
      case Left(rejected)  => throw rejected.error
    }
  }

  /** Fails if a selected stream name does not exist. */
  def requireAll(metadata: StreamMetadata): Unit = selection match {
    case StreamSelection.Names(names) if (names -- metadata.streams.keySet).nonEmpty =>
      throw DynamicErrors.noStreams(names -- metadata.streams.keySet)
    case _ => ()
  }

  /** Fails if the service has not responded within `patience`: its requests failed, or a request has not ended. The
    * driver calls this method once per batch.
    */
  def requireResponses(): Unit = {
    val (state, now) = (health, clock.instant())
    // A request that was sent before the machine was suspended may still end soon. Therefore the request counts only
    // if an earlier call also detected the request.
    val hanging = state.pending.filter(observed.contains)
    observed = state.pending
    val noResponse = hanging.filter(sent => !now.isBefore(sent.since.plus(patience)))
      .map(sent => sent.since -> new TimeoutException("a request has not ended"))
    (state.over(patience) ++ noResponse).minByOption(_._1).foreach { case (since, error) =>
      throw DynamicErrors.silentService(since, error)
    }
    hanging.filter(sent => !now.isBefore(sent.since.plus(waits.restart)) && reported != hanging).foreach { sent =>
      reported = hanging
      MetadataDiscovery.logger.warn(
        s"A request to $service has not ended since ${sent.since}. The query continues with the last metadata until " +
          s"'metadata.failureTimeout' (${patience.toSeconds} s)."
      )
    }
  }

  /** Returns the last valid response since the previous call; None without a new valid response. */
  def news(): Option[StreamMetadata] = poller.news().flatMap { response =>
    invalid = response.left.toOption.map(_.error)
    val metadata = MetadataDiscovery.valid(response)
    if (metadata.nonEmpty) isTaken = true
    metadata
  }

  /** Returns the error of the response before the last call of [[now]] or [[news]], if the response is not valid. The
    * query then continues with the previous metadata.
    */
  def rejected: Option[SpliceException] = invalid

  /** Returns the response that [[news]] would return, without removing it. Any thread may call this method. */
  def next: Option[StreamMetadata] = poller.pending.flatMap(MetadataDiscovery.valid)

  def health: PollHealth = poller.health

  /** Returns the age of the last response. */
  def age(now: Instant): Option[Duration] = health.age(now)

  override def close(): Unit = close(())

  /** Cancels the pending request, and closes the service.
    *
    * @param others
    *   closes other objects on the caller's thread at the same time
    */
  def close(others: => Unit): Unit = poller.close(MetadataDiscovery.Patience)(service.close())(others)
}

private[dynamic] object MetadataDiscovery {
  private val logger = LoggerFactory.getLogger(classOf[MetadataDiscovery])

  // A query must stop within 5 seconds.
  private val Patience = Duration.ofMillis(4500)

  private type Response = Either[Invalid, StreamMetadata]

  /** Response that is not valid.
    *
    * @param last
    *   the last valid response, if the query has not received it
    */
  final private case class Invalid(error: SpliceException, last: Option[StreamMetadata])

  private def valid(response: Response): Option[StreamMetadata] = response match {
    case Right(metadata) => Some(metadata)
    case Left(rejected)  => rejected.last
  }

  /** Maximum times that the query's thread waits for a response of the service.
    *
    * @param start
    *   at the first start of the query, which needs a response
    * @param restart
    *   at a restart, which can continue with the metadata of the checkpoint
    */
  final case class Waits(start: Duration = Duration.ofMinutes(5), restart: Duration = Duration.ofSeconds(10))
}
