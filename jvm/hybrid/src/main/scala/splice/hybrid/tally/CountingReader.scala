// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.tally

import java.time.Duration

import splice.source._

/** Counts the items of a reader, and reports the counts if the task was read to its end. */
final private[tally] class CountingReader[T](inner: SplitReader[T], counter: RowCounter, task: TaskRanges)(
    count: (RowCounter, T) => Unit
) extends ForwardingReader[T, T](inner) {

  override def poll(patience: Duration): Poll = {
    val found = inner.poll(patience)
    if (found eq Poll.Found) count(counter, inner.get())
    found
  }

  override def get(): T = inner.get()

  override def report(ended: Boolean): Seq[Report] = {
    val own = if (ended && task.ranges.forall(_.extents.nonEmpty)) {
      val counts = counter.counts(task.ranges.flatMap(_.extents))
      Seq(Report(task.ranges.map(_.splitId).mkString(s"${counts.leg}/", ",", ""), counts))
    } else Nil
    inner.report(ended) ++ own
  }
}
