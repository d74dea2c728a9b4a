// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.simulation

import scala.collection.mutable

import splice.source.{Position, SplitRange, TaskRanges}
import splice.testkit.simulation.Violation

/** Holds every plan of a batch to the first plan of the same range, over all runs of one history. */
final private[splice] class PlanLedger(describe: SplitRange => String) {

  private val plans = mutable.Map.empty[(String, String), String]

  /** Forgets plans of batches that were never logged: the next run may plan what it likes there. */
  def keep(logged: String => Boolean): Unit = { val _ = plans.filterInPlace { case ((_, until), _) => logged(until) } }

  /** Forgets the plan of a batch. */
  def forget(from: Position, until: Position): Unit = { val _ = plans.remove((from.json, until.json)) }

  def check(from: Position, until: Position, tasks: Seq[TaskRanges]): Unit = {
    val now   = tasks.map(t => s"${t.slot}: ${t.ranges.map(describe).mkString(", ")}").mkString("[", "; ", "]")
    val first = plans.getOrElseUpdate((from.json, until.json), now)
    if (first != now) throw new Violation(s"the plan of $from to $until was $first and is $now now")
  }
}
