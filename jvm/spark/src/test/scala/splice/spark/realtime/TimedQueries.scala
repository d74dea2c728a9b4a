// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.realtime

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streaming.StreamingQuery
import org.scalatest.Suite
import org.scalatest.concurrent.Eventually
import org.scalatest.time.{Millis, Seconds, Span}

import splice.spark.WithSpark

/** Queries in real-time mode with short batches, and their stops. */
trait TimedQueries extends WithSpark with Eventually { this: Suite =>

  implicit override val patienceConfig: PatienceConfig = PatienceConfig(Span(120, Seconds), Span(50, Millis))

  override protected def settings: Map[String, String] =
    super.settings + ("spark.sql.streaming.realTimeMode.minBatchDuration" -> "500")

  /** Stops the query after a commit of a real-time batch that ends after all rows so far, so that no row is read again.
    */
  protected def stopAfterBatch(query: StreamingQuery): Unit = {
    val last = query.recentProgress.lastOption.fold(-1L)(_.batchId)
    eventually(assert(query.recentProgress.lastOption.exists(_.batchId > last + 1)))
    stop(query)
  }

  /** Stops the query and waits until its tasks have ended. Spark cancels the tasks after the stop, and a task that still
    * runs would read rows that a test writes for the next run.
    */
  protected def stop(query: StreamingQuery): Unit = {
    query.stop()
    // Spark's status store has the number of running tasks only with a delay.
    eventually(
      assert(!Thread.getAllStackTraces.values.asScala.exists(_.exists(_.getClassName.endsWith(TimedQueries.Runner))))
    )
  }
}

private object TimedQueries {

  /** Spark's class that runs a task in a thread of an executor. */
  val Runner = "Executor$TaskRunner"
}
