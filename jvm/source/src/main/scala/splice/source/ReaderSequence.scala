// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import scala.annotation.tailrec

import org.apache.spark.sql.connector.metric.CustomTaskMetric

/** Reads by several readers one after another in one task; each is made when the one before has ended and is closed.
  *
  * @param readers
  *   asked for the next one only when it is needed
  */
final private[splice] class ReaderSequence[T](readers: Iterator[SplitReader[T]]) extends SplitReader[T] {

  private var current: Option[SplitReader[T]] = None
  private var ended: Seq[CustomTaskMetric]    = Nil

  @tailrec override def next(): Boolean =
    if (current.exists(_.next())) true
    else {
      close()
      if (readers.hasNext) {
        current = Some(readers.next())
        next()
      } else false
    }

  override def get(): T = current.getOrElse(throw new IllegalStateException("get before next")).get()

  override def metrics: Array[CustomTaskMetric] = summed.toArray

  override def close(): Unit = {
    ended = summed
    val open = current
    current = None
    open.foreach(_.close())
  }

  private def summed: Seq[CustomTaskMetric] = {
    val all = ended ++ current.toSeq.flatMap(_.metrics)
    all.groupMapReduce(_.name)(_.value)(_ + _).toSeq.sorted.map { case (name, value) =>
      ReaderSequence.Sum(name, value)
    }
  }
}

private object ReaderSequence {
  final private case class Sum(name: String, value: Long) extends CustomTaskMetric
}
