// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import java.time.Duration
import java.util.concurrent.TimeUnit

import scala.annotation.tailrec

/** Answers that go backwards may come from a broker that is behind, so they are asked for again before they are believed.
  *
  * @param looks
  *   how often to ask again, at least once
  */
final private[splice] class SecondLook(looks: Int, interval: Duration, pause: Duration => Unit) {

  /** Lets the time between two looks pass. */
  def waitForNext(): Unit = pause(interval)

  /** The first answer without suspects, else the last one. */
  @tailrec def confirm[A](first: A, left: Int = math.max(looks, 1))(suspicious: A => Boolean)(again: () => A): A =
    if (left == 0 || !suspicious(first)) first
    else {
      pause(interval)
      confirm(again(), left - 1)(suspicious)(again)
    }
}

private[splice] object SecondLook {

  def apply(retries: Int, interval: Duration): SecondLook =
    new SecondLook(retries, interval, pause => TimeUnit.MILLISECONDS.sleep(pause.toMillis))
}
