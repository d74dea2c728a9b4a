// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.reader

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric

import splice.source.SplitReader

/** Reads what a task has of several clusters, one after another. */
final private[reader] class ClusterSequence(readers: Iterator[() => SplitReader[InternalRow]])
    extends SplitReader[InternalRow] {

  private var current: Option[SplitReader[InternalRow]] = None
  private var ended: Map[String, Long]                  = Map.empty

  @tailrec override def next(): Boolean =
    if (current.exists(_.next())) true
    else {
      close()
      if (readers.hasNext) {
        current = Some(readers.next()())
        next()
      } else false
    }

  override def get(): InternalRow = current.getOrElse(throw new IllegalStateException("get before next")).get()

  override def metrics: Array[CustomTaskMetric] =
    figures.map { case (name, value) => ClusterSequence.Figure(name, value): CustomTaskMetric }.toArray

  override def close(): Unit = {
    ended = figures
    val open = current
    current = None
    open.foreach(_.close())
  }

  private def figures: Map[String, Long] = current.toSeq.flatMap(_.metrics).foldLeft(ended) { (all, metric) =>
    all.updated(metric.name, all.getOrElse(metric.name, 0L) + metric.value)
  }
}

private[reader] object ClusterSequence {
  final private case class Figure(name: String, value: Long) extends CustomTaskMetric
}
