// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import java.time.Instant

import scala.collection.immutable.{SortedMap, SortedSet}

import org.slf4j.LoggerFactory

import splice.kafka.Place
import splice.kafka.internal.cluster.{ClusterClient, Recheck, TimedOffset}
import splice.kafka.internal.errors.{KafkaErrors, MissingRange}
import splice.kafka.internal.options.KafkaOptions
import splice.kafka.internal.split.KafkaPosition
import splice.source.errors.SpliceException
import splice.source.options.FailOrWarn
import splice.source.{LogPartition, OffsetRanges, StartPosition}

/** Resolves each kind of start to offsets.
  *
  * @param prefix
  *   the prefix of options in errors, such as `live.` for a leg
  */
final private[kafka] class StartResolver(
    log: ClusterClient,
    retention: Retention,
    recheck: Recheck,
    group: Option[String],
    newPartitions: Place = Place.Earliest,
    private[kafka] val prefix: String = ""
) {

  import StartResolver._

  /** The start that the options of the source define.
    *
    * @param of
    *   starts of single topics, which replace `start`
    */
  def configured(
      start: Place,
      of: Map[String, Place],
      partitions: SortedSet[LogPartition]
  ): KafkaPosition = {
    val separate = SortedSet.from(partitions.filter(p => of.contains(p.topic)))
    val groups   = separate.groupBy(p => of(p.topic)).toSeq ++
      Seq(start -> (partitions -- separate)).filter(_._2.nonEmpty || separate.isEmpty)
    KafkaPosition.of(groups.flatMap { case (begin, members) => resolved(begin, members) })
  }

  /** The start of an exact hand-over: the first offset to read from each partition. */
  def exactly(
      starts: SortedMap[LogPartition, OffsetRanges],
      partitions: SortedSet[LogPartition]
  ): KafkaPosition = {
    val news     = partitions.filterNot(starts.contains)
    val earliest = if (news.isEmpty) Map.empty[LogPartition, Long] else log.earliest(news)
    KafkaPosition.of(earliest ++ starts.filter(s => partitions(s._1)).map { case (p, of) =>
      p -> of.fill.headOption.fold(of.from)(_._1)
    })
  }

  /** The start of a hand-over by time. */
  def handed(wanted: StartPosition.Time, partitions: SortedSet[LogPartition]): KafkaPosition = {
    val timed = at(partitions.iterator.map(_ -> wanted.millis).toMap)
    val gaps  = timeGaps(timed.first, timed.ends, timed.records)
    if (gaps.nonEmpty) warnOrFail(wanted.onGap, KafkaErrors.timeGap(Instant.ofEpochMilli(wanted.millis), gaps))
    val untimed = if (wanted.millis < LeastTime) SortedMap.empty[LogPartition, Long] else untimedBefore(timed)
    if (untimed.nonEmpty) warnOrFail(wanted.onGap, KafkaErrors.untimed(Instant.ofEpochMilli(wanted.millis), untimed))
    KafkaPosition.of(timed.starts)
  }

  /** The partitions whose last record before the start has no real time, with this time. The search by time then ignores
    * such records, which may be later than the start of the hand-over.
    */
  private def untimedBefore(timed: Timed): SortedMap[LogPartition, Long] = {
    val starts = timed.starts.filter { case (p, start) => timed.first.get(p).exists(_ < start) }
    val last   = log.times(starts.map { case (p, start) => p -> (start - 1) })
    // The offsets directly before the start may belong to transaction markers.
    val ranges = (starts -- last.keys).map { case (p, start) => p -> (math.max(timed.first(p), start - Tail) -> start) }
    val earlier = if (ranges.isEmpty) Map.empty[LogPartition, Long] else log.firstRecords(ranges)
    val times   = last ++ (if (earlier.isEmpty) Map.empty else log.times(earlier))
    SortedMap.from(times.filter(_._2 < LeastTime))
  }

  private def at(times: Map[LogPartition, Long]): Timed = {
    // Ends are requested first. A record that arrives between the requests is read instead of skipped.
    def request() = {
      val ends    = log.ends(times.keySet)
      val records = log.atTime(times)
      Timed(ends, log.earliest(times.keySet), records)
    }
    recheck.confirm(request())(_.isBelow)(() => request())
  }

  /** The ends as starts. */
  private def latest(partitions: Set[LogPartition]): Map[LogPartition, Long] = {
    def request() = {
      val ends = log.ends(partitions)
      Timed(ends, log.earliest(partitions))
    }
    recheck.confirm(request())(_.isBelow)(() => request()).starts
  }

  /** The partitions from which retention may have removed records at or after a time, with the time of the first
    * remaining record.
    *
    * Such a partition has no record before the first record at or after the time. A first record of exactly this time
    * proves nothing, because removed records may have the same time.
    */
  private def timeGaps(
      first: Map[LogPartition, Long],
      ends: Map[LogPartition, Long],
      records: Map[LogPartition, TimedOffset]
  ): Map[LogPartition, Option[Instant]] = {
    val suspects = first.collect {
      case (p, from) if from > 0 =>
        p -> (from -> records.get(p).fold(ends.getOrElse(p, from))(_.offset))
    }
    // The first offset of a log may have no record, so an earlier record is searched for.
    val ranges  = suspects.filter { case (_, (from, until)) => from < until }
    val earlier = if (ranges.isEmpty) Map.empty[LogPartition, Long] else log.firstRecords(ranges)
    (suspects.keySet -- earlier.keySet).iterator.map { p =>
      p -> records.get(p).map(record => Instant.ofEpochMilli(record.millis))
    }.toMap
  }

  private def resolved(start: Place, partitions: SortedSet[LogPartition]): Map[LogPartition, Long] =
    start match {
      case Place.Earliest             => log.earliest(partitions)
      case Place.Latest               => latest(partitions.toSet)
      case Place.Committed(otherwise) =>
        committed(otherwise, partitions) { known =>
          known ++ within(known, log.earliest(known.keySet))(retention.goOn(BelowEarliest, _))
        }
      case Place.Exact(offsets, isWhole) =>
        val others = if (isWhole) SortedSet.empty[LogPartition] else partitions -- offsets.keySet
        exact(offsets, partitions -- others) ++ log.starts(newPartitions, others.toSet)
      case at: Place.At                    => atTimes(partitions.iterator.map(_ -> at.millis).toMap, at.otherwise)
      case Place.AtTimes(times, otherwise) =>
        checkPartitions(prefix + KafkaOptions.StartingTimestamps.key, times.keySet, partitions)
        atTimes(times, otherwise)
      case of: Place.Offsets => throw new IllegalArgumentException(s"$of is a place of a stream")
    }

  private def exact(
      offsets: SortedMap[LogPartition, Long],
      partitions: SortedSet[LogPartition]
  ): Map[LogPartition, Long] = {
    checkPartitions(prefix + KafkaOptions.Starting.key, offsets.keySet, partitions)
    val numbers  = offsets.filter(_._2 >= 0)
    val ends     = latest(offsets.filter(_._2 == AtLatest).keySet.toSet)
    val earliest = log.earliest((offsets -- ends.keys).keySet)
    earliest ++ ends ++ within(numbers, earliest)(retention.goOn(BelowEarliest, _))
  }

  /** The committed offsets of the group.
    *
    * @param otherwise
    *   the place of partitions without a committed offset; None = an error
    * @param held
    *   replaces committed offsets by offsets that the log contains
    */
  def committed(otherwise: Option[Place], partitions: SortedSet[LogPartition])(
      held: Map[LogPartition, Long] => Map[LogPartition, Long]
  ): Map[LogPartition, Long] = {
    val known   = log.committed(partitions.toSet)
    val unknown = partitions -- known.keySet
    if (otherwise.isEmpty && unknown.nonEmpty) throw KafkaErrors.noCommitted(group.mkString, unknown)
    otherwise.fold(Map.empty[LogPartition, Long])(resolved(_, unknown)) ++ held(known)
  }

  private def atTimes(times: Map[LogPartition, Long], otherwise: Option[Place]): Map[LogPartition, Long] = {
    val timed = at(times)
    val later = times -- timed.records.keys
    if (later.nonEmpty && otherwise.isEmpty) throw KafkaErrors.noRecordAtTime(later, prefix)
    timed.starts
  }

  /** Offsets that the log contains. If a log begins after the requested offset, `gap` defines the offset. Without a
    * result of `gap`, the partition begins at the first offset of the log.
    */
  private def within(wanted: Map[LogPartition, Long], first: Map[LogPartition, Long])(
      gap: Seq[MissingRange] => Map[LogPartition, Long]
  ): Map[LogPartition, Long] = {
    def beyond(ends: Map[LogPartition, Long]) =
      wanted.toSeq.collect { case (p, offset) if ends.get(p).exists(_ < offset) => (p, offset, ends(p)) }
    val ahead = beyond(recheck.confirm(log.ends(wanted.keySet))(beyond(_).nonEmpty)(() => log.ends(wanted.keySet)))
    if (ahead.nonEmpty) throw KafkaErrors.ahead(ahead)
    val gaps = wanted.toSeq.sortBy(_._1).collect {
      case (p, offset) if first.get(p).exists(_ > offset) => MissingRange(p, offset, first.get(p))
    }
    val goesOn = if (gaps.isEmpty) Map.empty[LogPartition, Long] else gap(gaps)
    wanted.map { case (p, offset) => p -> goesOn.getOrElse(p, math.max(offset, first.getOrElse(p, offset))) }
  }
}

private[kafka] object StartResolver {

  private val logger = LoggerFactory.getLogger(classOf[StartResolver])

  /** The number that means latest in an offset per partition. */
  val AtLatest: Long = -1L

  /** The ends and the first offsets of partitions, and the first records at or after a time. */
  final private case class Timed(
      ends: Map[LogPartition, Long],
      first: Map[LogPartition, Long],
      records: Map[LogPartition, TimedOffset] = Map.empty
  ) {

    /** True if a start is before the log. Either a broker with outdated metadata has returned its end, or retention has
      * removed records between the requests.
      */
    def isBelow: Boolean = (ends ++ offsets).exists { case (p, offset) => first.get(p).exists(offset < _) }

    /** The offsets of the records that were found, else the ends.
      *
      * An end may be before the log. Then the start is the first offset of the log, because a start at the end requests
      * no earlier record. If retention has removed a record that was found, the start keeps the offset of the record,
      * because the record is requested.
      */
    def starts: Map[LogPartition, Long] =
      ends.map { case (p, end) => p -> first.get(p).fold(end)(math.max(end, _)) } ++ offsets

    private def offsets: Map[LogPartition, Long] = records.map { case (p, record) => p -> record.offset }
  }

  // 2001-09-09, before the first log. Times in seconds, and times that were not set, are lower.
  private val LeastTime = 1000000000000L

  private val Tail = 100L

  private val BelowEarliest = "the start is before the first record of the log"

  /** Checks that offsets or times name every partition that is read, and no other partition. */
  def checkPartitions(
      option: String,
      named: collection.Set[LogPartition],
      partitions: SortedSet[LogPartition]
  ): Unit = {
    val missing = partitions.filterNot(named)
    val foreign = named.filterNot(partitions)
    if (missing.nonEmpty || foreign.nonEmpty) throw KafkaErrors.partitionsDiffer(option, missing, foreign)
  }

  private def warnOrFail(onGap: FailOrWarn, error: SpliceException): Unit = onGap match {
    case FailOrWarn.Fail => throw error
    case FailOrWarn.Warn => logger.warn(error.text)
  }
}
