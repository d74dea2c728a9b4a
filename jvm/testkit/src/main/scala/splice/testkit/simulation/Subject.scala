// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

import splice.source.{Position, Source, SplitRange, TaskRanges}

/** What a simulated query reads. */
trait Subject {

  /** The source as a fresh start of the query makes it from its options. */
  def source(): Source[_ <: Position]

  /** Opens a reader of a task as an executor does. */
  def rows(run: String, task: TaskRanges): TaskRows

  /** The driver was killed, and the executors with it. */
  def killed(): Unit

  /** The ends of a run are frozen. */
  def frozen(): Unit = ()

  /** When two readings of one task, or of one batch, agree. */
  def same: SameRows = SameRows.exactly

  /** All that a range says, as two plans of one batch are compared by. */
  def describe(range: SplitRange): String = range.toString
}
