// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.read

import org.apache.spark.SparkContext
import org.apache.spark.util.AccumulatorV2

import splice.source.TaskRanges
import splice.source.runtime.Report

/** Brings what tasks of one run report to the driver. Spark merges the values of a task only when the task succeeds. */
final private[spark] class TaskReports extends AccumulatorV2[TaskReport, Seq[TaskReport]] {

  private var all: Vector[TaskReport] = Vector.empty

  override def add(one: TaskReport): Unit = synchronized { all :+= one }

  override def merge(other: AccumulatorV2[TaskReport, Seq[TaskReport]]): Unit = {
    val more = other.value
    synchronized { all ++= more }
  }

  override def value: Seq[TaskReport] = synchronized(all)

  override def isZero: Boolean = synchronized(all.isEmpty)

  override def reset(): Unit = synchronized { all = Vector.empty }

  override def copy(): TaskReports = {
    val created = new TaskReports
    value.foreach(created.add)
    created
  }

  /** The executors of the slots that were read since this was last called. */
  def takeHomes(): Seq[(Int, SlotHome)] = take { case TaskReport.ReadAt(slot, home) => slot -> home }

  /** The reports since this was last called. */
  def takeReports(): Seq[Report] = take { case TaskReport.OfReader(report) => report }

  private def take[A](kind: PartialFunction[TaskReport, A]): Seq[A] = synchronized {
    val (taken, left) = all.partition(kind.isDefinedAt)
    all = left
    taken.map(kind)
  }
}

private[spark] object TaskReports {

  /** Without a name: Spark keeps the values of an accumulator that has one, for its UI. */
  def apply(context: SparkContext): TaskReports = {
    val created = new TaskReports
    context.register(created)
    created
  }

  /** Reports on which executor the slot of a task runs. */
  def begun(partition: SpliceInputPartition, reports: TaskReports): TaskRanges = {
    partition.task.slot.zip(SlotHome.ofTask).foreach { case (slot, home) => reports.add(TaskReport.ReadAt(slot, home)) }
    partition.task
  }
}

/** One thing that a task reports. */
sealed private[spark] trait TaskReport extends Product with Serializable

private[spark] object TaskReport {

  /** The task read a slot on this executor. */
  final case class ReadAt(slot: Int, home: SlotHome) extends TaskReport

  final case class OfReader(report: Report) extends TaskReport
}
