// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.stream

import org.scalatest.funsuite.AnyFunSuite

import splice.source.errors.SpliceUnsupportedException

/** The shares of several sources. */
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

  test("more sources than tasks are an error, on a cluster only in two batches in a row") {
    def begin(sources: Seq[RealTimeSource]) = sources.foreach(_.begin())
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
}
