// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.read

import org.apache.spark.SparkContext
import org.apache.spark.util.AccumulatorV2

import splice.source.TaskRanges
import splice.source.runtime.{Report, ReportListeners}

/** Collects on the driver the reports of the tasks of one run. Spark merges the values of a task only if the task
  * succeeds, and before the job succeeds.
  *
  * @param listeners
  *   receive the reports of readers when Spark merges the values of a task
  */
final private[spark] class TaskReports(@transient listeners: ReportListeners = new ReportListeners)
    extends AccumulatorV2[TaskReport, Seq[TaskReport]] {

  private var all: Vector[TaskReport] = Vector.empty

  override def add(report: TaskReport): Unit = synchronized { all :+= report }

  override def merge(other: AccumulatorV2[TaskReport, Seq[TaskReport]]): Unit = {
    val more = other.value
    synchronized { all ++= more }
    more.foreach {
      case TaskReport.OfReader(report) => listeners.receive(report)
      case _                           => ()
    }
  }

  override def value: Seq[TaskReport] = synchronized(all)

  override def isZero: Boolean = synchronized(all.isEmpty)

  override def reset(): Unit = synchronized { all = Vector.empty }

  override def copy(): TaskReports = {
    val created = new TaskReports
    value.foreach(created.add)
    created
  }

  /** Returns the executors of the slots that were read since the last call. */
  def takeHomes(): Seq[(Int, SlotHome)] = take { case TaskReport.ReadAt(slot, home) => slot -> home }

  /** Returns the reports since the last call. */
  def takeReports(): Seq[Report] = take { case TaskReport.OfReader(report) => report }

  private def take[A](kind: PartialFunction[TaskReport, A]): Seq[A] = synchronized {
    val (taken, left) = all.partition(kind.isDefinedAt)
    all = left
    taken.map(kind)
  }
}

private[spark] object TaskReports {

  /** Creates an accumulator without a name, because Spark keeps the values of named accumulators for its UI. */
  def apply(context: SparkContext, listeners: ReportListeners = new ReportListeners): TaskReports = {
    val created = new TaskReports(listeners)
    context.register(created)
    created
  }

  /** Reports the executor that runs the task of a slot, and returns the ranges of the task. */
  def begun(partition: SpliceInputPartition, reports: TaskReports): TaskRanges = {
    partition.task.slot.zip(SlotHome.ofTask).foreach { case (slot, home) => reports.add(TaskReport.ReadAt(slot, home)) }
    partition.task
  }
}

/** One report of a task. */
sealed private[spark] trait TaskReport extends Product with Serializable

private[spark] object TaskReport {

  /** The executor on which the task read a slot. */
  final case class ReadAt(slot: Int, home: SlotHome) extends TaskReport

  final case class OfReader(report: Report) extends TaskReport
}
