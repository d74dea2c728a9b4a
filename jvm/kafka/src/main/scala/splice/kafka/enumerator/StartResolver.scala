// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import java.time.Instant

import scala.collection.immutable.{SortedMap, SortedSet}

import org.slf4j.LoggerFactory

import splice.kafka.options.{CommittedReset, KafkaOptions, NoRecordAtTime, StartingOffsets}
import splice.kafka.split.KafkaPosition
import splice.kafka.{KafkaErrors, MissingRange}
import splice.source.{LogPartition, OffsetRanges, OnGap, SpliceException, StartPosition}

/** Turns every way of saying where to begin into numbers. */
final private[splice] class StartResolver(
    log: LogMetadata,
    retention: Retention,
    looks: SecondLook,
    group: Option[String]
) {

  import StartResolver._

  /** The start that the source's own options say.
    *
    * @param of
    *   topics that begin elsewhere than the others
    */
  def configured(
      start: StartingOffsets,
      of: Map[String, StartingOffsets],
      partitions: SortedSet[LogPartition]
  ): KafkaPosition = {
    val own    = SortedSet.from(partitions.filter(p => of.contains(p.topic)))
    val groups = own.groupBy(p => of(p.topic)).toSeq ++
      Seq(start -> (partitions -- own)).filter(_._2.nonEmpty || own.isEmpty)
    KafkaPosition.of(groups.flatMap { case (begin, some) => resolved(begin, some) })
  }

  /** The start that an exact hand-over chose: the first offset that is to be read of each partition. */
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

  /** The start that a hand-over chose by time. */
  def handed(wanted: StartPosition.Timestamp, partitions: SortedSet[LogPartition]): KafkaPosition = {
    // Ends come first: a record that lands in between is then read, not skipped.
    val ends  = log.ends(partitions)
    val found = log.atTime(partitions.iterator.map(_ -> wanted.millis).toMap)
    val first = log.earliest(partitions)
    val gaps  = timeGaps(first, ends, found)
    if (gaps.nonEmpty) warnOrFail(wanted.onGap, KafkaErrors.timeGap(Instant.ofEpochMilli(wanted.millis), gaps))
    KafkaPosition.of(ends ++ found.map { case (p, record) => p -> record.offset })
  }

  /** The partitions from which retention has removed records, so that records at or after a time may be among them: those whose first
    * record is not earlier, with its time, and those that have no record. Records before one of exactly this time may have the same time.
    */
  private def timeGaps(
      first: Map[LogPartition, Long],
      ends: Map[LogPartition, Long],
      found: Map[LogPartition, TimedOffset]
  ): Map[LogPartition, Option[Instant]] = {
    val suspects = first.collect {
      case (p, from) if from > 0 =>
        p -> (from -> found.get(p).fold(ends.getOrElse(p, from))(_.offset))
    }
    // The first offset of a log is not always a record, so an earlier record is searched for.
    val ranges  = suspects.filter { case (_, (from, until)) => from < until }
    val earlier = if (ranges.isEmpty) Map.empty[LogPartition, Long] else log.firstRecords(ranges)
    (suspects.keySet -- earlier.keySet).iterator.map { p =>
      p -> found.get(p).map(record => Instant.ofEpochMilli(record.millis))
    }.toMap
  }

  private def resolved(start: StartingOffsets, partitions: SortedSet[LogPartition]): Map[LogPartition, Long] =
    start match {
      case StartingOffsets.Earliest         => log.earliest(partitions)
      case StartingOffsets.Latest           => log.ends(partitions)
      case StartingOffsets.Committed(reset) =>
        committed(reset, partitions.toSet) { known =>
          known ++ within(known, log.earliest(known.keySet))(retention.goOn(BelowEarliest, _))
        }
      case StartingOffsets.Exact(offsets)      => exact(offsets, partitions)
      case StartingOffsets.AtTime(time, none)  => atTimes(partitions.iterator.map(_ -> time).toMap, none)
      case StartingOffsets.AtTimes(time, none) =>
        checkPartitions(KafkaOptions.StartingTimestamps.key, time.keySet, partitions)
        atTimes(time, none)
    }

  private def exact(
      offsets: SortedMap[LogPartition, Long],
      partitions: SortedSet[LogPartition]
  ): Map[LogPartition, Long] = {
    checkPartitions(KafkaOptions.Starting.key, offsets.keySet, partitions)
    val numbers  = offsets.filter(_._2 >= 0)
    val latest   = log.ends(offsets.filter(_._2 == AtLatest).keySet)
    val earliest = log.earliest((offsets -- latest.keys).keySet)
    earliest ++ latest ++ within(numbers, earliest)(retention.goOn(BelowEarliest, _))
  }

  /** What the group has committed, and what `reset` says of partitions that it has not.
    *
    * @param held
    *   takes what the group has committed for what the log holds of it
    */
  def committed(reset: CommittedReset, partitions: Set[LogPartition])(
      held: Map[LogPartition, Long] => Map[LogPartition, Long]
  ): Map[LogPartition, Long] = {
    val known                           = log.committed(partitions)
    val unknown                         = partitions -- known.keySet
    val others: Map[LogPartition, Long] = reset match {
      case CommittedReset.Earliest                => log.earliest(unknown)
      case CommittedReset.Latest                  => log.ends(unknown)
      case CommittedReset.Fail if unknown.isEmpty => Map.empty
      case CommittedReset.Fail => throw KafkaErrors.noCommitted(group.mkString, SortedSet.from(unknown))
    }
    others ++ held(known)
  }

  private def atTimes(times: Map[LogPartition, Long], none: NoRecordAtTime): Map[LogPartition, Long] = {
    val ends  = log.ends(times.keySet)
    val found = log.atTime(times).map { case (p, record) => p -> record.offset }
    val later = times -- found.keys
    if (later.nonEmpty && none == NoRecordAtTime.Error) throw KafkaErrors.noRecordAtTime(later)
    ends ++ found
  }

  /** Offsets that the log still holds; `gap` says where ranges go on that it does not; at earliest where it says nothing. */
  private def within(wanted: Map[LogPartition, Long], first: Map[LogPartition, Long])(
      gap: Seq[MissingRange] => Map[LogPartition, Long]
  ): Map[LogPartition, Long] = {
    def beyond(ends: Map[LogPartition, Long]) =
      wanted.toSeq.collect { case (p, offset) if ends.get(p).exists(_ < offset) => (p, offset, ends(p)) }
    val ahead = beyond(looks.confirm(log.ends(wanted.keySet))(beyond(_).nonEmpty)(() => log.ends(wanted.keySet)))
    if (ahead.nonEmpty) throw KafkaErrors.ahead(ahead)
    val gaps = wanted.toSeq.sortBy(_._1).collect {
      case (p, offset) if first.get(p).exists(_ > offset) => MissingRange(p, offset, first.get(p))
    }
    val goesOn = if (gaps.isEmpty) Map.empty[LogPartition, Long] else gap(gaps)
    wanted.map { case (p, offset) => p -> goesOn.getOrElse(p, math.max(offset, first.getOrElse(p, offset))) }
  }
}

private[splice] object StartResolver {

  private val logger = LoggerFactory.getLogger(classOf[StartResolver])

  /** How an offset per partition says "latest". */
  val AtLatest: Long = -1L

  private val BelowEarliest = "the start lies before the first record that the log still holds"

  /** Offsets or times per partition must name every partition that is read, and no other. */
  def checkPartitions(
      option: String,
      named: collection.Set[LogPartition],
      partitions: SortedSet[LogPartition]
  ): Unit = {
    val missing = partitions.filterNot(named)
    val foreign = named.filterNot(partitions)
    if (missing.nonEmpty || foreign.nonEmpty) throw KafkaErrors.partitionsDiffer(option, missing, foreign)
  }

  private def warnOrFail(onGap: OnGap, error: SpliceException): Unit = onGap match {
    case OnGap.Fail => throw error
    case OnGap.Warn => logger.warn(error.getMessage)
  }
}
