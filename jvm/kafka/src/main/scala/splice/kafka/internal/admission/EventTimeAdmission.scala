// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.admission

import java.time.{Clock, Duration, Instant}

import scala.collection.immutable.SortedMap

import org.slf4j.LoggerFactory

import splice.kafka.internal.admission.TimeSearch.{Last, Part}
import splice.kafka.internal.cluster.TimedOffset
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.options.{EventTimeSettings, OnFutureTime}
import splice.source.LogPartition

/** Ends each batch at one time in all partitions, so that no partition is ahead of another one in event time.
  *
  * The batch reads each partition up to its first record at or after the time. The position is the only durable result:
  * the time of a batch may be lower than the time of the batch before. Used by one thread.
  *
  * @param steady
  *   measures the time for which a partition does not move
  */
final private[splice] class EventTimeAdmission(settings: EventTimeSettings, clock: Clock, steady: Clock) {

  import EventTimeAdmission._

  private var last: Option[Last]                           = None
  private var stops: Map[LogPartition, Stop]               = Map.empty
  private var held: SortedMap[LogPartition, HeldPartition] = SortedMap.empty
  private var warned: Option[Instant]                      = None

  /** The number of offsets that wait because of a record of the future, as of the last batch. */
  def rowsHeld: Long = held.valuesIterator.map(_.rows).sum

  /** Logs the partitions that wait because of a record of the future. A warning is repeated after some time.
    *
    * @param isEnd
    *   true if the run ends without these rows
    */
  def warn(isEnd: Boolean): Unit = {
    val now = steady.instant()
    if (held.isEmpty) warned = None
    else if (isEnd || warned.forall(last => !now.isBefore(last.plus(Interval)))) {
      warned = Some(now)
      val shown = held.iterator.take(Shown).map { case (p, is) =>
        s"$p from offset ${is.first.offset} (${is.first.time})"
      }.mkString(", ")
      val more = if (held.sizeIs > Shown) s" and ${held.size - Shown} other partitions" else ""
      val text = if (isEnd) "This run ends without these rows." else "These partitions wait until the time has come."
      logger.warn(
        s"$rowsHeld offsets begin with a record that is more than ${settings.maxAhead.toMillis} ms ahead of the clock " +
          s"of the driver: $shown$more. $text Correct the clock of the producer, or set 'onFutureTime' to 'read'."
      )
    }
  }

  /** The end of each partition in the batch.
    *
    * @param ready
    *   the start and the end of each available range; the ends were requested before this call
    * @param unaligned
    *   the ranges that are read without regard to their times. A range may end at the start of the range of its
    *   partition in `ready`, which then begins after this range was read
    * @return
    *   None if a partition does not respond
    */
  def apply(
      ready: SortedMap[LogPartition, (Long, Long)],
      unaligned: SortedMap[LogPartition, (Long, Long)],
      shares: BatchShares,
      log: RecordTimes,
      isFinal: Boolean
  ): Option[SortedMap[LogPartition, Long]] = {
    val open = ready.filter { case (_, (from, until)) => from < until }
    if (open.isEmpty) {
      held = SortedMap.empty
      Some(shares(unaligned))
    } else {
      val now = clock.millis()
      val top = now + settings.maxAhead.toMillis
      log.at(top, open.keySet).flatMap { future =>
        if (settings.onFutureTime == OnFutureTime.Fail || isFinal && settings.onFutureTime == OnFutureTime.Hold)
          open.foreach { case (p, (from, until)) =>
            future.get(p).filter(r => from <= r.offset && r.offset < until).foreach { r =>
              throw KafkaErrors.futureTime(p, r.offset, r.time, settings.maxAhead)
            }
          }
        val isRead                  = settings.onFutureTime == OnFutureTime.Read
        def passes(p: LogPartition) = isRead && future.get(p).exists(_.offset <= open(p)._1)
        if (!isRead) reject(open, future, log, now)
        val (free, bound) = open.partition { case (p, _) => passes(p) }
        val visible       = bound.transform { case (p, (from, until)) =>
          from -> future.get(p).fold(until)(r => math.max(from, math.min(r.offset, until)))
        }
        note(bound, visible, future)
        val loose =
          unaligned ++ free.transform { case (p, (from, until)) => unaligned.get(p).fold(from)(_._1) -> until }
        val fixed = if (loose.isEmpty) SortedMap.empty[LogPartition, Long] else fix(loose, visible, shares)
        aligned(visible, loose, fixed, shares, log, top, now).map { case (ends, stopping) =>
          check(bound, ends, stopping, future, log)
          val moves = ends.exists { case (p, end) => end > loose.get(p).orElse(visible.get(p)).fold(end)(_._1) }
          // The other partitions may wait for an earlier range, which then gets the whole batch.
          if (moves) ends else ends ++ shares(loose)
        }
      }
    }
  }

  /** The ends of ranges that are read without regard to their times. They get their shares by lag. */
  private def fix(
      loose: SortedMap[LogPartition, (Long, Long)],
      visible: SortedMap[LogPartition, (Long, Long)],
      shares: BatchShares
  ): SortedMap[LogPartition, Long] = {
    val all = shares(visible ++ loose.transform { case (p, (from, until)) => from -> visible.get(p).fold(until)(_._2) })
    loose.transform { case (p, (_, until)) => math.min(all(p), until) }
  }

  private def aligned(
      visible: SortedMap[LogPartition, (Long, Long)],
      loose: SortedMap[LogPartition, (Long, Long)],
      fixed: SortedMap[LogPartition, Long],
      shares: BatchShares,
      log: RecordTimes,
      top: Long,
      now: Long
  ): Option[(SortedMap[LogPartition, Long], LogPartition => Option[TimedOffset])] = {
    val parts = visible.iterator.map { case (p, (from, until)) => Part(p, from, until) }.toIndexedSeq
    val use   = shares.measure(
      visible.keysIterator.toIndexedSeq,
      loose.transform { case (p, (from, _)) => from -> fixed(p) }
    )
    // The earlier range of these partitions is not read to its end, so their next records bound all other partitions.
    val blocked                   = parts.map(part => fixed.get(part.key).exists(_ < part.from))
    def needed(ends: Array[Long]) = {
      val rows = new Array[Long](parts.size)
      parts.indices.foreach(i => rows(i) = ends(i) - parts(i).from)
      if (parts.indices.exists(i => blocked(i) && rows(i) > 0)) Double.MaxValue else use(rows)
    }
    val all  = parts.map(_.until).toArray
    val need = needed(all)
    if (need <= 1) {
      last = Some(Last(now, math.max(last.fold(1L)(now - _.time), 1L)))
      Some((ends(fixed, visible), (_: LogPartition) => None))
    } else {
      val search = new TimeSearch(parts, needed)(log.at)
      search.within(new TimeSearch.Cut(top, all, Array.fill(parts.size)(TimeSearch.Never), need), last).map { found =>
        last = Some(found.last)
        val next  = parts.indices.iterator.map(i => parts(i).key -> found.cut.next(i)).toMap
        val moved =
          parts.indices.iterator.filterNot(blocked).map(i => parts(i).key -> (parts(i).from -> found.cut.ends(i)))
        val ranges = visible.transform { case (_, (from, _)) => from -> from } ++ moved
        val result =
          if (found.isDivided) shares(ranges ++ loose.map { case (p, (from, _)) =>
            p -> (from -> ranges.get(p).filter(_ => fixed(p) == loose(p)._2).fold(fixed(p))(_._2))
          })
          else ends(fixed, ranges)
        // A partition without a row of a divided time waits for its turn, and no record stops it.
        def stops(p: LogPartition, record: TimedOffset) =
          record != TimeSearch.Never && (!found.isDivided || record.offset <= visible(p)._1)
        (result, (p: LogPartition) => next.get(p).filter(stops(p, _)))
      }
    }
  }

  private def ends(
      fixed: SortedMap[LogPartition, Long],
      ranges: SortedMap[LogPartition, (Long, Long)]
  ): SortedMap[LogPartition, Long] =
    ranges.transform { case (p, (from, until)) => fixed.get(p).filter(_ < from).getOrElse(until) } ++
      fixed.filterNot { case (p, _) => ranges.contains(p) }

  /** Rejects partitions whose rows are hidden by a record of the far future that is before the position. */
  private def reject(
      open: SortedMap[LogPartition, (Long, Long)],
      future: Map[LogPartition, TimedOffset],
      log: RecordTimes,
      now: Long
  ): Unit = open.foreach { case (p, range) =>
    future.get(p).filter(r => r.offset < range._1 && r.millis - now > Disorder).foreach { hiding =>
      log.next(Map(p -> range)).get(p).foreach(hidden => throw notOrdered(p, hiding, hidden))
    }
  }

  private def notOrdered(p: LogPartition, hiding: TimedOffset, hidden: TimedOffset) =
    KafkaErrors.timesNotOrdered(p, (hiding.offset, hiding.time), (hidden.offset, hidden.time))

  private def note(
      bound: SortedMap[LogPartition, (Long, Long)],
      visible: SortedMap[LogPartition, (Long, Long)],
      future: Map[LogPartition, TimedOffset]
  ): Unit = held = bound.collect {
    case (p, (_, until)) if visible(p)._2 < until => p -> HeldPartition(future(p), until - visible(p)._2)
  }

  /** Compares the next record of partitions that did not move for some time with the record that stops them. A marker, or
    * a record before the position, may hide rows that are much earlier.
    */
  private def check(
      bound: SortedMap[LogPartition, (Long, Long)],
      ends: SortedMap[LogPartition, Long],
      stopping: LogPartition => Option[TimedOffset],
      future: Map[LogPartition, TimedOffset],
      log: RecordTimes
  ): Unit = {
    val now = steady.instant()
    stops = bound.collect {
      case (p, (from, _)) if ends(p) == from =>
        val before = stops.get(p).filter(_.offset == from).getOrElse(Stop(from, now, 0, None))
        p -> before.copy(batches = before.batches + 1)
    }
    val due = stops.iterator.flatMap { case (p, stop) =>
      val record = stopping(p).orElse(future.get(p).filter(_.offset <= stop.offset))
      record.filter(r => stop.isDue(now) && !stop.checked.contains(r.millis)).map(p -> _)
    }.take(Checked).toMap
    if (due.nonEmpty) {
      val next = log.next(due.map { case (p, _) => p -> bound(p) })
      due.foreach { case (p, hiding) =>
        next.get(p).filter(hiding.millis - _.millis > Disorder).foreach(hidden => throw notOrdered(p, hiding, hidden))
        stops = stops.updated(p, stops(p).copy(checked = Some(hiding.millis)))
      }
    }
  }
}

private[splice] object EventTimeAdmission {

  private val logger = LoggerFactory.getLogger(classOf[EventTimeAdmission])

  private val Interval = Duration.ofMinutes(10)
  private val Shown    = 20

  // Clocks of producers and brokers differ by less, and brokers reject later records by default.
  private val Disorder = 3600000L

  // The number of partitions whose next record is read for one batch.
  private val Checked = 100

  private val Batches  = 10
  private val Patience = Duration.ofMinutes(1)

  /** A partition that does not move.
    *
    * @param checked
    *   the time of the record that stopped it when its next record was read
    */
  final private case class Stop(offset: Long, since: Instant, batches: Int, checked: Option[Long]) {
    def isDue(now: Instant): Boolean = batches >= Batches || !now.isBefore(since.plus(Patience))
  }
}

/** A partition that waits because of a record of the future.
  *
  * @param first
  *   the first record that is too far ahead
  * @param rows
  *   the number of offsets from this record on
  */
final private[splice] case class HeldPartition(first: TimedOffset, rows: Long)

/** The limits of a batch. */
private[splice] trait BatchShares {

  /** The end of each range within the limits. The shares are proportional to the numbers of rows. */
  def apply(ranges: SortedMap[LogPartition, (Long, Long)]): SortedMap[LogPartition, Long]

  /** Computes the part of the limits that rows of partitions need.
    *
    * @param others
    *   ranges that are always in the batch
    */
  def measure(
      partitions: IndexedSeq[LogPartition],
      others: SortedMap[LogPartition, (Long, Long)]
  ): Array[Long] => Double
}

/** Times of records. */
private[splice] trait RecordTimes {

  /** The first record at or after a time; None if a partition does not respond. Partitions without such a record are
    * absent.
    */
  def at(millis: Long, partitions: Set[LogPartition]): Option[Map[LogPartition, TimedOffset]]

  /** The first record that a reader receives in a range, with its time. */
  def next(ranges: Map[LogPartition, (Long, Long)]): Map[LogPartition, TimedOffset]
}
