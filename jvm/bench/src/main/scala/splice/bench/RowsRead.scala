// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench

import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}

import org.apache.spark.scheduler.{SparkListener, SparkListenerJobEnd, SparkListenerJobStart, SparkListenerTaskEnd}

/** Sum of the rows that tasks report. Spark calls this listener on its listener thread. */
final class RowsRead extends SparkListener {

  private val rows  = new AtomicLong
  private val begun = new AtomicInteger
  private val ended = new AtomicInteger

  override def onJobStart(job: SparkListenerJobStart): Unit = { val _ = begun.incrementAndGet() }

  override def onTaskEnd(task: SparkListenerTaskEnd): Unit =
    Option(task.taskMetrics).foreach(m => rows.addAndGet(m.inputMetrics.recordsRead))

  override def onJobEnd(job: SparkListenerJobEnd): Unit = ended.synchronized {
    ended.incrementAndGet()
    ended.notifyAll()
  }

  /** Waits for the end of all jobs. Returns the number of rows. */
  def total(): Long = ended.synchronized {
    while (begun.get == 0 || ended.get < begun.get) ended.wait(100)
    rows.get
  }
}
