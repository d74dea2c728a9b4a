// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.counting

import java.time.ZoneId

import scala.util.Using

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.types.{DataType, StructType}
import org.apache.spark.sql.vectorized.ColumnarBatch

import splice.source.{SplitRange, SplitReader, SplitReaderFactory, TaskRanges}

/** Plan to count the rows of a leg in tasks. Sent to tasks with Java serialisation.
  *
  * @param offsets
  *   cells of topic, partition and offset, without the topic if all rows have the same; empty if offsets are not counted
  * @param zone
  *   time zone to convert dates and timestamps without time zone
  * @param computed
  *   values that are computed from the columns of a row. The cells then belong to a row of these values
  * @param number
  *   number of the readers in this run. Readers with the same number belong to one plan
  */
final private[splice] case class CountPlan(
    leg: String,
    offsets: Seq[CountPlan.Cell],
    time: Option[CountPlan.Cell],
    zone: ZoneId,
    computed: Seq[Expression] = Nil,
    number: Long = 0
) {

  /** Reader that returns and counts the same rows. */
  def rows(inner: SplitReader[InternalRow], task: TaskRanges): SplitReader[InternalRow] =
    new CountingReader[InternalRow](inner, new RowCounter(this), task)(_.add(_))

  /** Reader of the same column batches that counts their rows. */
  def batches(inner: SplitReader[ColumnarBatch], task: TaskRanges): SplitReader[ColumnarBatch] =
    new CountingReader[ColumnarBatch](inner, new RowCounter(this), task)(_.add(_))

  /** Reads a range only to count its rows. */
  def scan(readers: SplitReaderFactory, range: SplitRange): LegCounts = {
    val counter = new RowCounter(this)
    val task    = TaskRanges(None, IndexedSeq(range))
    if (readers.columnar)
      Using.resource(readers.batches(task))(reader => SplitReader.items(reader).foreach(counter.add(_)))
    else Using.resource(readers.rows(task))(reader => SplitReader.items(reader).foreach(counter.add(_)))
    counter.counts(range.extents)
  }
}

private[splice] object CountPlan {

  /** Column of a row. */
  final case class Cell(ordinal: Int, kind: DataType)

  /** Returns the columns to read and the plan of the counts. The columns begin with the columns of `requested` and
    * contain all counted columns.
    */
  def over(requested: StructType, leg: String, counted: CountedFields, zone: ZoneId): (StructType, CountPlan) = {
    val roots                        = counted.all.map(_.column).distinctBy(_.name)
    val columns                      = StructType(requested ++ roots.filterNot(f => requested.exists(_.name == f.name)))
    def ordinal(field: CountedField) = columns.indexWhere(_.name == field.column.name)
    val isComputed                   = counted.all.exists(_.isComputed)
    def cell(field: CountedField)    =
      Cell(if (isComputed) counted.all.indexOf(field) else ordinal(field), field.kind)
    val computed = if (isComputed) counted.all.map(field => field.of(ordinal(field))) else Nil
    (columns, CountPlan(leg, counted.offsets.map(cell), counted.time.map(cell), zone, computed))
  }
}
