// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.enumerator

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/** Tests of the number of slices of a batch. */
final class BatchSizeSuite extends AnyFunSuite {

  private def batches(sizes: IndexedSeq[Long], limit: Long, ask: () => Unit): Seq[(Int, Int)] = {
    def sum(from: Int, until: Int)                                 = BigInt(sizes.slice(from, until).sum)
    def all(from: Int, expected: Option[BigInt]): List[(Int, Int)] =
      if (from == sizes.size) Nil
      else {
        val (until, bytes) = BatchSize.choose(from, sizes.size, limit, expected) { until =>
          ask()
          sum(from, until)
        }(identity)
        assert(bytes == sum(from, until))
        (from -> until) :: all(until, Some(bytes / (until - from)))
      }
    all(0, None)
  }

  test("batches are consecutive, fit the limit unless they have one slice, and need at most five plans") {
    (1 to 2000).foreach { seed =>
      val random = new Random(seed)
      val scale  = 1 + random.nextInt(1000000)
      val sizes  =
        IndexedSeq.fill(1 + random.nextInt(60))(if (random.nextInt(5) == 0) 0L else random.nextInt(scale).toLong)
      val limit = 1L + random.nextInt(scale * 4)
      var asked = 0
      val found = batches(sizes, limit, () => asked += 1)
      assert(found.map(_._1) == 0 +: found.map(_._2).dropRight(1) && found.last._2 == sizes.size, seed)
      found.foreach { case (from, until) =>
        assert(until == from + 1 || sizes.slice(from, until).sum <= limit, s"$seed: $from to $until")
      }
      assert(asked <= 5 * found.size, seed)
    }
  }

  test("slices of equal size fill the limit, and one question per batch is enough after the first batch") {
    var asked = 0
    val found = batches(IndexedSeq.fill(1000)(10L), 100, () => asked += 1)
    assert(found == (0 until 1000 by 10).map(from => from -> (from + 10)))
    assert(asked <= found.size + 4)
  }

  test("a table within the limit is one batch with one question") {
    var asked = 0
    assert(batches(IndexedSeq.fill(50)(10L), 500, () => asked += 1) == Seq(0 -> 50) && asked == 1)
  }
}
