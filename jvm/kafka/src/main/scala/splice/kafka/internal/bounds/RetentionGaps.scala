// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import scala.collection.immutable.SortedMap

import splice.kafka.internal.errors.MissingRange
import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition
import splice.source.internal.entries.{NumberedEntries, VersionedEntry}
import splice.source.runtime.SideLog

/** Skips records that are no longer in the log, before a batch is planned.
  *
  * @param earliest
  *   requests the first offsets of partitions; omits partitions that do not respond
  * @param fills
  *   the holes of the start
  */
final private[bounds] class RetentionGaps(
    earliest: Set[LogPartition] => Map[LogPartition, Long],
    skipLog: SkipEntries,
    fills: () => Fills,
    retention: Retention,
    lastEnds: EndOffsets
) {

  /** Partitions with a backlog. If a partition had no backlog at the last request, retention could only have removed
    * records that were written within one batch. The reader detects this case, so no request is sent for such a
    * partition.
    */
  def behind(at: KafkaPosition, partitions: Set[LogPartition]): Set[LogPartition] =
    partitions.filterNot(p => lastEnds.last(p).exists(end => at.get(p).exists(end <= _)))

  /** The position after the ranges that are already skipped. */
  def known(at: KafkaPosition): KafkaPosition =
    if (skipLog.known.isEmpty) at
    else
      at.copy(offsets = at.offsets.map { case (p, offset) =>
        p -> skipLog.known.next(p, at.generation(p.topic), offset)
      })

  /** The ends. If a partition has skipped records, its end is not before the offset at which it continues. */
  def reached(before: KafkaPosition, at: KafkaPosition, ends: Map[LogPartition, Long]): Map[LogPartition, Long] =
    if (before eq at) ends
    else
      ends.map { case (p, end) =>
        p -> at.get(p).filterNot(before.get(p).contains).fold(end)(math.max(end, _))
      }

  /** The position after the records that retention has removed. The skip is durable when the method returns.
    *
    * @param ends
    *   the ends up to which the partitions are read now. If no offset is left to read before the end, no record is lost
    * @param last
    *   the end of a partition in the source. Later offsets are neither lost nor skipped
    * @param behind
    *   the partitions from which retention may have removed the next record
    */
  def pass(
      at: KafkaPosition,
      ends: Map[LogPartition, Long],
      last: LogPartition => Long,
      behind: Set[LogPartition]
  ): KafkaPosition = {
    val requested = behind.filter { p =>
      at.get(p).exists { from =>
        ends.get(p).exists(end => fills().between(p, at.generation(p.topic), from, math.min(end, last(p))) > 0)
      }
    }
    val gaps =
      (if (requested.isEmpty) Map.empty[LogPartition, Long] else earliest(requested)).toSeq.sortBy(_._1).flatMap {
        case (p, first) =>
          // Records of the history are not lost.
          at.get(p).toSeq.flatMap { offset =>
            fills().read(p, at.generation(p.topic), offset, math.min(first, last(p))).ranges
              .map { case (from, until) => MissingRange(p, from, Some(until)) }
          }
      }
    val to = retention.goOn("the log begins after the next offset to read", gaps, last)
    if (to.isEmpty) at
    else {
      val from = KafkaPosition(at.offsets.filter { case (p, _) => to.contains(p) }).like(at)
      skipLog.add(from, KafkaPosition.of(to).like(at))
      at ++ to
    }
  }
}

/** Skipped ranges, durable before an offset or a plan depends on the ranges. The log no longer contains their first
  * offsets, or a policy drops the offsets because their topic was deleted or recreated.
  */
final private[kafka] class SkipEntries(log: SideLog) {

  import SkipEntries._

  private val entries = new NumberedEntries(log, "skips")(read)

  private var stored: SortedMap[Int, Entry] =
    SortedMap.from(entries.numbers.iterator.map(number => number -> entries(number)))

  private var all = stored.valuesIterator.foldLeft(SkippedRanges())(including)

  /** The durable ranges. */
  def known: SkippedRanges = all

  /** Stores the ranges between two positions as skipped. Both positions have the same partitions and generations. The
    * entry is durable when the method returns.
    */
  def add(from: KafkaPosition, until: KafkaPosition): Unit = {
    val first = entries.next
    val last  = entries.create(VersionedEntry.write(Nil, Seq(from.json, until.json)))
    val added = (first to last).map(number => number -> entries(number))
    stored ++= added
    all = added.foldLeft(all)((skips, entry) => including(skips, entry._2))
  }

  /** Removes the entries without a range after `oldest`. The last entry remains, so that no number is used twice.
    *
    * @param keep
    *   receives the ranges of these entries before their removal
    */
  def retain(oldest: KafkaPosition)(keep: SkippedRanges => Unit): Unit = {
    val (passed, needed) = stored.partition { case (number, entry) =>
      entry.isPassed(oldest) && !stored.lastOption.exists(_._1 == number)
    }
    if (passed.nonEmpty) {
      keep(passed.valuesIterator.foldLeft(SkippedRanges())(including))
      entries.purge(passed.keys)
      stored = needed
      all = stored.valuesIterator.foldLeft(SkippedRanges())(including)
    }
  }
}

private object SkipEntries {

  final private case class Entry(from: KafkaPosition, until: KafkaPosition) {

    /** True if a position is at or after the end of each range, or has a later generation of its topic. */
    def isPassed(at: KafkaPosition): Boolean = until.offsets.forall { case (p, end) =>
      val (generation, current) = (from.generation(p.topic), at.generation(p.topic))
      generation < current || (generation == current && at.get(p).exists(end <= _))
    }
  }

  private def read(entry: VersionedEntry): Entry = entry.lines match {
    case Seq(from, until) => Entry(KafkaPosition.read(from), KafkaPosition.read(until))
    case lines            => entry.corrupt(s"the entry has ${lines.size + 1} lines instead of 3")
  }

  private def including(all: SkippedRanges, entry: Entry): SkippedRanges =
    entry.from.offsets.foldLeft(all) { case (skips, (p, offset)) =>
      val generation = entry.from.generation(p.topic)
      entry.until.get(p).fold(skips)(end => skips.including(p, generation, SkippedRanges.Skip(offset, end)))
    }
}
