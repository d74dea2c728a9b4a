// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.counting

import java.time.Duration

import splice.source.internal.ForwardingReader
import splice.source.log.Extent
import splice.source.runtime.Report
import splice.source.{Poll, SplitRange, SplitReader, TaskRanges}

/** Counts the items of a reader and reports the counts of the rows that were read. Ranges without row spans, such as
  * ranges that are read as column batches, are reported only if the task was read to its end.
  */
final private[splice] class CountingReader[T](inner: SplitReader[T], counter: RowCounter, task: TaskRanges)(
    count: (RowCounter, T) => Unit
) extends ForwardingReader[T, T](inner) {

  override def poll(patience: Duration): Poll = {
    val result = inner.poll(patience)
    if (result eq Poll.Found) count(counter, inner.get())
    result
  }

  override def get(): T = inner.get()

  override def report(ended: Boolean): Seq[Report] = {
    val all     = if (task.ranges.forall(_.extents.nonEmpty)) task.ranges.flatMap(_.extents) else Nil
    val read    = if (ended) all else CountingReader.read(all)(inner.unread)
    val counted = if (read.isEmpty) Nil
    else {
      val counts = counter.counts(read)
      Seq(Report(task.ranges.map(_.splitId).mkString(s"${counts.leg}/", ",", ""), counts))
    }
    inner.report(ended) ++ counted
  }
}

private object CountingReader {

  /** Read parts of extents; empty unless each extent has a span of rows. */
  private def read(all: Seq[Extent])(unread: => Seq[SplitRange]): Seq[Extent] =
    if (all.isEmpty || all.exists(_.rows.isEmpty)) Nil
    else {
      val left = unread.flatMap(_.extents).map(extent => (extent.unit, extent.from) -> extent.rows).toMap
      for {
        extent        <- all
        (from, until) <- extent.rows
        end = left.get((extent.unit, extent.from)).flatten.fold(until)(_._1)
        if from < end
      } yield extent.copy(rows = Some(from -> end))
    }
}
