// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.admission

import java.time.{Clock, Duration, Instant}

import scala.collection.immutable.SortedMap

import org.slf4j.LoggerFactory

import splice.kafka.internal.cluster.TimedOffset
import splice.kafka.internal.errors.KafkaErrors
import splice.source.LogPartition

/** Finds rows that a record before them hides. Brokers search a time from the start of the log, so a marker, or a record
  * before the position, hides later records with earlier times.
  *
  * The class compares the next record of a partition with the record that stops the partition: at once if this record is
  * before the position and far ahead of the clock, otherwise after some batches without a row. Used by one thread.
  *
  * @param steady
  *   measures the time for which a partition does not move
  */
final private[admission] class HiddenRows(clock: Clock, steady: Clock) {

  import HiddenRows._

  private var stops: Map[LogPartition, Stop] = Map.empty

  /** Compares the records of partitions that a batch does not move.
    *
    * @param open
    *   the range of unread offsets of each partition
    * @param ends
    *   the ends of the batch
    * @param stopping
    *   the record that stops a partition
    * @throws splice.source.errors.SpliceException
    *   when the next record is much earlier than the record that stops its partition
    */
  def check(
      open: SortedMap[LogPartition, (Long, Long)],
      ends: SortedMap[LogPartition, Long],
      stopping: LogPartition => Option[TimedOffset],
      log: RecordTimes
  ): Unit = {
    val now = steady.instant()
    stops = open.collect {
      case (p, (from, _)) if ends(p) == from =>
        val before = stops.get(p).filter(_.offset == from).getOrElse(Stop(from, now))
        p -> before.copy(batches = before.batches + 1)
    }
    val due = stops.iterator.flatMap { case (p, stop) =>
      stopping(p).filter(record => stop.isDue(now, isFuture(record, stop)) && !stop.checked.contains(record.millis))
        .map(p -> _)
    }.take(Checked).toMap
    if (due.nonEmpty) {
      val next = log.next(due.map { case (p, _) => p -> open(p) })
      due.foreach { case (p, hiding) =>
        next.get(p).flatten.filter(hiding.millis - _.millis > Disorder).foreach { hidden =>
          throw KafkaErrors.timesNotOrdered(p, (hiding.offset, hiding.time), (hidden.offset, hidden.time))
        }
        val stop = stops(p)
        stops = stops
          .updated(p, if (next.contains(p)) stop.copy(checked = Some(hiding.millis)) else stop.again(now))
      }
      val silent = due.keySet -- next.keySet
      if (silent.nonEmpty)
        logger.warn(
          s"The next records of ${silent.toSeq.sorted.mkString(", ")} were not available, so it is unknown whether " +
            s"earlier records hide them. Splice tries again after $Batches batches or ${Patience.toSeconds} s."
        )
    }
  }

  private def isFuture(record: TimedOffset, stop: Stop): Boolean =
    record.offset < stop.offset && record.millis - clock.millis() > Disorder
}

private[admission] object HiddenRows {

  private val logger = LoggerFactory.getLogger(classOf[HiddenRows])

  // Clocks of producers and brokers differ by less, and brokers reject later records by default.
  private val Disorder = 3600000L

  // The number of partitions whose next record is read for one batch.
  private val Checked = 100

  private val Batches  = 10
  private val Patience = Duration.ofMinutes(1)

  /** A partition that does not move.
    *
    * @param since
    *   the first batch that did not move the partition, or the last request without a response
    * @param batches
    *   the number of batches since then
    * @param checked
    *   the time of the record that stopped the partition when its next record was read
    * @param isSilent
    *   true if the last request had no response
    */
  final private case class Stop(
      offset: Long,
      since: Instant,
      batches: Int = 0,
      checked: Option[Long] = None,
      isSilent: Boolean = false
  ) {
    def isDue(now: Instant, isFuture: Boolean): Boolean =
      isFuture && !isSilent || batches >= Batches || !now.isBefore(since.plus(Patience))

    def again(now: Instant): Stop = copy(since = now, batches = 0, isSilent = true)
  }
}
