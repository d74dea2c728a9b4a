// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}
import org.apache.spark.sql.vectorized.ColumnarBatch

import splice.source.{SplitReader, SplitReaderFactory, TaskRanges}

/** Gives a source's readers to Spark, and reports on which executor each slot ran. */
final private[spark] class SpliceReaderFactory(readers: SplitReaderFactory, reports: TaskReports)
    extends PartitionReaderFactory {

  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    new SplicePartitionReader(readers.rows(begun(partition)), Some(reports))

  override def createColumnarReader(partition: InputPartition): PartitionReader[ColumnarBatch] =
    new SplicePartitionReader(readers.batches(begun(partition)), Some(reports))

  override def supportColumnarReads(partition: InputPartition): Boolean =
    partition.asInstanceOf[SpliceInputPartition].columnar

  private def begun(partition: InputPartition): TaskRanges = {
    val task = partition.asInstanceOf[SpliceInputPartition].task
    task.slot.zip(SlotHome.ofTask).foreach { case (slot, home) => reports.add(TaskReport.ReadAt(slot, home)) }
    task
  }
}

/** Returns the task's metrics now and then, and all of them at its end. Passes on the reader's reports when it is closed.
  *
  * @param reports
  *   None where nobody receives reports
  */
final private[spark] class SplicePartitionReader[T](reader: SplitReader[T], reports: Option[TaskReports])
    extends PartitionReader[T] {

  def this(reader: SplitReader[T]) = this(reader, None)

  private var asked  = 0
  private var ended  = false
  private var closed = false

  override def next(): Boolean = {
    val found = SplitReader.hasNext(reader)
    ended = !found
    found
  }

  override def get(): T = reader.get()

  // Spark asks after every hundred rows and puts the answers into maps, which costs as much as reading short rows.
  override def currentMetricsValues(): Array[CustomTaskMetric] = {
    asked += 1
    if (ended || asked % SplicePartitionReader.Every == 0 || isCompleted) reader.metrics
    else SplicePartitionReader.NoNews
  }

  override def close(): Unit =
    try report()
    finally reader.close()

  private def report(): Unit = if (!closed) {
    closed = true
    reports.foreach(to => reader.report(ended).foreach(report => to.add(TaskReport.OfReader(report))))
  }

  // A task that stops early, as under a limit, is asked once more when it is over.
  private def isCompleted = Option(TaskContext.get()).forall(_.isCompleted())
}

private object SplicePartitionReader {
  private val Every  = 64
  private val NoNews = Array.empty[CustomTaskMetric]
}
