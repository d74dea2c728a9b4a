// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import java.time.{Duration, Instant}

/** How a cluster has answered so far.
  *
  * @param failures
  *   questions that failed since the last answer
  * @param failing
  *   since when it gives no answer, and what the last question failed with, if it has failed yet
  */
final private[dynamic] case class ClusterHealth(
    failures: Int = 0,
    failing: Option[(Instant, Option[Throwable])] = None,
    next: Instant = Instant.MIN
) {

  /** Whether a batch waits for it. */
  def isGood: Boolean = failing.isEmpty

  def since: Option[Instant] = failing.map(_._1)

  def error: Option[Throwable] = failing.flatMap(_._2)

  /** Whether it is time to ask again. */
  def mayAsk(now: Instant): Boolean = !now.isBefore(next)

  def answered: ClusterHealth = ClusterHealth()

  /** No answer yet, for longer than a batch waits. */
  def slow(asked: Instant): ClusterHealth = copy(failing = failing.orElse(Some(asked -> None)))

  /** A question failed: the next one comes later every time, up to ten seconds. */
  def failed(now: Instant, error: Throwable): ClusterHealth = {
    val wait = Duration.ofMillis(math.min(ClusterHealth.First << math.min(failures, 10), ClusterHealth.Longest))
    ClusterHealth(failures + 1, Some(since.getOrElse(now) -> Some(error)), now.plus(wait))
  }
}

private[dynamic] object ClusterHealth {
  private val First   = 500L
  private val Longest = 10000L
}
