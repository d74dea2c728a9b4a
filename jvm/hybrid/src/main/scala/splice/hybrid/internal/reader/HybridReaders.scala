// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.reader

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.vectorized.ColumnarBatch

import splice.hybrid.internal.split.LegRange
import splice.source.internal.ReaderSequence
import splice.source.{SplitReader, SplitReaderFactory, TaskRanges}

/** Readers of the legs of one batch. Column batches need a batch of one leg with a columnar reader. */
final private[hybrid] class HybridReaders(legs: Map[String, LegReaders]) extends SplitReaderFactory {

  override val columnar: Boolean = legs.size == 1 && legs.values.forall(_.columnar)

  override def rows(task: TaskRanges): SplitReader[InternalRow] = byLeg(task) match {
    case Seq((leg, part)) => legs(leg).rows(part)
    case several          =>
      new ReaderSequence(several.map { case (leg, part) =>
        part.ranges.map(LegRange(leg, _)) -> (() => legs(leg).rows(part))
      })
  }

  override def batches(task: TaskRanges): SplitReader[ColumnarBatch] = byLeg(task) match {
    case Seq((leg, part)) => legs(leg).batches(part)
    case other            => throw new IllegalStateException(s"column batches of ${other.size} legs at once")
  }

  private def byLeg(task: TaskRanges): Seq[(String, TaskRanges)] = {
    val ranges = task.ranges.collect { case range: LegRange => range }
    ranges.map(_.leg).distinct.map(leg => leg -> task.copy(ranges = ranges.filter(_.leg == leg).map(_.range)))
  }
}
