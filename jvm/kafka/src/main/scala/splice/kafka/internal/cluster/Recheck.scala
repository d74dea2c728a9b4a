// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.cluster

import java.time.Duration
import java.util.concurrent.TimeUnit

import scala.annotation.tailrec

/** Repeats a request if its response contradicts an earlier response, because a broker with outdated metadata may have
  * sent the response.
  *
  * @param recheck
  *   the number of repetitions, at least one
  */
final private[splice] class Recheck(recheck: Int, interval: Duration, pause: Duration => Unit) {

  /** Waits for the time between two requests. */
  def waitForNext(): Unit = pause(interval)

  /** The first response that is not suspicious. If all responses are suspicious, the last response. */
  @tailrec def confirm[A](first: A, left: Int = math.max(recheck, 1))(suspicious: A => Boolean)(again: () => A): A =
    if (left == 0 || !suspicious(first)) first
    else {
      pause(interval)
      confirm(again(), left - 1)(suspicious)(again)
    }
}

private[splice] object Recheck {

  def apply(retries: Int, interval: Duration): Recheck =
    new Recheck(retries, interval, pause => TimeUnit.MILLISECONDS.sleep(pause.toMillis))
}
