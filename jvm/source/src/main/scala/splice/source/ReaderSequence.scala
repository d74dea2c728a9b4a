// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import java.time.Duration

import scala.annotation.tailrec
import scala.util.Try

import org.apache.spark.sql.connector.metric.CustomTaskMetric

/** Reads by several readers in one task: one after another, or some at once, by turns.
  *
  * Each is made when there is a place for it, and closed at its end. Of those that are open one is read until it would wait; then the next
  * one that would not, so that one reader's waiting is another's reading. [[next]] is called by one thread; [[close]] may come from
  * another one.
  *
  * @param readers
  *   asked for the next one only when it is needed
  * @param atOnce
  *   how many may be open at the same time; 1 means that the next one is made when the one before has ended
  */
final private[splice] class ReaderSequence[T](readers: Iterator[SplitReader[T]], atOnce: Int = 1)
    extends SplitReader[T] {

  @volatile private var open   = Vector.empty[SplitReader[T]]
  @volatile private var closed = false

  private var at    = 0
  private var ended = Seq.empty[CustomTaskMetric]

  @tailrec override def next(): Boolean = {
    fill()
    val now = open
    if (now.isEmpty) false
    else {
      at = if (now.size == 1) 0 else firstReady(now)
      if (now(at).next()) true
      else {
        end(now(at))
        next()
      }
    }
  }

  override def ready(patience: Duration): Boolean = {
    fill()
    val now = open
    now.isEmpty || isReady(now, Duration.ZERO) || isReady(now, patience.dividedBy(now.size.toLong))
  }

  override def get(): T = open(at).get()

  override def metrics: Array[CustomTaskMetric] = synchronized(sum(ended ++ open.flatMap(_.metrics))).toArray

  override def close(): Unit = {
    closed = true
    open.flatMap(one => Try(end(one)).failed.toOption).headOption.foreach(throw _)
  }

  private def isReady(now: Vector[SplitReader[T]], patience: Duration): Boolean = now.exists(_.ready(patience))

  /** Where the first one is, from the one before on, that need not wait. */
  private def firstReady(now: Vector[SplitReader[T]]): Int = {
    var one   = at
    var tried = 1
    while (!now(one).ready(if (tried <= now.size) Duration.ZERO else ReaderSequence.Turn)) {
      one = (one + 1) % now.size
      tried += 1
    }
    one
  }

  private def fill(): Unit = while (open.size < atOnce && !closed && readers.hasNext) {
    val reader = readers.next()
    synchronized(open :+= reader)
    if (closed) end(reader)
  }

  private def end(reader: SplitReader[T]): Unit = {
    synchronized {
      if (open.exists(_ eq reader)) ended = sum(ended ++ reader.metrics)
      open = open.filterNot(_ eq reader)
      at = 0
    }
    reader.close()
  }

  private def sum(all: Seq[CustomTaskMetric]): Seq[CustomTaskMetric] =
    all.groupMapReduce(_.name)(_.value)(_ + _).toSeq.sorted.map { case (name, value) =>
      ReaderSequence.Sum(name, value)
    }
}

private object ReaderSequence {

  // How long one is waited for while another one may have got something.
  private val Turn = Duration.ofMillis(1)

  final private case class Sum(name: String, value: Long) extends CustomTaskMetric
}
