// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

import splice.source.{Position, Source, SplitRange, TaskRanges}

/** Source of a simulated query. */
trait Subject {

  /** Creates the source from its options, as a start of the query does. */
  def source(): Source[_ <: Position]

  /** Opens a reader of a task, as an executor does. */
  def rows(run: String, task: TaskRanges): TaskRows

  /** Discards the state that the driver and its executors lose in a kill. */
  def killed(): Unit

  /** Hook after the ends of a run are frozen. */
  def frozen(): Unit = ()

  /** True if some reports of tasks never arrive. */
  def losesReports: Boolean = true

  /** Comparison of two reads of one task or batch. */
  def same: SameRows = SameRows.exactly

  /** Complete text of a range, for the comparison of two plans of one batch. */
  def describe(range: SplitRange): String = range.toString
}
