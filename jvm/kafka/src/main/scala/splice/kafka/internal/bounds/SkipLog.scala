// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import scala.collection.immutable.SortedMap

import splice.kafka.internal.split.KafkaPosition
import splice.source.internal.entries.{NumberedEntries, VersionedEntry}
import splice.source.runtime.SideLog

/** Skipped ranges, durable before an offset or a plan depends on them. The log no longer contains their first offsets,
  * or a policy drops them because their topic was deleted or recreated.
  */
final private[splice] class SkipLog(log: SideLog) {

  import SkipLog._

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
    all = added.foldLeft(all)((skips, one) => including(skips, one._2))
  }

  /** Removes the entries without a range after `oldest`. The last entry remains, so that no number is used twice. */
  def retain(oldest: KafkaPosition): Unit = {
    val (passed, needed) = stored.partition { case (number, entry) =>
      entry.isPassed(oldest) && !stored.lastOption.exists(_._1 == number)
    }
    if (passed.nonEmpty) {
      entries.purge(passed.keys)
      stored = needed
      all = stored.valuesIterator.foldLeft(SkippedRanges())(including)
    }
  }
}

private object SkipLog {

  final private case class Entry(from: KafkaPosition, until: KafkaPosition) {

    /** True if a position is at or after the end of each range, or has a later generation of its topic. */
    def isPassed(at: KafkaPosition): Boolean = until.offsets.forall { case (p, end) =>
      val (own, there) = (from.generation(p.topic), at.generation(p.topic))
      own < there || (own == there && at.get(p).exists(end <= _))
    }
  }

  private def read(entry: VersionedEntry): Entry = entry.lines match {
    case Seq(from, until) => Entry(KafkaPosition.read(from), KafkaPosition.read(until))
    case lines            => entry.corrupt(s"it has ${lines.size + 1} lines instead of 3")
  }

  private def including(all: SkippedRanges, entry: Entry): SkippedRanges =
    entry.from.offsets.foldLeft(all) { case (skips, (p, offset)) =>
      val generation = entry.from.generation(p.topic)
      entry.until.get(p).fold(skips)(end => skips.including(p, generation, SkippedRanges.Skip(offset, end)))
    }
}
