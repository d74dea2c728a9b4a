// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.counting

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.vectorized.ColumnarBatch

import splice.source.log.Extent
import splice.source.{LogPartition, TimeRange}

/** Counts the rows of one task for later legs. Not thread-safe. Allocates no object per row. */
final private[splice] class RowCounter(plan: CountPlan) {

  private val offsets = plan.offsets match {
    case Seq(topic, partition, offset) =>
      Some(new OffsetCounter(topic.ordinal, Integers(partition), Integers(offset)))
    case Seq(partition, offset) =>
      Some(new OffsetCounter(OffsetCounter.OneTopic, Integers(partition), Integers(offset)))
    case _ => None
  }

  private val times = plan.time.map(cell => new TimeCounter(cell, plan.zone))

  private val counters: Array[ColumnCounter] = (offsets ++ times).toArray

  // Code is generated once per task, and only if a rule has fields of structs or decimals.
  private val computed = Option.when(plan.computed.nonEmpty)(UnsafeProjection.create(plan.computed))

  def add(row: InternalRow): Unit = {
    val values = computed match {
      case Some(projection) => projection(row)
      case None             => row
    }
    var i = 0
    while (i < counters.length) {
      counters(i).add(values)
      i += 1
    }
  }

  def add(batch: ColumnarBatch): Unit =
    if (computed.isEmpty) counters.foreach(_.add(batch)) else batch.rowIterator.forEachRemaining(add(_))

  /** Returns all counts as the counts of the given extents. */
  def counts(extents: Seq[Extent]): LegCounts = LegCounts(
    plan.leg,
    extents,
    offsets.fold(Seq.empty[(LogPartition, Array[Byte])])(_.result),
    offsets.fold(Seq.empty[Long])(_.invalid),
    times.flatMap(_.result),
    plan.number
  )
}

/** Counter of the values of some columns. */
private[splice] trait ColumnCounter {

  def add(row: InternalRow): Unit

  def add(batch: ColumnarBatch): Unit
}

/** Content of the report of one task.
  *
  * @param extents
  *   extents that the task read to their end
  * @param offsets
  *   bytes of [[splice.source.log.OffsetRuns]] per log partition
  * @param invalid
  *   numbers of rows with an invalid topic, partition and offset
  * @param times
  *   minimum and maximum event time; None if no row has an event time
  * @param plan
  *   number of the readers of the task
  */
final private[splice] case class LegCounts(
    leg: String,
    extents: Seq[Extent],
    offsets: Seq[(LogPartition, Array[Byte])],
    invalid: Seq[Long],
    times: Option[TimeRange],
    plan: Long = 0
)
