// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.race

import java.util.concurrent.locks.LockSupport

import scala.concurrent.duration._

/** Repeats work at a constant rate, with a resolution of a few milliseconds. */
final class EvenRate(perSecond: Int) {

  private val Tick = 5.millis

  private var done = 0L

  /** Repeats `work` for a duration. The argument of `work` is the number of previous calls. */
  def during(time: FiniteDuration)(work: Long => Unit): Unit = {
    val each  = (perSecond * Tick.toMillis / 1000).toInt
    val begin = System.nanoTime()
    (0L until (time / Tick).toLong).foreach { n =>
      (0 until each).foreach { _ =>
        work(done)
        done += 1
      }
      LockSupport.parkNanos(begin + (n + 1) * Tick.toNanos - System.nanoTime())
    }
  }
}
