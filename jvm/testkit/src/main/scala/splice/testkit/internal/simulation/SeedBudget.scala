// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.simulation

import scala.collection.mutable
import scala.sys.process._
import scala.util.Try

/** Seeds of a simulation: fixed seeds, and a window of the other seeds of a range. The number of commits selects the
  * window, so the runs of successive commits have all seeds of the range.
  *
  * @param fixed
  *   seeds of every run
  * @param window
  *   other seeds of this commit
  * @param text
  *   description of the seeds
  */
final private[splice] class SeedBudget private (val fixed: Seq[Int], window: Seq[Int], val text: String) {

  def seeds: Seq[Int] = fixed ++ window
}

private[splice] object SeedBudget {

  /** @param window
    *   minimum number of seeds of the window
    * @param commits
    *   number of commits; None selects the first window
    */
  def apply(range: Range, fixed: Seq[Int], window: Int, commits: Option[Int] = inTree): SeedBudget = {
    val others  = range.diff(fixed)
    val windows = math.max(1, others.size / window)
    val number  = commits.getOrElse(0) % windows
    val own     = others.slice(number * others.size / windows, (number + 1) * others.size / windows)
    val from    = commits.fold("without a number of commits")(count => s"by $count commits")
    val text    = s"seeds: ${fixed.size} fixed seeds, and window ${number + 1} of $windows $from: " +
      s"${own.size} other seeds from ${own.headOption.getOrElse("")} to ${own.lastOption.getOrElse("")}"
    new SeedBudget(fixed, own, text)
  }

  /** Chooses seeds by the properties of their scenarios: for each pair of properties that a scenario has, the first
    * `least` seeds of the range.
    *
    * @param first
    *   number of seeds at the start of the range that are chosen in any case
    */
  def byPairs(range: Range, first: Int, least: Int)(properties: Int => Seq[String]): Seq[Int] = {
    val counts = mutable.Map.empty[Seq[String], Int].withDefaultValue(0)
    range.filter { seed =>
      val pairs    = properties(seed).combinations(2).toSeq
      val isChosen = seed < range.head + first || pairs.exists(counts(_) < least)
      if (isChosen) pairs.foreach(counts(_) += 1)
      isChosen
    }
  }

  /** Parses `42` or `1..1000`. */
  def range(text: String): Range = text.split("\\.\\.") match {
    case Array(one)  => one.toInt to one.toInt
    case Array(a, b) => a.toInt to b.toInt
    case _ => throw new IllegalArgumentException(s"The seed is '$text'. Use a number or a range such as 1..1000.")
  }

  /** Number of commits of the work tree; None without git. */
  private def inTree: Option[Int] =
    Try(Seq("git", "rev-list", "--count", "HEAD").!!(ProcessLogger(_ => ())).trim.toInt).toOption
}
