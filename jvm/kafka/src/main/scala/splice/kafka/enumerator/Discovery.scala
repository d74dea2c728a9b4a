// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import java.time.{Clock, Duration, Instant}

import splice.kafka.options.LogPolicies

/** Looks for topics and partitions, so that a trigger with nothing to do asks for ends only. */
private[splice] trait Discovery extends AutoCloseable {

  /** Looks now, and waits for the answer. */
  def now(): LogDescription

  /** What was seen since this was last asked. */
  def news(): Option[LogDescription]

  /** What [[news]] would return. Any thread may call it. */
  def pending: Option[LogDescription]

  /** How the looks so far went. */
  def health: DiscoveryHealth
}

/** How looking for topics went so far.
  *
  * @param seen
  *   when a look last succeeded
  * @param failures
  *   how many looks have failed since
  * @param failing
  *   since when looks fail, and what the last one failed with
  * @param pending
  *   the request that has not ended
  * @param started
  *   the number of requests so far
  * @param last
  *   when the last of these failures was
  * @param total
  *   how many requests have failed in this run
  */
final private[splice] case class DiscoveryHealth(
    seen: Option[Instant] = None,
    failures: Int = 0,
    failing: Option[(Instant, Throwable)] = None,
    pending: Option[PendingLook] = None,
    started: Long = 0,
    last: Option[Instant] = None,
    total: Long = 0
) {

  /** The error of requests that have failed for too long. With a patience of its own for discovery, one of them failed after that time:
    * a suspended machine sends no request meanwhile.
    */
  def over(policies: LogPolicies, now: Instant): Option[Throwable] = failing.collect {
    case (since, error)
        if policies.discoveryPatience.fold(now.isAfter(since.plus(policies.patience)))(patience =>
          last.exists(!_.isBefore(since.plus(patience)))
        ) => error
  }

  def begun(now: Instant): DiscoveryHealth = copy(pending = Some(PendingLook(started, now)), started = started + 1)

  def succeeded(now: Instant): DiscoveryHealth = DiscoveryHealth(Some(now), started = started, total = total)

  def failed(now: Instant, error: Throwable): DiscoveryHealth =
    copy(
      failures = failures + 1,
      failing = Some(failing.fold(now)(_._1) -> error),
      pending = None,
      last = Some(now),
      total = total + 1
    )

  /** How old the answer is that is relied on. */
  def age(now: Instant): Option[Duration] = seen.map(Duration.between(_, now))

  /** How long to wait until the next look: longer after every failure, up to a minute, or `interval` if that is longer. */
  def delay(interval: Duration): Duration = {
    val longest = Seq(interval, DiscoveryHealth.Longest).max
    val wanted  = interval.multipliedBy(1L << math.min(failures, 20))
    Seq(wanted, longest).min
  }
}

/** A request that has not ended, with its number and the time of its start. */
final private[splice] case class PendingLook(number: Long, since: Instant)

private[splice] object DiscoveryHealth {
  private val Longest = Duration.ofMinutes(1)
}

/** Looks when it is asked, once the interval has passed: what happens depends on the clock only, as a simulation needs it. */
final private[splice] class ClockedDiscovery(log: LogMetadata, interval: Duration, clock: Clock) extends Discovery {

  private var next = clock.instant().plus(interval)
  private var felt = DiscoveryHealth()

  override def now(): LogDescription = {
    next = clock.instant().plus(interval)
    val found = log.describe()
    felt = felt.succeeded(clock.instant())
    found
  }

  override def news(): Option[LogDescription] = if (clock.instant().isBefore(next)) None else Some(now())

  override def pending: Option[LogDescription] = if (clock.instant().isBefore(next)) None else Some(log.describe())

  override def health: DiscoveryHealth = felt

  override def close(): Unit = ()
}
