// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import scala.collection.immutable.SortedSet

import splice.kafka.KafkaErrors
import splice.kafka.options.{EndingOffsets, KafkaOptions}
import splice.kafka.split.KafkaPosition
import splice.source.{EnumeratorContext, LogPartition, NumberedEntries, ReadMode, VersionedEntry}

/** Where a bounded source ends, as numbers: entries `ending-<n>`, one for each start that a run has computed. The entry of the start that is
  * stored holds.
  */
final private[splice] class EndingLog(context: EnumeratorContext, log: LogMetadata, resolver: StartResolver) {

  private val entries = new NumberedEntries(context.sideLog, "ending")(EndingLog.read)

  // An entry may be of a later position than the start, if the options had no end before.
  private var known: Option[EndingLog.Entry] = {
    val all   = entries.all
    val start = context.start.filter(_ => all.nonEmpty).map(stored => KafkaPosition.read(stored.position))
    all.find(entry => start.contains(entry.start)).orElse(all.lastOption)
  }

  /** The end, if it was decided. */
  def end: Option[KafkaPosition] = known.map(_.end)

  /** The end of a source that begins at `start`. The first end that a run decides for a start holds, also if that run was killed before it stored
    * the start.
    */
  def begin(ending: EndingOffsets, start: KafkaPosition, partitions: SortedSet[LogPartition]): EndingLog.Entry = {
    lazy val decided = lines(ending, start, partitions)
    // Another driver may have created an entry of this number, for another start or for this one.
    def append() = entries.appendUntil(decided)((_, _) => ())(_.start == start)
    val entry    = entries.all.find(_.start == start).getOrElse(append())
    known = Some(entry)
    entry
  }

  /** The end; decided now if it never was.
    *
    * @param at
    *   where the source is
    */
  def resolve(ending: EndingOffsets, at: KafkaPosition, partitions: => SortedSet[LogPartition]): EndingLog.Entry = {
    val entry = known.getOrElse(entries.append(lines(ending, at, partitions)))
    known = Some(entry)
    entry
  }

  private def lines(ending: EndingOffsets, at: KafkaPosition, partitions: SortedSet[LogPartition]): Seq[String] =
    VersionedEntry.write(Nil, Seq(decide(ending, partitions).json, at.json))

  private def decide(ending: EndingOffsets, partitions: SortedSet[LogPartition]): KafkaPosition = {
    // Ends come first: a record that lands in between belongs to what comes after.
    val ends = log.ends(partitions)
    KafkaPosition.of(ending match {
      case EndingOffsets.Latest           => ends
      case EndingOffsets.Committed(reset) =>
        resolver.committed(reset, partitions.toSet)(_.map { case (p, o) => p -> math.min(o, ends.getOrElse(p, o)) })
      case EndingOffsets.AtTime(time) => ends ++ times(partitions.iterator.map(_ -> time).toMap, ends)
      case EndingOffsets.AtTimes(of)  =>
        StartResolver.checkPartitions(resolver.prefix + KafkaOptions.EndingTimestamps.key, of.keySet, partitions)
        ends ++ times(of, ends)
      case EndingOffsets.Exact(offsets) =>
        StartResolver.checkPartitions(resolver.prefix + KafkaOptions.Ending.key, offsets.keySet, partitions)
        val beyond = offsets.toSeq.collect { case (p, o) if ends.get(p).exists(_ < o) => (p, o, ends(p)) }
        // A stream waits until the log has grown that far; a batch would wait for ever.
        if (context.mode == ReadMode.Batch && beyond.nonEmpty) throw KafkaErrors.endBeyond(beyond)
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
