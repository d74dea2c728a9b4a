// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import java.time.{Duration, Instant}

import splice.kafka.dynamic.change.Availability

/** How a cluster has answered so far.
  *
  * @param failures
  *   questions that failed since the last answer
  * @param failing
  *   since when it gives no answer, and what the last question failed with, if it has failed yet
  * @param responded
  *   whether a request of this run succeeded
  * @param sent
  *   send times of the last requests that failed since then
  */
final private[dynamic] case class ClusterHealth(
    failures: Int = 0,
    failing: Option[(Instant, Option[Throwable])] = None,
    next: Instant = Instant.MIN,
    responded: Boolean = false,
    sent: Seq[Instant] = Nil
) {

  /** Whether a batch waits for it. */
  def isGood: Boolean = failing.isEmpty

  def since: Option[Instant] = failing.map(_._1)

  def error: Option[Throwable] = failing.flatMap(_._2)

  /** Whether it is time to ask again. */
  def mayAsk(now: Instant): Boolean = !now.isBefore(next)

  def answered: ClusterHealth = ClusterHealth(responded = true)

  /** No answer yet, for longer than a batch waits. */
  def slow(now: Instant): ClusterHealth = copy(failing = failing.orElse(Some(now -> None)))

  /** A question failed: the next one comes later every time, up to ten seconds. */
  def failed(asked: Instant, now: Instant, error: Throwable): ClusterHealth = {
    val wait = Duration.ofMillis(math.min(ClusterHealth.First << math.min(failures, 10), ClusterHealth.Longest))
    val all  = (sent :+ asked).takeRight(Availability.Requests)
    ClusterHealth(failures + 1, Some(since.getOrElse(now) -> Some(error)), now.plus(wait), responded, all)
  }

  def availability: Availability = since match {
    case Some(first)       => Availability.Unavailable(first, responded, sent)
    case None if responded => Availability.Available
    case None              => Availability.Unknown
  }
}

private[dynamic] object ClusterHealth {
  private val First   = 500L
  private val Longest = 10000L
}
