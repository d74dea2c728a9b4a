// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.reader

import java.time.Duration

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch

import splice.hybrid.internal.chain.{Leg, LegErrors}
import splice.hybrid.internal.counting.CountPlan
import splice.hybrid.internal.select.RowShape.Cell
import splice.hybrid.internal.select.{CompiledSelect, RowShape}
import splice.hybrid.internal.split.LegRange
import splice.source.errors.SpliceException
import splice.source.internal.{ConvertedRanges, ForwardingReader, PinnedReader}
import splice.source.runtime.Report
import splice.source.{Poll, SplitRange, SplitReader, SplitReaderFactory, TaskRanges}

/** Readers of one leg, with the conversion of their rows to rows of the hybrid source.
  *
  * @param counts
  *   plan to count rows for later legs; None = rows are not counted
  */
final private[hybrid] case class LegReaders(
    inner: SplitReaderFactory,
    shape: RowShape,
    errors: LegErrors,
    counts: Option[CountPlan] = None
) {

  def columnar: Boolean = inner.columnar && shape.columnar

  def rows(task: TaskRanges): SplitReader[InternalRow] = errors {
    val reader = counts match {
      case None                         => inner.rows(task)
      case Some(plan) if inner.columnar => new RowsOfBatches(plan.batches(inner.batches(task), task))
      case Some(plan)                   => plan.rows(inner.rows(task), task)
    }
    shape match {
      case RowShape.Same                     => new RowReader(errors, reader)
      case view: RowShape.View               => new ViewReader(errors, reader, new ViewRow(view))
      case RowShape.Computed(steps, session) =>
        PinnedReader(session)(new ComputedReader(errors, reader, new Projections(steps)))
    }
  }

  def batches(task: TaskRanges): SplitReader[ColumnarBatch] = errors {
    val raw    = inner.batches(task)
    val reader = counts.fold(raw)(_.batches(raw, task))
    val named  = new LegBatches(errors, reader)
    shape match {
      case view: RowShape.View => new ViewBatches(named, view)
      case _                   => named
    }
  }
}

private[hybrid] object LegReaders {

  /** @param counts
    *   columns to read for counting, which begin with the columns of `select`, and the plan; None = rows are not
    *   counted
    */
  def apply(leg: Leg, select: CompiledSelect, counts: Option[(StructType, CountPlan)])(
      readers: StructType => SplitReaderFactory
  ): LegReaders = counts match {
    case None                  => LegReaders(readers(select.columns), select.shape, leg.errors)
    case Some((columns, plan)) =>
      val shape = select.shape match {
        case RowShape.Same if columns.size > select.columns.size => first(select.columns)
        case other                                               => other
      }
      LegReaders(readers(columns), shape, leg.errors, Some(plan))
  }

  private def first(columns: StructType): RowShape =
    RowShape.View(columns.indices.map(Cell.Column(_)), columns.fields.toIndexedSeq.map(_.dataType))
}

/** Reader of one leg that reports ranges of the hybrid source, and errors of the leg. */
abstract private[splice] class LegReader(errors: LegErrors, inner: SplitReader[InternalRow])
    extends ForwardingReader[InternalRow, InternalRow](inner) {

  private val converted = new ConvertedRanges(LegRange(errors.leg, _))

  override def unread: List[SplitRange] = converted(inner.unread)

  override def report(ended: Boolean): Seq[Report] = errors(inner.report(ended))

  override def close(): Unit = errors(inner.close())

  // A closure would be one object per row. A reader fails in `poll`, because `get` returns the item that `poll` found.
  final override def poll(patience: Duration): Poll =
    try inner.poll(patience)
    catch { case e: SpliceException => throw errors.named(e) }
}

/** Forwards the column batches of a leg, and reports errors of the leg. */
final private[splice] class LegBatches(errors: LegErrors, inner: SplitReader[ColumnarBatch])
    extends ForwardingReader[ColumnarBatch, ColumnarBatch](inner) {
  override def poll(patience: Duration): Poll      = errors(inner.poll(patience))
  override def get(): ColumnarBatch                = inner.get()
  override def report(ended: Boolean): Seq[Report] = errors(inner.report(ended))
  override def close(): Unit                       = errors(inner.close())
}

/** Forwards the rows of a leg unchanged. */
final private[splice] class RowReader(errors: LegErrors, inner: SplitReader[InternalRow])
    extends LegReader(errors, inner) {

  override def get(): InternalRow = inner.get()
}

/** Forwards the rows of a leg as a view. */
final private[splice] class ViewReader(errors: LegErrors, inner: SplitReader[InternalRow], view: ViewRow)
    extends LegReader(errors, inner) {
  override def get(): InternalRow = view.over(inner.get())
}

/** Computes the `select` of a leg for each row. */
final private[splice] class ComputedReader(errors: LegErrors, inner: SplitReader[InternalRow], steps: Projections)
    extends LegReader(errors, inner) {
  override def get(): InternalRow = steps(inner.get())
}
