// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.simulation

import scala.collection.mutable

import splice.source.{Position, SplitRange, TaskRanges}
import splice.testkit.simulation.Violation

/** Compares every plan of a batch with the first plan of the same range, across all runs of one scenario. */
final private[splice] class PlanLedger(describe: SplitRange => String) {

  private val plans = mutable.Map.empty[(String, String), String]

  /** Drops plans of batches that were never logged. The next run may plan these batches differently. */
  def keep(logged: String => Boolean): Unit = { val _ = plans.filterInPlace { case ((_, until), _) => logged(until) } }

  /** Drops the plan of a batch. */
  def forget(from: Position, until: Position): Unit = { val _ = plans.remove((from.json, until.json)) }

  def check(from: Position, until: Position, tasks: Seq[TaskRanges]): Unit = {
    val now   = tasks.map(t => s"${t.slot}: ${t.ranges.map(describe).mkString(", ")}").mkString("[", "; ", "]")
    val first = plans.getOrElseUpdate((from.json, until.json), now)
    if (first != now) throw new Violation(s"the plan of $from to $until was $first and is $now now")
  }
}
