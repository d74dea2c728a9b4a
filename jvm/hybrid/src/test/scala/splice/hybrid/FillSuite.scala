// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import scala.collection.immutable.SortedMap
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.source.{LogPartition, OffsetRuns}

final class FillSuite extends AnyFunSuite {

  test("merged ranges have the same offsets, and there are not more than allowed") {
    val random = new Random(11)
    (1 to 2000).foreach { seed =>
      val wanted = SortedMap.from((0 to random.nextInt(3)).map { p =>
        val held = new OffsetRuns
        (0L until 60L).filter(_ => random.nextInt(3) > 0).foreach(held.add)
        LogPartition("t", p) -> Fill.Wanted(60, () => held.holes(0, 60), held)
      })
      val max   = 3 + random.nextInt(10)
      val made  = new Fill(max)(wanted)
      val count = made.values.map(_.fill.size).sum
      assert(count <= max, s"seed $seed")
      made.foreach { case (p, ranges) =>
        val offsets = ranges.fill.flatMap { case (from, until) => from until until }
          .filterNot(o => ranges.held.exists(_.contains(o)))
        val holes = (0L until 60L).filterNot(wanted(p).held.contains)
        assert(offsets == holes, s"seed $seed")
      }
    }
  }
}
