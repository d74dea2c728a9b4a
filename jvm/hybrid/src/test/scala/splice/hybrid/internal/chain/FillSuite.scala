// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.chain

import scala.collection.immutable.SortedMap
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.source.log.OffsetRuns
import splice.source.{LogPartition, OffsetRanges}

final class FillSuite extends AnyFunSuite {

  test("merged ranges have the same offsets and do not exceed the limit") {
    val random = new Random(11)
    (1 to 2000).foreach { seed =>
      val wanted = SortedMap.from((0 to random.nextInt(3)).map { p =>
        val held = new OffsetRuns
        (0L until 60L).filter(_ => random.nextInt(3) > 0).foreach(held.add)
        LogPartition("t", p) -> Fill.Wanted(60, () => held.holes(0, 60), held)
      })
      val max     = 3 + random.nextInt(10)
      val created = new Fill(max)(wanted)
      val count   = created.values.map(_.fill.size).sum
      assert(count <= max, s"seed $seed")
      created.foreach { case (p, ranges) =>
        val offsets = ranges.fill.flatMap { case (from, until) => from until until }
          .filterNot(o => ranges.held.exists(_.contains(o)))
        val holes = (0L until 60L).filterNot(wanted(p).held.contains)
        assert(offsets == holes, s"seed $seed")
      }
    }
  }

  private def created(max: Int)(holes: Seq[(Long, Long)]*): Seq[OffsetRanges] =
    new Fill(max)(SortedMap.from(holes.zipWithIndex.map { case (own, p) =>
      val held = OffsetRuns.of(OffsetRuns.of(own: _*).holes(0, 60).toSeq: _*)
      LogPartition("t", p) -> Fill.Wanted(60, () => own.iterator, held)
    })).values.toSeq

  test("ranges are merged only above the limit, nearest ranges first") {
    val holes = Seq(0L -> 1L, 3L -> 4L, 20L -> 21L, 22L -> 23L, 50L -> 51L)
    assert(created(5)(holes) == Seq(OffsetRanges(60, holes.toVector)))
    val Seq(four) = created(4)(holes): @unchecked
    assert(four.from == 60 && four.fill == Vector(0L -> 4L, 20L -> 23L, 50L -> 51L))
    assert(four.held.map(_.ranges.toSeq).contains(Seq(1L -> 3L, 21L -> 22L)))
    assert(created(1)(holes).map(_.fill) == Seq(Vector(0L -> 51L)))
  }

  test("the limit applies to all partitions together, and each partition keeps one range") {
    val (near, far) = (Seq(0L -> 1L, 2L -> 3L), Seq(0L -> 1L, 40L -> 41L))
    assert(created(4)(near, far).map(_.fill) == Seq(near.toVector, far.toVector))
    assert(created(3)(near, far, Nil).map(_.fill.size) == Seq(1, 1, 0))
    assert(created(1)(near, far).map(_.fill) == Seq(Vector(0L -> 3L), Vector(0L -> 41L)))
    assert(created(5)(near, Seq(0L -> 1L, 10L -> 11L, 40L -> 41L)).map(_.held) == Seq(None, None))
  }
}
