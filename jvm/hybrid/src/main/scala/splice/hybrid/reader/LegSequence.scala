// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.reader

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric

import splice.source.SplitReader

/** Reads the parts of a task that lie in several legs, one after another; each reader is made when the one before has ended. */
final private[reader] class LegSequence(readers: Iterator[SplitReader[InternalRow]]) extends SplitReader[InternalRow] {

  private var current: Option[SplitReader[InternalRow]] = None
  private var ended: Seq[CustomTaskMetric]              = Nil

  @tailrec override def next(): Boolean =
    if (current.exists(_.next())) true
    else {
      close()
      if (readers.hasNext) {
        current = Some(readers.next())
        next()
      } else false
    }

  override def get(): InternalRow = current.getOrElse(throw new IllegalStateException("get before next")).get()

  override def metrics: Array[CustomTaskMetric] =
    TaskMetrics.sum(ended ++ current.toSeq.flatMap(_.metrics)).toArray

  override def close(): Unit = {
    ended = TaskMetrics.sum(ended ++ current.toSeq.flatMap(_.metrics))
    val open = current
    current = None
    open.foreach(_.close())
  }
}
