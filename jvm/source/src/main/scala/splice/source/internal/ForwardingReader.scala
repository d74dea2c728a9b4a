// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal

import java.time.Duration

import org.apache.spark.sql.connector.metric.CustomTaskMetric

import splice.source.runtime.Report
import splice.source.{Poll, SplitRange, SplitReader}

/** Reader that forwards calls to another reader and converts its items. */
abstract private[splice] class ForwardingReader[S, T](inner: SplitReader[S]) extends SplitReader[T] {
  override def poll(patience: Duration): Poll      = inner.poll(patience)
  override def time: Long                          = inner.time
  override def isStale: Boolean                    = inner.isStale
  override def unread: Seq[SplitRange]             = inner.unread
  override def backlog: Seq[Report]                = inner.backlog
  override def report(ended: Boolean): Seq[Report] = inner.report(ended)
  override def metrics: Array[CustomTaskMetric]    = inner.metrics
  override def close(): Unit                       = inner.close()
}
