// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import splice.kafka.split.KafkaPosition
import splice.source.{NumberedEntries, SideLog, VersionedEntry}

/** Skipped ranges, durable before an offset or a plan depends on them: their beginning is no longer in the log, or a policy drops them
  * because their topic was deleted or recreated.
  */
final private[splice] class SkipLog(log: SideLog) {

  private val entries = new NumberedEntries(log, "skips")(SkipLog.read)

  private var all = entries.all.foldLeft(SkippedRanges())(SkipLog.including)

  /** The ranges that are durable. */
  def known: SkippedRanges = all

  /** Stores the ranges between two positions of the same partitions and generations as skipped. Durable when this returns. */
  def add(from: KafkaPosition, until: KafkaPosition): Unit = {
    val first = entries.next
    val last  = entries.create(VersionedEntry.write(Nil, Seq(from.json, until.json)))
    all = (first to last).map(entries(_)).foldLeft(all)(SkipLog.including)
  }
}

private object SkipLog {

  private def read(entry: VersionedEntry): (KafkaPosition, KafkaPosition) = entry.lines match {
    case Seq(from, until) => KafkaPosition.read(from) -> KafkaPosition.read(until)
    case lines            => entry.corrupt(s"it has ${lines.size + 1} lines instead of 3")
  }

  private def including(all: SkippedRanges, entry: (KafkaPosition, KafkaPosition)): SkippedRanges = {
    val (from, until) = entry
    from.offsets.foldLeft(all) { case (skips, (p, offset)) =>
      until.get(p).fold(skips)(end => skips.including(p, from.generation(p.topic), SkippedRanges.Skip(offset, end)))
    }
  }
}
