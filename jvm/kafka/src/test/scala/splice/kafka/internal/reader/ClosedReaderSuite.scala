// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.reader

import java.util.concurrent.atomic.AtomicInteger

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.SimulatedRun.range

/** Tests of a reader that Spark closes in two threads: the reading thread and the thread of the task listeners. */
final class ClosedReaderSuite extends AnyFunSuite {

  test("if two threads close a reader concurrently, one thread returns the consumer and none closes it") {
    (1 to 5000).foreach { i =>
      val w = new SlotWorld
      w.client.bring(0, 0, 1, 2)
      val r       = w.reader(range(0, 0, 3))
      val rows    = SlotWorld.drain(r)
      val arrived = new AtomicInteger
      // A blocking barrier would wake the threads at different times. If one processor is free, a loop that does not
      // yield would delay the other thread.
      def close(): Unit = {
        val _ = arrived.incrementAndGet()
        while (arrived.get < 2) Thread.`yield`()
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
