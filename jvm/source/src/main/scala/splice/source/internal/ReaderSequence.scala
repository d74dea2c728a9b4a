// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal

import java.time.Duration

import scala.annotation.tailrec
import scala.util.Try

import org.apache.spark.sql.connector.metric.CustomTaskMetric

import splice.source.runtime.Report
import splice.source.{Poll, SplitRange, SplitReader}

/** Reads with several readers in one task: one after another, or several at the same time.
  *
  * Each reader is created when fewer than `atOnce` readers are open, and is closed at its end. The sequence reads one
  * open reader until this reader must wait, or until its turn ends. Then the sequence reads the next open reader that has
  * an item, so that one reader waits while another reader is read. One thread calls [[poll]]. Another thread may call
  * [[close]].
  *
  * @param parts
  *   ranges of each reader, and the function that creates the reader
  * @param atOnce
  *   maximum number of open readers. With 1, the next reader is created when the previous reader has ended
  * @param turn
  *   maximum number of items in succession from one reader, for each of the other open readers. Readers without an end
  *   need a limit, because a reader with a backlog would otherwise delay the items of the other readers
  */
final private[splice] class ReaderSequence[T](
    parts: Seq[(Seq[SplitRange], () => SplitReader[T])],
    atOnce: Int = 1,
    turn: Int = Int.MaxValue
) extends SplitReader[T] {

  @volatile private var open   = Vector.empty[SplitReader[T]]
  @volatile private var closed = false

  private var later   = parts.toList
  private var at      = 0
  private var ended   = Seq.empty[CustomTaskMetric]
  private var reports = Vector.empty[Report]
  private var skips   = Vector.empty[Report]

  // The number of polls of the current reader in its turn.
  private var inTurn = 0L

  // First: the ranges of the current reader without its first range. Second: these ranges, followed by the ranges of
  // all other readers.
  private var shared = (List.empty[SplitRange], List.empty[SplitRange])

  // True if `shared` is outdated: the current reader has changed, or another reader may have passed offsets without a
  // record.
  private var isOutdated = true

  @tailrec override def poll(patience: Duration): Poll = {
    fill()
    val now    = open
    val result = if (now.isEmpty) Poll.Ended else if (now.size == 1) only(now, patience) else first(now, patience)
    if ((result eq Poll.Ended) && now.nonEmpty) {
      reports ++= now(at).report(ended = true)
      skips ++= now(at).skipped
      end(now(at))
      poll(patience)
    } else result
  }

  private def only(now: Vector[SplitReader[T]], patience: Duration): Poll = {
    at = 0
    now.head.poll(patience)
  }

  /** Polls the open readers in turn, starting with the current reader, or with the next reader after the end of a turn.
    * Stops when a reader has an item or has ended, or when the time has passed.
    */
  private def first(now: Vector[SplitReader[T]], patience: Duration): Poll = {
    if (inTurn < turn * (now.size - 1L)) inTurn += 1 else next(now)
    val result = now(at).poll(Duration.ZERO)
    if (result eq Poll.Pending) others(now, patience) else result
  }

  private def others(now: Vector[SplitReader[T]], patience: Duration): Poll = {
    val start        = System.nanoTime()
    var tried        = 1
    var result: Poll = Poll.Pending
    while ((result eq Poll.Pending) && (tried < now.size || isWithin(patience, start))) {
      next(now)
      result = now(at).poll(if (tried < now.size) Duration.ZERO else ReaderSequence.Turn)
      tried += 1
    }
    result
  }

  private def next(now: Vector[SplitReader[T]]): Unit = {
    at = (at + 1) % now.size
    inTurn = 1
    isOutdated = true
  }

  private def isWithin(patience: Duration, start: Long): Boolean =
    (patience eq Poll.Forever) || System.nanoTime() - start < patience.toNanos

  override def get(): T = open(at).get()

  override def time: Long = open(at).time

  override def isStale: Boolean = open.exists(_.isStale)

  override def unread: List[SplitRange] = open.lift(at).fold(List.empty[SplitRange])(_.unread.toList) match {
    case first :: rest => first :: joined(rest)
    case Nil           => joined(Nil)
  }

  private def joined(ranges: List[SplitRange]): List[SplitRange] = {
    if (isOutdated || (ranges ne shared._1)) {
      val others = open.patch(at, Nil, 1).flatMap(_.unread) ++ later.flatMap(_._1)
      shared = (ranges, ranges ++ others)
      isOutdated = false
    }
    shared._2
  }

  override def skipped: Seq[Report] = skips ++ open.flatMap(_.skipped)

  override def backlog: Seq[Report] = open.flatMap(_.backlog)

  override def report(ended: Boolean): Seq[Report] = reports ++ open.flatMap(_.report(ended = false))

  override def metrics: Array[CustomTaskMetric] = synchronized(sum(ended ++ open.flatMap(_.metrics))).toArray

  override def close(): Unit = {
    closed = true
    open.flatMap(reader => Try(end(reader)).failed.toOption).headOption.foreach(throw _)
  }

  private def fill(): Unit = while (open.size < atOnce && !closed && later.nonEmpty) {
    val reader = later.head._2()
    later = later.tail
    isOutdated = true
    synchronized(open :+= reader)
    if (closed) end(reader)
  }

  private def end(reader: SplitReader[T]): Unit = {
    synchronized {
      if (open.exists(_ eq reader)) ended = sum(ended ++ reader.metrics)
      open = open.filterNot(_ eq reader)
      at = 0
      inTurn = 0
      isOutdated = true
    }
    reader.close()
  }

  private def sum(all: Seq[CustomTaskMetric]): Seq[CustomTaskMetric] =
    all.groupMapReduce(_.name)(_.value)(_ + _).toSeq.sorted.map { case (name, value) =>
      ReaderSequence.Sum(name, value)
    }
}

private[splice] object ReaderSequence {

  /** Turn of readers without an end. A poll of a reader without an item takes about as long as this number of items. */
  val OpenTurn = 1000

  // Waiting time per reader. The time is short because another reader may receive an item during the wait.
  private val Turn = Duration.ofMillis(1)

  final private case class Sum(name: String, value: Long) extends CustomTaskMetric
}
