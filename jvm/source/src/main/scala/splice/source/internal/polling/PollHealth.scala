// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.polling

import java.time.{Duration, Instant}

/** The state of periodic calls.
  *
  * @param seen
  *   the time of the last successful call
  * @param failures
  *   the number of failed calls since that time
  * @param failing
  *   the time of the first failure, and the error of the last failure
  * @param pending
  *   the call that has not ended
  * @param started
  *   the number of calls in this run
  * @param last
  *   the time of the last of these failures
  * @param total
  *   the number of failed calls in this run
  */
final private[splice] case class PollHealth(
    seen: Option[Instant] = None,
    failures: Int = 0,
    failing: Option[(Instant, Throwable)] = None,
    pending: Option[PendingPoll] = None,
    started: Long = 0,
    last: Option[Instant] = None,
    total: Long = 0
) {

  /** The time of the first failure and the error of the last failure, if calls have failed for too long.
    *
    * The time has passed only if a call failed after that time. The interval of calls may be longer, and a
    * suspended machine makes no calls, so the clock alone is not enough.
    */
  def over(patience: Duration): Option[(Instant, Throwable)] =
    failing.filter { case (since, _) => last.exists(!_.isBefore(since.plus(patience))) }

  def begun(now: Instant): PollHealth = copy(pending = Some(PendingPoll(started, now)), started = started + 1)

  def succeeded(now: Instant): PollHealth = PollHealth(Some(now), started = started, total = total)

  def failed(now: Instant, error: Throwable): PollHealth =
    copy(
      failures = failures + 1,
      failing = Some(failing.fold(now)(_._1) -> error),
      pending = None,
      last = Some(now),
      total = total + 1
    )

  /** The age of the last successful call. */
  def age(now: Instant): Option[Duration] = seen.map(Duration.between(_, now))

  /** The time until the next call. After each failure, the time doubles, up to one minute. */
  def delay(interval: Duration): Duration =
    if (failures == 0) interval
    else Seq(interval.multipliedBy(1L << math.min(failures, 20)), PollHealth.Longest).min
}

/** A call that has not ended, with its number and its start time. */
final private[splice] case class PendingPoll(number: Long, since: Instant)

private[splice] object PollHealth {
  private val Longest = Duration.ofMinutes(1)
}
