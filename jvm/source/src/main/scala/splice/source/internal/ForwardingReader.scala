// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal

import java.time.Duration

import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.internal.SQLConf

import splice.source.runtime.{Report, SessionSettings}
import splice.source.{Poll, SplitRange, SplitReader}

/** Reader that forwards calls to another reader and converts its items. */
abstract private[splice] class ForwardingReader[S, T](inner: SplitReader[S]) extends SplitReader[T] {
  override def poll(patience: Duration): Poll      = inner.poll(patience)
  override def time: Long                          = inner.time
  override def isStale: Boolean                    = inner.isStale
  override def unread: Seq[SplitRange]             = inner.unread
  override def skipped: Seq[Report]                = inner.skipped
  override def backlog: Seq[Report]                = inner.backlog
  override def report(ended: Boolean): Seq[Report] = inner.report(ended)
  override def metrics: Array[CustomTaskMetric]    = inner.metrics
  override def close(): Unit                       = inner.close()
}

/** Reader that replaces the settings of the task by given settings. Spark's parsers and expressions read the settings
  * for each row.
  */
final private[splice] class PinnedReader[T] private (inner: SplitReader[T], conf: SQLConf)
    extends ForwardingReader[T, T](inner) {

  override def poll(patience: Duration): Poll = SQLConf.withExistingConf(conf)(inner.poll(patience))

  override def get(): T = SQLConf.withExistingConf(conf)(inner.get())
}

private[splice] object PinnedReader {

  /** Returns `inner` itself if the task has the settings. Its creation also uses the settings, because Spark creates the
    * formatters of an expression when Spark compiles the expression.
    */
  def apply[T](settings: SessionSettings)(inner: => SplitReader[T]): SplitReader[T] =
    if (settings.isCurrent) inner
    else {
      val conf = settings.conf
      new PinnedReader(SQLConf.withExistingConf(conf)(inner), conf)
    }
}
