// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.log

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.source.internal.entries.Json

final class CoverageSuite extends AnyFunSuite {

  private val End = Long.MaxValue

  private def of(extents: Extent*): Coverage = {
    val created = new Coverage
    extents.foreach(created.add)
    created
  }

  private def again(coverage: Coverage): Coverage = Coverage.read(Json.read(Json.write(coverage.json)).get).get

  test("nothing is covered at first") {
    val empty = new Coverage
    assert(!empty.overlaps(Extent.whole(3)))
    assert(empty.missing(3, 0, End) == Seq(Extent.whole(3)))
    assert(again(empty).missing(3, 0, 70) == Seq(Extent(3, 0, 70)))
  }

  test("adjacent blocks complete their unit") {
    val some = of(Extent(1, 10, 20), Extent(1, 0, 10), Extent(1, 30, 40))
    assert(some.missing(1, 0, End) == Seq(Extent(1, 20, 30), Extent(1, 40, End)))
    assert(some.overlaps(Extent(1, 15, 25)) && some.overlaps(Extent.whole(1)) && !some.overlaps(Extent(1, 20, 30)))
    assert(!some.overlaps(Extent.whole(2)))
    some.add(Extent(1, 20, 30))
    some.add(Extent(1, 40, End))
    assert(some.missing(1, 0, End).isEmpty && some.overlaps(Extent(1, 7, 8)))
  }

  test("consecutive units that are covered completely are stored as one range of numbers") {
    val coverage = of((0 until 100000).map(Extent.whole) :+ Extent(100001, 0, 10): _*)
    assert(Json.write(coverage.json) == """{"whole":[[0,100000]],"parts":[[100001,0,10]],"rows":[]}""")
    assert(again(coverage).missing(99999, 0, End).isEmpty)
    assert(again(coverage).missing(100001, 0, End) == Seq(Extent(100001, 10, End)))
  }

  test("a block is covered when all its rows are covered") {
    val block = Extent(5, 100, 200)
    val some  = of(block.copy(rows = Some(0L -> 7L)), block.copy(rows = Some(9L -> End)))
    assert(some.overlaps(block) && some.overlaps(Extent(5, 150, 300)) && !some.overlaps(Extent(5, 0, 100)))
    assert(some.overlaps(block.copy(rows = Some(6L -> 8L))) && !some.overlaps(block.copy(rows = Some(7L -> 9L))))
    val rest = Seq(Extent(5, 0, 100), block.copy(rows = Some(7L -> 9L)), Extent(5, 200, End))
    assert(some.missing(5, 0, End) == rest && again(some).missing(5, 0, End) == rest)
    some.add(block.copy(rows = Some(7L -> 9L)))
    assert(some.missing(5, 0, End) == Seq(Extent(5, 0, 100), Extent(5, 200, End)))
    assert(Json.write(some.json) == """{"whole":[],"parts":[[5,100,200]],"rows":[]}""")
  }

  test("missing extents never overlap covered extents, and complete the unit") {
    val random = new Random(7)
    (1 to 200).foreach { seed =>
      val coverage = new Coverage
      Seq.fill(1 + random.nextInt(12))(random.nextInt(40).toLong).foreach { from =>
        val until  = from + 1 + random.nextInt(9)
        val rows   = Option.when(random.nextInt(4) == 0)(random.nextInt(3).toLong -> (3L + random.nextInt(3)))
        val extent = Extent(0, from, until, rows)
        if (!coverage.overlaps(extent)) coverage.add(extent)
      }
      val read = again(coverage)
      val rest = read.missing(0, 0, End)
      assert(rest == coverage.missing(0, 0, End), s"seed $seed")
      rest.foreach { extent =>
        assert(!read.overlaps(extent), s"seed $seed")
        read.add(extent)
      }
      assert(read.missing(0, 0, End).isEmpty, s"seed $seed")
    }
  }

  test("a text that is not a coverage is rejected") {
    Seq("[]", "7", """{"whole":[[1]]}""", """{"rows":[[1,2]]}""").foreach { text =>
      assert(Coverage.read(Json.read(text).get).isEmpty, text)
    }
  }
}
