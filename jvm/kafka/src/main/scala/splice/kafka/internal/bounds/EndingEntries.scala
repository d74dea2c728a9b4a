// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import scala.collection.immutable.SortedSet

import splice.kafka.internal.cluster.ClusterClient
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.options.{EndingOffsets, KafkaOptions}
import splice.kafka.internal.split.KafkaPosition
import splice.source.internal.entries.{NumberedEntries, VersionedEntry}
import splice.source.{EnumeratorContext, LogPartition, ReadMode}

/** The end of a bounded source as offsets. Each start that a run has computed has an entry `ending-<n>`. The entry of
  * the stored start applies.
  */
final private[kafka] class EndingEntries(context: EnumeratorContext, log: ClusterClient, resolver: StartResolver) {

  private val entries = new NumberedEntries(context.sideLog, "ending")(EndingEntries.read)

  // An entry may belong to a later position than the start if the options first had no end.
  private var known: Option[EndingEntries.Entry] = {
    val all   = entries.all
    val start = context.start.filter(_ => all.nonEmpty).map(stored => KafkaPosition.read(stored.position))
    all.find(entry => start.contains(entry.start)).orElse(all.lastOption)
  }

  /** The end, if a run has stored an end. */
  def end: Option[KafkaPosition] = known.map(_.end)

  /** Returns the end of a source that begins at `start`. The first end of a start applies, including when the run was
    * killed before it stored the start.
    */
  def begin(ending: EndingOffsets, start: KafkaPosition, partitions: SortedSet[LogPartition]): EndingEntries.Entry = {
    lazy val decided = lines(ending, start, partitions)
    // Another driver may have created an entry with this number, for this start or for another start.
    def append() = entries.appendUntil(decided)((_, _) => ())(_.start == start)
    val entry    = entries.all.find(_.start == start).getOrElse(append())
    known = Some(entry)
    entry
  }

  /** Returns the stored end. If no end is stored, resolves and stores the end.
    *
    * @param at
    *   the position of the source
    */
  def resolve(ending: EndingOffsets, at: KafkaPosition, partitions: => SortedSet[LogPartition]): EndingEntries.Entry = {
    val entry = known.getOrElse(entries.append(lines(ending, at, partitions)))
    known = Some(entry)
    entry
  }

  private def lines(ending: EndingOffsets, at: KafkaPosition, partitions: SortedSet[LogPartition]): Seq[String] =
    VersionedEntry.write(Nil, Seq(decide(ending, partitions).json, at.json))

  private def decide(ending: EndingOffsets, partitions: SortedSet[LogPartition]): KafkaPosition = {
    // Ends are requested first. A record that arrives between the requests is after the end.
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
        // A stream waits until the log has reached the offset. A batch would wait indefinitely.
        if (context.mode == ReadMode.Batch && beyond.nonEmpty) throw KafkaErrors.endBeyond(beyond)
        ends ++ offsets.filter(_._2 != StartResolver.AtLatest)
    })
  }

  private def times(of: Map[LogPartition, Long], ends: Map[LogPartition, Long]): Map[LogPartition, Long] =
    log.atTime(of).map { case (p, record) => p -> math.min(record.offset, ends.getOrElse(p, record.offset)) }
}

private[kafka] object EndingEntries {

  /** The end of the source, and the position for which the end was resolved. */
  final case class Entry(end: KafkaPosition, start: KafkaPosition)

  private def read(entry: VersionedEntry): Entry = entry.lines match {
    case Seq(end, start) => Entry(KafkaPosition.read(end), KafkaPosition.read(start))
    case lines           => entry.corrupt(s"the entry has ${lines.size + 1} lines instead of 3")
  }
}
