// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.reader

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch

import splice.hybrid.internal.counting.CountPlan
import splice.hybrid.internal.select.RowShape.Cell
import splice.hybrid.internal.select.{CompiledSelect, RowShape}
import splice.hybrid.internal.split.LegRange
import splice.source.internal.ConvertedRanges
import splice.source.{ForwardingReader, SplitRange, SplitReader, SplitReaderFactory, TaskRanges}

/** Readers of one leg, with the conversion of their rows to rows of the hybrid source.
  *
  * @param counts
  *   plan to count rows for later legs; None = rows are not counted
  */
final private[hybrid] case class LegReaders(
    inner: SplitReaderFactory,
    shape: RowShape,
    counts: Option[CountPlan] = None
) {

  def columnar: Boolean = inner.columnar && shape.columnar

  /** @param leg name of the leg */
  def rows(leg: String, task: TaskRanges): SplitReader[InternalRow] = {
    val reader = counts match {
      case None                         => inner.rows(task)
      case Some(plan) if inner.columnar => new RowsOfBatches(plan.batches(inner.batches(task), task))
      case Some(plan)                   => plan.rows(inner.rows(task), task)
    }
    shape match {
      case RowShape.Same            => new RowReader(leg, reader)
      case view: RowShape.View      => new ViewReader(leg, reader, new ViewRow(view))
      case RowShape.Computed(steps) => new ComputedReader(leg, reader, new Projections(steps))
    }
  }

  def batches(task: TaskRanges): SplitReader[ColumnarBatch] = {
    val raw    = inner.batches(task)
    val reader = counts.fold(raw)(_.batches(raw, task))
    shape match {
      case view: RowShape.View => new ViewBatches(reader, view)
      case _                   => reader
    }
  }
}

private[hybrid] object LegReaders {

  /** @param counts
    *   columns to read for counting, which begin with the columns of `select`, and the plan; None = rows are not
    *   counted
    */
  def apply(select: CompiledSelect, counts: Option[(StructType, CountPlan)])(
      readers: StructType => SplitReaderFactory
  ): LegReaders = counts match {
    case None                  => LegReaders(readers(select.columns), select.shape)
    case Some((columns, plan)) =>
      val shape = select.shape match {
        case RowShape.Same if columns.size > select.columns.size => first(select.columns)
        case other                                               => other
      }
      LegReaders(readers(columns), shape, Some(plan))
  }

  private def first(columns: StructType): RowShape =
    RowShape.View(columns.indices.map(Cell.Column(_)), columns.fields.toIndexedSeq.map(_.dataType))
}

/** Reader of one leg that reports ranges of the hybrid source. */
abstract private[splice] class LegReader(leg: String, inner: SplitReader[InternalRow])
    extends ForwardingReader[InternalRow, InternalRow](inner) {

  private val converted = new ConvertedRanges(LegRange(leg, _))

  override def unread: List[SplitRange] = converted(inner.unread)
}

/** Forwards the rows of a leg unchanged. */
final private[splice] class RowReader(leg: String, inner: SplitReader[InternalRow]) extends LegReader(leg, inner) {

  override def get(): InternalRow = inner.get()
}

/** Forwards the rows of a leg as a view. */
final private[splice] class ViewReader(leg: String, inner: SplitReader[InternalRow], view: ViewRow)
    extends LegReader(leg, inner) {
  override def get(): InternalRow = view.over(inner.get())
}

/** Computes the `select` of a leg for each row. */
final private[splice] class ComputedReader(leg: String, inner: SplitReader[InternalRow], steps: Projections)
    extends LegReader(leg, inner) {
  override def get(): InternalRow = steps(inner.get())
}
