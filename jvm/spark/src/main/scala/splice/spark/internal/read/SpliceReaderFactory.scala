// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.read

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}
import org.apache.spark.sql.vectorized.ColumnarBatch

import splice.source.{SplitReader, SplitReaderFactory}

/** Provides the readers of a source to Spark, and reports the executor of each slot. */
final private[spark] class SpliceReaderFactory(readers: SplitReaderFactory, reports: TaskReports)
    extends PartitionReaderFactory {

  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    new SplicePartitionReader(readers.rows(TaskReports.begun(input(partition), reports)), Some(reports))

  override def createColumnarReader(partition: InputPartition): PartitionReader[ColumnarBatch] =
    new SplicePartitionReader(readers.batches(TaskReports.begun(input(partition), reports)), Some(reports))

  override def supportColumnarReads(partition: InputPartition): Boolean =
    input(partition).columnar

  private def input(partition: InputPartition) = partition.asInstanceOf[SpliceInputPartition]
}

/** Returns the metrics of the task at intervals, and all metrics at its end. Forwards the reports of the source's
  * reader when the reader is closed.
  *
  * @param reports
  *   None if no reports are collected
  */
final private[spark] class SplicePartitionReader[T](reader: SplitReader[T], reports: Option[TaskReports])
    extends PartitionReader[T] {

  def this(reader: SplitReader[T]) = this(reader, None)

  private val closing   = new ReaderEnd(reader, reports)
  private var requested = 0

  override def next(): Boolean = {
    val hasRow = SplitReader.hasNext(reader)
    closing.ended = !hasRow
    hasRow
  }

  override def get(): T = reader.get()

  // Spark calls this method after every hundred rows and puts the values into maps, which costs as much as reading
  // short rows.
  override def currentMetricsValues(): Array[CustomTaskMetric] = {
    requested += 1
    if (closing.ended || requested % SplicePartitionReader.Every == 0 || isCompleted) reader.metrics
    else SplicePartitionReader.NoNews
  }

  override def close(): Unit = closing.close()

  // Spark calls the method once more after the end of a task that stops early, for example under a limit.
  private def isCompleted = Option(TaskContext.get()).forall(_.isCompleted())
}

/** Forwards the reports of a reader, then closes the reader. */
final private[spark] class ReaderEnd(reader: SplitReader[_], reports: Option[TaskReports]) {

  /** True if all ranges were read to their ends. */
  var ended = false

  private var closed = false

  def close(): Unit =
    try report()
    finally reader.close()

  private def report(): Unit = if (!closed) {
    closed = true
    reports.foreach(to => reader.report(ended).foreach(report => to.add(TaskReport.OfReader(report))))
  }
}

private object SplicePartitionReader {
  private val Every  = 64
  private val NoNews = Array.empty[CustomTaskMetric]
}
