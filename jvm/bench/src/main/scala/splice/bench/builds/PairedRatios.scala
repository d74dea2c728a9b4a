// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.builds

import org.apache.commons.math3.distribution.TDistribution

import splice.bench.{Median, Report}

/** Times of two builds that ran in turns.
  *
  * Runs of one JVM are not independent, because JIT decisions make one JVM faster than another JVM of the same build.
  * The interval is therefore computed over JVMs and not over runs. Each pair of JVMs contributes the mean of the
  * logarithms of its ratios.
  *
  * @param jvms
  *   times of the pairs of runs (base, this) per pair of JVMs
  */
final private[builds] case class PairedRatios(name: String, jvms: Seq[Seq[(Double, Double)]]) {

  private val logs = jvms.map { pairs =>
    pairs.map { case (base, current) => math.log(base / current) }.sum / pairs.size
  }
  private val center = logs.sum / logs.size

  /** Geometric mean of base ÷ this; greater than 1 if this build is faster. */
  def mean: Double = math.exp(center)

  /** Median of the ratios. For an even number of ratios, the geometric mean of the middle two, so that neither build
    * is favoured.
    */
  def median: Double = {
    val ratios = jvms.flatten.map { case (base, current) => base / current }
    math.sqrt(Median(ratios) / Median(ratios.map(1 / _)))
  }

  /** 95 % confidence interval of [[mean]] with Student's t; None for fewer than two pairs of JVMs. */
  def interval: Option[(Double, Double)] = Option.when(logs.size > 1) {
    val deviation = math.sqrt(logs.map(log => math.pow(log - center, 2)).sum / (logs.size - 1))
    val t         = new TDistribution((logs.size - 1).toDouble).inverseCumulativeProbability(0.975)
    val half      = t * deviation / math.sqrt(logs.size.toDouble)
    (math.exp(center - half), math.exp(center + half))
  }

  def medianTimes: (Double, Double) = (Median(jvms.flatten.map(_._1)), Median(jvms.flatten.map(_._2)))
}

private[builds] object PairedRatios {

  /** Required lower end of an interval. */
  val Least = 0.95

  /** Table of all cases.
    *
    * @param unit
    *   unit of the times
    */
  def table(title: String, unit: String, cases: Seq[PairedRatios]): String = {
    val head =
      Seq("case", s"base, median $unit", s"this, median $unit", "base ÷ this, median", "mean", "95 % interval") :+
        s"lower end ≥ $Least"
    val rows = cases.map { ratios =>
      val (base, current) = ratios.medianTimes
      Seq(ratios.name, f"$base%.2f", f"$current%.2f", f"${ratios.median}%.3f", f"${ratios.mean}%.3f") ++
        ratios.interval.fold(Seq("-", "-")) { case (low, high) =>
          Seq(f"$low%.3f to $high%.3f", if (low >= Least) "yes" else "no")
        }
    }
    (s"### $title" +: "" +: Report.lines(head, rows)).mkString("\n")
  }
}
