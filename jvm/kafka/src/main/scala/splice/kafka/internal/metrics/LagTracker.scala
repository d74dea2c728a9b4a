// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.metrics

import java.time.{Duration, Instant}

import scala.collection.immutable.SortedMap
import scala.collection.mutable

import splice.source.LogPartition

/** Computes the backlog of a query for each progress report. Sends no request: uses the last ends that were returned,
  * and the reports of tasks.
  *
  * Only one thread may call the methods.
  */
final private[splice] class LagTracker {

  private val caughtUp = mutable.HashMap.empty[LogPartition, Instant]
  private var read     = Map.empty[LogPartition, PartitionRead]
  private var before   = Option.empty[(Instant, collection.Map[LogPartition, Long])]

  /** @param offsets
    *   the position of the query
    * @param ends
    *   the last end of a partition that a broker returned
    * @param reads
    *   the reports of tasks since the last call
    */
  def update(
      offsets: SortedMap[LogPartition, Long],
      ends: LogPartition => Option[Long],
      reads: TaskReads,
      now: Instant
  ): Lag = {
    val known = mutable.HashMap.empty[LogPartition, Long]
    offsets.foreach { case (p, offset) =>
      val end = math.max(ends(p).getOrElse(offset), offset)
      known(p) = end
      if (offset >= end) caughtUp(p) = now
    }
    if (caughtUp.size > offsets.size) caughtUp.filterInPlace((p, _) => offsets.contains(p))
    if (reads.partitions.nonEmpty) read = TaskReads(read).++(TaskReads(reads.partitions)).partitions
    if (!read.keysIterator.forall(known.contains)) read = read.filter { case (p, _) => known.contains(p) }
    val sizes = bytesPerRow
    val lags  = offsets.iterator.map { case (p, offset) =>
      val rows = known(p) - offset
      PartitionLag(p, rows, sizes.get(p.topic).map(size => math.round(rows * size)), seconds(p, rows, now))
    }.toVector
    val created =
      Lag(lags, arriving(known, now), isKnown = offsets.isEmpty || offsets.keysIterator.exists(ends(_).nonEmpty))
    before = Some(now -> known)
    created
  }

  private def bytesPerRow: Map[String, Double] = read.groupMapReduce(_._1.topic)(_._2)(_ + _).collect {
    case (topic, all) if all.rows > 0 => topic -> all.bytes.toDouble / all.rows
  }

  // The delay of a partition counts from the time when the query had last read all its records. An idle hour before a
  // new record does not count.
  private def seconds(partition: LogPartition, rows: Long, now: Instant): Option[Long] =
    if (rows == 0) Some(0L)
    else {
      val times = read.get(partition).map(r => Instant.ofEpochMilli(r.millis)) ++ caughtUp.get(partition)
      times.maxOption.map(since => math.max(Duration.between(since, now).getSeconds, 0L))
    }

  /** Rows per second by which the ends of a topic have increased since the last report. */
  private def arriving(ends: collection.Map[LogPartition, Long], now: Instant): Map[String, Double] = before match {
    case Some((last, were)) if last.isBefore(now) =>
      val seconds = Duration.between(last, now).toMillis / 1000.0
      val grown   = mutable.HashMap.empty[String, Long]
      ends.foreach { case (p, end) =>
        were.get(p).foreach(was => grown(p.topic) = grown.getOrElse(p.topic, 0L) + math.max(end - was, 0L))
      }
      grown.iterator.map { case (topic, rows) => topic -> rows / seconds }.toMap
    case _ => Map.empty
  }
}

/** The backlog of one partition. An unavailable figure is None. */
final private[splice] case class PartitionLag(
    partition: LogPartition,
    rows: Long,
    bytes: Option[Long],
    seconds: Option[Long]
)
