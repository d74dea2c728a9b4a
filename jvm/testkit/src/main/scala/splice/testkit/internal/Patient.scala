// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal

import java.time.Duration
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.locks.LockSupport
import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.annotation.tailrec

import org.scalatest.concurrent.Eventually
import org.scalatest.time.{Millis, Seconds, Span}

/** Waits for conditions. The limit is longer than the pauses of a test on a machine that other processes use. */
private[splice] trait Patient extends Eventually {

  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(Span(Patient.Limit.toSeconds, Seconds), Span(5, Millis))

  protected def awaited(latch: CountDownLatch): Boolean = latch.await(Patient.Limit.toSeconds, TimeUnit.SECONDS)
}

private[splice] object Patient {

  val Limit: Duration = Duration.ofSeconds(60)

  private val Pause = Duration.ofMillis(2)
  private val Tick  = Duration.ofMillis(10)

  /** Returns the result and the duration of an action. Another thread counts the time, so pauses of the process do not
    * count.
    */
  def timed[A](action: => A): (A, Duration) = {
    val (ticks, over) = (new AtomicInteger, new CountDownLatch(1))
    val counter       = new Thread(() =>
      while (!over.await(Tick.toMillis, TimeUnit.MILLISECONDS)) { val _ = ticks.incrementAndGet() }
    )
    counter.start()
    val result =
      try action
      finally over.countDown()
    result -> Tick.multipliedBy(ticks.get.toLong)
  }

  /** Evaluates a condition until it is true, with pauses. */
  def until(what: => Any, within: Duration = Limit)(condition: => Boolean): Unit = {
    val end                    = System.nanoTime() + within.toNanos
    @tailrec def retry(): Unit = if (!condition) {
      if (System.nanoTime() > end) throw new AssertionError(s"not within $within: $what")
      LockSupport.parkNanos(Pause.toNanos)
      retry()
    }
    retry()
  }
}
