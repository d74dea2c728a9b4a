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
  * @param delivered
  *   the greatest time of a row of this run
  */
final private[splice] class EventTimeAdmission(
    settings: EventTimeSettings,
    clock: Clock,
    steady: Clock,
    delivered: () => Option[Long]
) {

  import EventTimeAdmission._

  private val hidden = new HiddenRows(clock, steady)

  // Partitions that have had unread rows in this run.
  private var begun: Set[LogPartition] = Set.empty

  private var last: Option[Last]                           = None
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
      val shown = listed(held)(is => s"from offset ${is.first.offset} (${is.first.time})")
      val text  = if (isEnd) "This run ends without these rows." else "These partitions wait until the time has come."
      logger.warn(
        s"$rowsHeld offsets begin with a record that is more than ${settings.maxAhead.toMillis} ms ahead of the clock " +
          s"of the driver: $shown. $text Correct the clock of the producer, or set 'onFutureTime' to 'read'."
      )
    }
  }

  /** Makes the next rows of partitions count as their first rows in this run. */
  def forget(of: LogPartition => Boolean): Unit = begun = begun.filterNot(of)

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
      log.at(top, open.keySet).filter(_ => begin(open, log)).flatMap { future =>
        if (settings.onFutureTime == OnFutureTime.Fail || isFinal && settings.onFutureTime == OnFutureTime.Hold)
          open.foreach { case (p, (from, until)) =>
            future.get(p).filter(r => from <= r.offset && r.offset < until).foreach { r =>
              throw KafkaErrors.futureTime(p, r.offset, r.time, settings.maxAhead)
            }
          }
        val isRead                  = settings.onFutureTime == OnFutureTime.Read
        def passes(p: LogPartition) = isRead && future.get(p).exists(_.offset <= open(p)._1)
        val (free, bound)           = open.partition { case (p, _) => passes(p) }
        val visible                 = bound.transform { case (p, (from, until)) =>
          from -> future.get(p).fold(until)(r => math.max(from, math.min(r.offset, until)))
        }
        note(bound, visible, future)
        val loose =
          unaligned ++ free.transform { case (p, (from, until)) => unaligned.get(p).fold(from)(_._1) -> until }
        val fixed = if (loose.isEmpty) SortedMap.empty[LogPartition, Long] else fix(loose, visible, shares)
        aligned(visible, loose, fixed, shares, log, top, now).map { case (ends, stopping) =>
          def first(p: LogPartition) = future.get(p).filter(_.offset <= bound(p)._1)
          hidden.check(bound, ends, p => stopping(p).orElse(first(p)), log)
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

  /** Logs a warning with the rows of partitions that begin, if the rows are before the greatest time of this run.
    *
    * @return
    *   false if a partition does not respond
    */
  private def begin(open: SortedMap[LogPartition, (Long, Long)], log: RecordTimes): Boolean = {
    val first = open.filter { case (p, _) => !begun(p) }
    val early =
      if (first.isEmpty) Some(first)
      else
        delivered().fold(Option(SortedMap.empty[LogPartition, (Long, Long)])) { time =>
          log.at(time, first.keySet).map { later =>
            first.transform { case (p, (from, until)) =>
              from -> later.get(p).fold(until)(record => math.min(record.offset, until))
            }.filter { case (_, (from, until)) => from < until }
          }
        }
    early.filter(_.nonEmpty).foreach { rows =>
      val shown = listed(rows) { case (from, until) => s"(${until - from} offsets)" }
      logger.warn(
        s"Partitions begin with rows before ${delivered().fold("")(Instant.ofEpochMilli(_).toString)}, which is the " +
          s"greatest time of this run: $shown. Spark can drop these rows as late. A greater delay of the " +
          "watermark keeps them."
      )
    }
    if (early.nonEmpty) begun ++= first.keysIterator
    early.nonEmpty
  }

  private def note(
      bound: SortedMap[LogPartition, (Long, Long)],
      visible: SortedMap[LogPartition, (Long, Long)],
      future: Map[LogPartition, TimedOffset]
  ): Unit = held = bound.collect {
    case (p, (_, until)) if visible(p)._2 < until => p -> HeldPartition(future(p), until - visible(p)._2)
  }
}

private[splice] object EventTimeAdmission {

  private val logger = LoggerFactory.getLogger(classOf[EventTimeAdmission])

  private val Interval = Duration.ofMinutes(10)
  private val Shown    = 20

  private def listed[A](all: SortedMap[LogPartition, A])(text: A => String): String = {
    val more = if (all.sizeIs > Shown) s" and ${all.size - Shown} other partitions" else ""
    all.iterator.take(Shown).map { case (p, value) => s"$p ${text(value)}" }.mkString(", ") + more
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

  /** The first record that a reader receives in each range; None for a range without a record. Partitions that do not
    * respond are absent.
    */
  def next(ranges: Map[LogPartition, (Long, Long)]): Map[LogPartition, Option[TimedOffset]]
}
