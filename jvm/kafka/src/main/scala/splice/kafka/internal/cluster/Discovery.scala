// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.cluster

import java.time.{Clock, Duration, Instant}

/** Finds topics and partitions, so that a trigger without new records requests only ends. */
private[splice] trait Discovery extends AutoCloseable {

  /** Requests topics and partitions, and waits for the response. */
  def now(): LogDescription

  /** Returns the last result that was not returned before. */
  def news(): Option[LogDescription]

  /** Returns the result that [[news]] would return. Any thread may call it. */
  def pending: Option[LogDescription]

  /** Returns the state of the requests. */
  def health: DiscoveryHealth
}

/** Discovery on a separate thread. A failed request is logged as a warning. If the cluster is unavailable, the next
  * request for ends reports the error. The query fails if the cluster remains unavailable for too long.
  */
final private[splice] class BackgroundDiscovery(log: ClusterClient, interval: Duration, clock: Clock, run: String)
    extends Discovery {

  private val poller = new BackgroundPoller(
    s"splice-kafka-discovery-$run",
    interval,
    clock,
    "The discovery of new partitions failed"
  )(log.describe())

  override def now(): LogDescription = {
    val description = poller.now()
    poller.begin
    description
  }

  override def news(): Option[LogDescription] = poller.news()

  override def pending: Option[LogDescription] = poller.pending

  override def health: DiscoveryHealth = poller.health

  override def close(): Unit = poller.close()
}

/** The state of the requests for topics.
  *
  * @param seen
  *   the time of the last successful request
  * @param failures
  *   the number of failed requests since that time
  * @param failing
  *   the time of the first failure, and the error of the last failure
  * @param pending
  *   the request that has not ended
  * @param started
  *   the number of requests in this run
  * @param last
  *   the time of the last of these failures
  * @param total
  *   the number of failed requests in this run
  */
final private[splice] case class DiscoveryHealth(
    seen: Option[Instant] = None,
    failures: Int = 0,
    failing: Option[(Instant, Throwable)] = None,
    pending: Option[PendingDiscovery] = None,
    started: Long = 0,
    last: Option[Instant] = None,
    total: Long = 0
) {

  /** The time of the first failure and the error of the last failure, if requests have failed for too long.
    *
    * The time has passed only if a request failed after that time. The interval of requests may be longer, and a
    * suspended machine sends no requests, so the clock alone is not enough.
    */
  def over(patience: Duration): Option[(Instant, Throwable)] =
    failing.filter { case (since, _) => last.exists(!_.isBefore(since.plus(patience))) }

  def begun(now: Instant): DiscoveryHealth = copy(pending = Some(PendingDiscovery(started, now)), started = started + 1)

  def succeeded(now: Instant): DiscoveryHealth = DiscoveryHealth(Some(now), started = started, total = total)

  def failed(now: Instant, error: Throwable): DiscoveryHealth =
    copy(
      failures = failures + 1,
      failing = Some(failing.fold(now)(_._1) -> error),
      pending = None,
      last = Some(now),
      total = total + 1
    )

  /** The age of the last successful response. */
  def age(now: Instant): Option[Duration] = seen.map(Duration.between(_, now))

  /** The time until the next request. After each failure, the time doubles, up to one minute. */
  def delay(interval: Duration): Duration =
    if (failures == 0) interval
    else Seq(interval.multipliedBy(1L << math.min(failures, 20)), DiscoveryHealth.Longest).min
}

/** A request that has not ended, with its number and its start time. */
final private[splice] case class PendingDiscovery(number: Long, since: Instant)

private[splice] object DiscoveryHealth {
  private val Longest = Duration.ofMinutes(1)
}
