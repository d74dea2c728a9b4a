// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.metrics

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.source.LogPartition

/** Tests of the figure `delayNeededMs`. */
final class DelayNeededSuite extends AnyFunSuite {

  /** Spark's rule: a row is dropped if its time is not after the greatest time of earlier batches minus the delay. */
  private def dropped(batches: Seq[Seq[Long]], delay: Long): Int =
    batches.indices.map { i =>
      val greatest = batches.take(i).flatten.maxOption
      batches(i).count(time => greatest.exists(time <= _ - delay))
    }.sum

  test("the delay drops no row, and one millisecond less drops a row") {
    (1 to 500).foreach { seed =>
      val random  = new Random(seed)
      val batches = Seq.fill(1 + random.nextInt(6))(Seq.fill(random.nextInt(5))(random.nextInt(30).toLong - 1))
      val needed  = new DelayNeeded
      batches.foreach { batch =>
        needed.next()
        batch.grouped(2).zipWithIndex.foreach { case (rows, p) =>
          needed.add(TaskReads(Map(LogPartition("t", p) -> PartitionRead(2, 2, rows.last, rows.min, rows.max))))
        }
      }
      val all = batches.flatten
      assert(needed.millis.nonEmpty == all.nonEmpty)
      needed.millis.foreach { delay =>
        assert(dropped(batches, delay) == 0, s"seed $seed")
        assert(delay == 0 || dropped(batches, delay - 1) > 0, s"seed $seed")
      }
    }
  }

  test("a run without batches has no delay") {
    val needed = new DelayNeeded
    needed.add(TaskReads(Map(LogPartition("t", 0) -> PartitionRead(1, 1, 5, 5, 5))))
    assert(needed.millis.isEmpty)
  }
}
