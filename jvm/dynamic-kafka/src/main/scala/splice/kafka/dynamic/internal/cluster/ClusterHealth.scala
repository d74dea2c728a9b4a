// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import java.time.{Duration, Instant}

import splice.kafka.dynamic.internal.state.Availability
import splice.kafka.internal.errors.KafkaErrors
import splice.source.errors.SpliceException

/** Record of the requests to one cluster. Immutable: each event returns the next record.
  *
  * @param failures
  *   number of failed requests since the last response
  * @param failing
  *   start of the outage, and the last error if a request has failed
  * @param ended
  *   the time at which the last request ended, or at which a batch last stopped waiting for the request
  * @param next
  *   the earliest time of the next request
  * @param responded
  *   true if a request of this run succeeded
  * @param sent
  *   send times of the last failed requests since the last response
  * @param total
  *   number of failed requests in this run
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

  /** Returns true if the next request is due. */
  def maySend(now: Instant): Boolean = !now.isBefore(next)

  /** Returns true if a batch waits for the response. A batch also waits after an outage if enough time has passed since
    * the last request, because the outage may be over.
    */
  def isWaitedFor(now: Instant, wait: Duration): Boolean =
    isGood || !now.isBefore(ended.plus(wait.multipliedBy(ClusterHealth.WaitShare)))

  /** Returns true if the cluster has not responded for `timeout`, and a request that was sent after that time failed.
    */
  def isOver(timeout: Duration): Boolean =
    since.exists(first => sent.lastOption.exists(!_.isBefore(first.plus(timeout))))

  def succeeded: ClusterHealth = ClusterHealth(responded = true, total = total)

  /** Returns the record without failures, because an inactive cluster may be unavailable. */
  def rested: ClusterHealth = ClusterHealth(total = total)

  /** Returns the record after a batch stopped waiting for a response. */
  def slow(now: Instant): ClusterHealth = copy(failing = failing.orElse(Some(now -> None)), ended = now)

  /** Returns the record after a failed request. Each failure doubles the delay of the next request. */
  def failed(requested: Instant, now: Instant, error: Throwable): ClusterHealth = {
    val (first, longest) = error match {
      // Identity providers lock an account after several failed logins.
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

  // A batch that waits for an unavailable cluster adds at most 1 % to the run time.
  private val WaitShare = 100L
}
