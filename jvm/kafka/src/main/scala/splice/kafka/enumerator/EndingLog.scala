// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import scala.collection.immutable.SortedSet

import splice.kafka.KafkaErrors
import splice.kafka.options.{EndingOffsets, KafkaOptions}
import splice.kafka.split.KafkaPosition
import splice.source.{LogPartition, NumberedEntries, ReadMode, SideLog, VersionedEntry}

/** Where a bounded source ends, as numbers: entries `ending-<n>`, of which the last one holds. A start that was not stored, because a run was
  * killed or because its hand-over failed, leaves an entry that a later start replaces.
  */
final private[splice] class EndingLog(side: SideLog, log: LogMetadata, mode: ReadMode, resolver: StartResolver) {

  private val entries = new NumberedEntries(side, "ending")(EndingLog.read)

  private var known: Option[EndingLog.Entry] = entries.numbers.lastOption.map(entries(_))

  /** The end, if it was decided. */
  def end: Option[KafkaPosition] = known.map(_.end)

  /** The end, decided now, of a source that begins at `start`, or the entry that another driver has stored meanwhile. */
  def begin(ending: EndingOffsets, start: KafkaPosition, partitions: SortedSet[LogPartition]): EndingLog.Entry = {
    // The entry of another driver that has begun the source at the same time holds for this one too.
    val entry = entries.append(VersionedEntry.write(Nil, Seq(decide(ending, partitions).json, start.json)))
    known = Some(entry)
    entry
  }

  /** The end; decided now if it never was.
    *
    * @param at
    *   where the source is
    */
  def resolve(ending: EndingOffsets, at: KafkaPosition, partitions: => SortedSet[LogPartition]): EndingLog.Entry =
    known.getOrElse(begin(ending, at, partitions))

  private def decide(ending: EndingOffsets, partitions: SortedSet[LogPartition]): KafkaPosition = {
    // Ends come first: a record that lands in between belongs to what comes after.
    val ends = log.ends(partitions)
    KafkaPosition.of(ending match {
      case EndingOffsets.Latest           => ends
      case EndingOffsets.Committed(reset) =>
        resolver.committed(reset, partitions.toSet)(_.map { case (p, o) => p -> math.min(o, ends.getOrElse(p, o)) })
      case EndingOffsets.AtTime(time) => ends ++ times(partitions.iterator.map(_ -> time).toMap, ends)
      case EndingOffsets.AtTimes(of)  =>
        StartResolver.checkPartitions(KafkaOptions.EndingTimestamps.key, of.keySet, partitions)
        ends ++ times(of, ends)
      case EndingOffsets.Exact(offsets) =>
        StartResolver.checkPartitions(KafkaOptions.Ending.key, offsets.keySet, partitions)
        val beyond = offsets.toSeq.collect { case (p, o) if ends.get(p).exists(_ < o) => (p, o, ends(p)) }
        // A stream waits until the log has grown that far; a batch would wait for ever.
        if (mode == ReadMode.Batch && beyond.nonEmpty) throw KafkaErrors.endBeyond(beyond)
        ends ++ offsets.filter(_._2 != StartResolver.AtLatest)
    })
  }

  private def times(of: Map[LogPartition, Long], ends: Map[LogPartition, Long]): Map[LogPartition, Long] =
    log.atTime(of).map { case (p, record) => p -> math.min(record.offset, ends.getOrElse(p, record.offset)) }
}

private[splice] object EndingLog {

  /** Where the source ends, and where it began as far as that is known. */
  final case class Entry(end: KafkaPosition, start: KafkaPosition)

  private def read(entry: VersionedEntry): Entry = entry.lines match {
    case Seq(end, start) => Entry(KafkaPosition.read(end), KafkaPosition.read(start))
    case lines           => entry.corrupt(s"it has ${lines.size + 1} lines instead of 3")
  }
}
