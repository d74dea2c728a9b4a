// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.builds

import org.scalatest.funsuite.AnyFunSuite

/** Tests of the statistics of two builds that ran in turns. */
final class PairedRatiosSuite extends AnyFunSuite {

  private def ratios(jvms: Seq[Double]*) = PairedRatios("case", jvms.map(_.map(ratio => (ratio, 1.0))))

  private def assertClose(found: Double, expected: Double) =
    assert(math.abs(found - expected) < 1e-3, s"$found instead of $expected")

  test("mean and median are geometric, so twice as fast and half as fast cancel out") {
    assertClose(ratios(Seq(2.0), Seq(0.5)).mean, 1.0)
    assertClose(ratios(Seq(2.0, 0.5)).median, 1.0)
    assertClose(ratios(Seq(1.2, 0.5), Seq(7.0)).median, 1.2)
  }

  test("the interval uses Student's t over the logarithms") {
    // t for 2 degrees of freedom is 4.303, and the deviation of -0.1, 0 and 0.1 is 0.1.
    val (low, high) = ratios(Seq(math.exp(-0.1)), Seq(1.0), Seq(math.exp(0.1))).interval.get
    assertClose(low, math.exp(-4.303 * 0.1 / math.sqrt(3.0)))
    assertClose(high, math.exp(4.303 * 0.1 / math.sqrt(3.0)))
  }

  test("runs of one pair of JVMs count as one sample") {
    val once  = ratios(Seq(1.1), Seq(0.9))
    val often = ratios(Seq(1.1, 1.1, 1.1), Seq(0.9))
    assert(often.interval == once.interval)
    assert(ratios(Seq(1.1, 1.2)).interval.isEmpty)
  }

  test("the table has the verdict of each case") {
    val table = PairedRatios.table("Title", "s", Seq(ratios(Seq(1.0), Seq(1.001)), ratios(Seq(0.5), Seq(0.501))))
    assert(table.linesIterator.filter(_.startsWith("| case |")).map(_.split('|').last.trim).toSeq ==
      Seq(s"lower end ≥ ${PairedRatios.Least}", "yes", "no"))
  }
}
