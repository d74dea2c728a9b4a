// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.reader

import java.util.concurrent.atomic.AtomicInteger

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.SimulatedRun.range

/** A reader that Spark closes in two threads: the thread that reads rows, and the one that runs the listeners of the task. */
final class ClosedReaderSuite extends AnyFunSuite {

  test("of two threads that close a reader at the same time, one returns the consumer, and none closes it") {
    (1 to 5000).foreach { i =>
      val w = new SlotWorld
      w.client.bring(0, 0, 1, 2)
      val r       = w.reader(range(0, 0, 3))
      val rows    = SlotWorld.drain(r)
      val arrived = new AtomicInteger
      // A barrier that wakes a waiting thread would let the first one close the reader alone.
      def close(): Unit = {
        val _ = arrived.incrementAndGet()
        while (arrived.get < 2) Thread.onSpinWait()
        r.close()
      }
      val other = new Thread(() => close())
      other.start()
      close()
      other.join()
      assert(rows.size == 3 && w.returned == 1 && !w.client.closed, s"in round $i")
    }
  }
}
