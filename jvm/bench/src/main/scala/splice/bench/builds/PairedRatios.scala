// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.builds

import org.apache.commons.math3.distribution.TDistribution

import splice.bench.{Median, Report}

/** The times of two builds that ran in turns.
  *
  * Runs of one JVM are not independent: the compiler's choices make one JVM faster than another of the same build. So the interval is one over
  * JVMs and not over runs: each pair of JVMs contributes the mean of the logarithms of its ratios.
  *
  * @param jvms
  *   for each pair of JVMs the times of its pairs of runs: base, this
  */
final private[builds] case class PairedRatios(name: String, jvms: Seq[Seq[(Double, Double)]]) {

  private val logs = jvms.map { pairs =>
    pairs.map { case (base, own) => math.log(base / own) }.sum / pairs.size
  }
  private val center = logs.sum / logs.size

  /** The geometric mean of base ÷ this; more than 1 where this build is faster. */
  def mean: Double = math.exp(center)

  /** Of an even number of ratios the geometric mean of the middle two, so that neither build is favoured. */
  def median: Double = {
    val ratios = jvms.flatten.map { case (base, own) => base / own }
    math.sqrt(Median(ratios) / Median(ratios.map(1 / _)))
  }

  /** The 95 % confidence interval of [[mean]], by Student's t; None with less than two pairs of JVMs. */
  def interval: Option[(Double, Double)] = Option.when(logs.size > 1) {
    val deviation = math.sqrt(logs.map(log => math.pow(log - center, 2)).sum / (logs.size - 1))
    val t         = new TDistribution((logs.size - 1).toDouble).inverseCumulativeProbability(0.975)
    val half      = t * deviation / math.sqrt(logs.size.toDouble)
    (math.exp(center - half), math.exp(center + half))
  }

  def medianTimes: (Double, Double) = (Median(jvms.flatten.map(_._1)), Median(jvms.flatten.map(_._2)))
}

private[builds] object PairedRatios {

  /** The lower end of an interval that a change must reach. */
  val Least = 0.95

  /** One table of all cases.
    *
    * @param unit
    *   the unit of the times
    */
  def table(title: String, unit: String, cases: Seq[PairedRatios]): String = {
    val head =
      Seq("case", s"base, median $unit", s"this, median $unit", "base ÷ this, median", "mean", "95 % interval") :+
        s"lower end ≥ $Least"
    val rows = cases.map { one =>
      val (base, own) = one.medianTimes
      Seq(one.name, f"$base%.2f", f"$own%.2f", f"${one.median}%.3f", f"${one.mean}%.3f") ++
        one.interval.fold(Seq("-", "-")) { case (low, high) =>
          Seq(f"$low%.3f to $high%.3f", if (low >= Least) "yes" else "no")
        }
    }
    (s"### $title" +: "" +: Report.lines(head, rows)).mkString("\n")
  }
}
