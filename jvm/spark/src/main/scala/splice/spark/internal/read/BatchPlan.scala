// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.read

import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory}

import splice.source.{SplitReaderFactory, TaskRanges}

/** The tasks of one batch and the readers of these tasks. */
final private[spark] case class BatchPlan(
    tasks: Seq[TaskRanges],
    readers: SplitReaderFactory,
    homes: SlotLocality,
    reports: TaskReports
) {

  def partitions: Array[InputPartition] =
    tasks.zip(homes.locations(tasks)).iterator.map { case (task, locations) =>
      SpliceInputPartition(task, locations, readers.columnar): InputPartition
    }.toArray

  def factory: PartitionReaderFactory = new SpliceReaderFactory(readers, reports)

  /** Returns the reader factory of a batch in real-time mode. */
  def timed(stale: Option[StaleCheck]): PartitionReaderFactory = new RealTimeReaderFactory(readers, reports, stale)
}

/** The ranges of one task, and the preferred locations of the task. */
final private[spark] case class SpliceInputPartition(task: TaskRanges, locations: Array[String], columnar: Boolean)
    extends InputPartition {
  override def preferredLocations: Array[String] = locations
}
