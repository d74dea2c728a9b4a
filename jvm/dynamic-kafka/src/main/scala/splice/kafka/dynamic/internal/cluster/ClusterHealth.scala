// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import java.time.{Duration, Instant}

import splice.kafka.dynamic.internal.state.Availability
import splice.kafka.internal.errors.KafkaErrors
import splice.source.errors.SpliceException

/** The record of the requests to one cluster. Pure: each event returns the next record.
  *
  * @param failures
  *   requests that failed since the last response
  * @param failing
  *   start of the outage, and the last error if a request has failed
  * @param ended
  *   when the last request ended, or a batch last stopped waiting for it
  * @param next
  *   the earliest time of the next request
  * @param responded
  *   whether a request of this run succeeded
  * @param sent
  *   send times of the last requests that failed since then
  * @param total
  *   requests that failed in this run
  */
final private[dynamic] case class ClusterHealth(
    failures: Int = 0,
    failing: Option[(Instant, Option[Throwable])] = None,
    ended: Instant = Instant.MIN,
    next: Instant = Instant.MIN,
    responded: Boolean = false,
    sent: Seq[Instant] = Nil,
    total: Long = 0
) {

  def isGood: Boolean = failing.isEmpty

  def since: Option[Instant] = failing.map(_._1)

  def error: Option[Throwable] = failing.flatMap(_._2)

  /** Whether it is time for the next request. */
  def maySend(now: Instant): Boolean = !now.isBefore(next)

  /** Whether a batch waits for the response: an outage that a long batch or trigger has outlasted may be over. */
  def isWaitedFor(now: Instant, wait: Duration): Boolean =
    isGood || !now.isBefore(ended.plus(wait.multipliedBy(ClusterHealth.WaitShare)))

  /** Whether the cluster has not responded for a time, and a request that was sent after that time failed. */
  def isOver(timeout: Duration): Boolean =
    since.exists(first => sent.lastOption.exists(!_.isBefore(first.plus(timeout))))

  def succeeded: ClusterHealth = ClusterHealth(responded = true, total = total)

  /** Without the failures, since a cluster that is not active may be unavailable. */
  def rested: ClusterHealth = ClusterHealth(total = total)

  /** No response within the time that a batch waits. */
  def slow(now: Instant): ClusterHealth = copy(failing = failing.orElse(Some(now -> None)), ended = now)

  /** A request failed. The delay of the next one doubles with each failure. */
  def failed(requested: Instant, now: Instant, error: Throwable): ClusterHealth = {
    val (first, longest) = error match {
      // Identity providers lock an account after some failed logins.
      case e: SpliceException if KafkaErrors.isOfLogin(e) => ClusterHealth.Login
      case _                                              => ClusterHealth.Other
    }
    val wait = Duration.ofMillis(math.min(first << math.min(failures, 10), longest))
    val all  = (sent :+ requested).takeRight(Availability.Requests)
    val due  = now.plus(wait)
    ClusterHealth(failures + 1, Some(since.getOrElse(now) -> Some(error)), now, due, responded, all, total + 1)
  }

  def availability: Availability = since match {
    case Some(first)       => Availability.Unavailable(first, responded, sent)
    case None if responded => Availability.Available
    case None              => Availability.Unknown
  }
}

private[dynamic] object ClusterHealth {

  // First and longest delay in milliseconds.
  private val Other = (500L, 10000L)
  private val Login = (5000L, 300000L)

  // A batch that waits for an unavailable cluster takes 1 % longer at most.
  private val WaitShare = 100L
}
