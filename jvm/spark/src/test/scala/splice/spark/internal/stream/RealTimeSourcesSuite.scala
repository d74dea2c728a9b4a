// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.stream

import java.time.Duration

import org.scalatest.funsuite.AnyFunSuite

import splice.source.errors.SpliceUnsupportedException

/** The shares and the ends of batches of several sources. */
final class RealTimeSourcesSuite extends AnyFunSuite {

  import RealTimeSources.shares

  test("sources share the tasks, and a source that needs fewer tasks leaves the rest to the others") {
    assert(shares(4, Seq(None)) == Seq(4))
    assert(shares(4, Seq(None, None)) == Seq(2, 2))
    assert(shares(5, Seq(None, None)).sorted == Seq(2, 3))
    assert(shares(8, Seq(None, Some(1), None)).sorted == Seq(1, 3, 4))
    assert(shares(8, Seq(Some(6), Some(2))) == Seq(6, 2))
    assert(shares(4, Seq(Some(3), Some(3))) == Seq(2, 2))
    assert(shares(2, Seq(Some(4))) == Seq(2))
    assert(shares(1, Seq(None, None)) == Seq(1, 1))
  }

  test("a source has the share of a source that stopped") {
    val sources = new RealTimeSources(() => 4, isFixed = true)
    val both    = Seq.fill(2)(sources.join(None))
    assert(both.map(_.available) == Seq(2, 2))
    both.head.leave()
    assert(both.last.available == 4)
  }

  test("a change of one source ends the batch of all sources, once, after the batch began at all sources") {
    val sources      = new RealTimeSources(() => 4, isFixed = true)
    val (one, two)   = (sources.join(None), sources.join(None))
    var changed      = true
    def begin()      = one.begin(Some(Duration.ofSeconds(5) -> (() => changed)))
    def beginOther() = two.begin(None)
    begin()
    assert(!one.isStale && !two.isStale)
    beginOther()
    assert(one.isStale)
    // Another source is checked later, when the source is unchanged again.
    changed = false
    assert(two.isStale)
    begin()
    assert(!one.isStale && !two.isStale)
    beginOther()
    assert(!one.isStale && !two.isStale)
    changed = true
    assert(two.isStale && one.isStale)
    one.leave()
    two.begin(None)
    assert(!two.isStale)
  }

  test("all sources are checked at the least interval of a source") {
    val sources = new RealTimeSources(() => 4, isFixed = true)
    val all     = Seq.fill(3)(sources.join(None))
    assert(all.flatMap(_.staleInterval).isEmpty)
    all.zip(Seq(Some(7L), None, Some(3L))).foreach { case (source, seconds) =>
      source.begin(seconds.map(Duration.ofSeconds(_) -> (() => false)))
    }
    assert(all.flatMap(_.staleInterval) == Seq.fill(3)(Duration.ofSeconds(3)))
  }

  test("more sources than tasks are an error, on a cluster only in two batches in a row") {
    def begin(sources: Seq[RealTimeSource]) = sources.foreach(_.begin(None))
    val local                               = new RealTimeSources(() => 2, isFixed = true)
    val three                               = Seq.fill(3)(local.join(None))
    val error                               = intercept[SpliceUnsupportedException](begin(three))
    assert(error.getCondition == "SPLICE_REAL_TIME.TOO_FEW_CORES")

    var tasks   = 2
    val cluster = new RealTimeSources(() => tasks, isFixed = false)
    val some    = Seq.fill(3)(cluster.join(None))
    begin(some)
    tasks = 3
    begin(some)
    tasks = 2
    begin(some)
    assertThrows[SpliceUnsupportedException](begin(some))
  }

  test("each source has one task while no executor is registered, and the query does not fail") {
    val sources = new RealTimeSources(() => 0, isFixed = false)
    val both    = Seq.fill(2)(sources.join(None))
    (1 to 3).foreach(_ => both.foreach(_.begin(None)))
    assert(both.map(_.available) == Seq(1, 1))
  }
}
