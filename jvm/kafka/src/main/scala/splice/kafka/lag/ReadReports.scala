// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.lag

import org.apache.spark.sql.SparkSession
import org.apache.spark.util.AccumulatorV2

/** Brings what tasks did to the driver. An attempt that failed, or was one too many, counts too: these are figures, not offsets. */
final private[splice] class ReadReports extends AccumulatorV2[TaskReads, TaskReads] {

  private var reads = TaskReads()

  override def add(one: TaskReads): Unit = synchronized { reads = reads ++ one }

  override def merge(other: AccumulatorV2[TaskReads, TaskReads]): Unit = add(other.value)

  override def value: TaskReads = synchronized(reads)

  override def isZero: Boolean = synchronized(reads == TaskReads())

  override def reset(): Unit = synchronized { reads = TaskReads() }

  override def copy(): ReadReports = {
    val made = new ReadReports
    made.add(value)
    made
  }

  /** What came since this was last called. */
  def take(): TaskReads = synchronized {
    val taken = reads
    reads = TaskReads()
    taken
  }
}

private[splice] object ReadReports {

  /** Reports of one run of a query; None where no session runs tasks. */
  def ofSession(): Option[ReadReports] = SparkSession.getActiveSession.map { spark =>
    val made = new ReadReports
    spark.sparkContext.register(made)
    made
  }
}
