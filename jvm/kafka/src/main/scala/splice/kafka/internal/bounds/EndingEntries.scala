// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import scala.collection.immutable.SortedSet

import org.slf4j.LoggerFactory

import splice.kafka.Place
import splice.kafka.internal.cluster.ClusterClient
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.options.KafkaOptions
import splice.kafka.internal.split.KafkaPosition
import splice.source.internal.entries.{NumberedEntries, VersionedEntry}
import splice.source.{EnumeratorContext, LogPartition, ReadMode}

/** The end of a bounded source as offsets. Each start that a run has computed has an entry `ending-<n>`. The last entry
  * of the stored start applies.
  *
  * @param starts
  *   the starts of partitions that a source without an end has found
  * @param skipped
  *   returns the ranges that the source skips or has skipped
  * @param reached
  *   receives the ends of the log from which an end was resolved
  */
final private[kafka] class EndingEntries(
    context: EnumeratorContext,
    log: ClusterClient,
    resolver: StartResolver,
    starts: StartEntries,
    skipped: () => SkippedRanges,
    reached: Map[LogPartition, Long] => Unit
) {

  private val entries = new NumberedEntries(context.sideLog, "ending")(EndingEntries.read)

  // An entry may belong to a later position than the start if the options first had no end.
  private var known: Option[EndingEntries.Entry] = {
    val all   = entries.all
    val start = context.start.filter(_ => all.nonEmpty).map(stored => KafkaPosition.read(stored.position))
    all.findLast(entry => start.contains(entry.start)).orElse(all.lastOption)
  }

  /** The end, if a run has stored an end. */
  def end: Option[KafkaPosition] = known.map(_.end)

  /** Returns the end of a source that begins at `start`. The first end of a start applies, including when the run was
    * killed before it stored the start.
    */
  def begin(ending: Place, start: KafkaPosition, partitions: SortedSet[LogPartition]): EndingEntries.Entry = {
    lazy val decided = lines(ending, start, partitions)
    // Another driver may have created an entry with this number, for this start or for another start.
    def append() = entries.appendUntil(decided)((_, _) => ())(_.start == start)
    val entry    = entries.all.find(_.start == start).getOrElse(append())
    known = Some(entry)
    entry
  }

  /** Returns the stored end. If no end is stored, or if the source has passed the stored end in a run without an end,
    * resolves and stores the end.
    *
    * @param at
    *   the position of the source
    */
  def resolve(ending: Place, at: KafkaPosition, partitions: => SortedSet[LogPartition]): EndingEntries.Entry = {
    val entry = known match {
      case None                                       => entries.append(lines(ending, at, partitions))
      case Some(old) if isPassed(old, at, partitions) => renew(old, ending, at, partitions)
      case Some(current)                              => current
    }
    known = Some(entry)
    entry
  }

  /** True if a bounded source cannot have read up to this position: the position is after the end, or a source without
    * an end has found one of its partitions.
    */
  private def isPassed(
      entry: EndingEntries.Entry,
      at: KafkaPosition,
      partitions: => SortedSet[LogPartition]
  ): Boolean = {
    lazy val skips = skipped()
    at.offsets.exists { case (p, offset) =>
      val generation = at.generation(p.topic)
      entry.end.get(p) match {
        case Some(end) =>
          val start = entry.start.get(p).orElse(starts.known.get(p -> generation))
          val last  = math.max(end, start.getOrElse(end))
          // The offsets of another generation are not comparable. Retention can remove the records up to the end.
          offset > last && entry.start.generation(p.topic) == generation &&
          offset > skips.next(p, generation, last)
        case None => starts.known.contains(p -> generation) && partitions(p)
      }
    }
  }

  /** Stores another end for the start of an entry. The end is not before the position. */
  private def renew(
      old: EndingEntries.Entry,
      ending: Place,
      at: KafkaPosition,
      partitions: SortedSet[LogPartition]
  ): EndingEntries.Entry = {
    lazy val decided = {
      val wanted = decide(ending, partitions)
      KafkaPosition.of(partitions.toSeq.flatMap(p => (wanted.get(p) ++ at.get(p)).maxOption.map(p -> _)))
    }
    val entry = entries.appendUntil(EndingEntries.write(decided, old.start))((_, _) => ())(_.start == old.start)
    EndingEntries.logger.warn(
      s"The source has read up to ${at.summary} without an end, which is after the stored end ${old.end.summary}. The source now ends at " +
        s"${entry.end.summary}."
    )
    entry
  }

  private def lines(ending: Place, at: KafkaPosition, partitions: SortedSet[LogPartition]): Seq[String] =
    EndingEntries.write(decide(ending, partitions), at)

  private def decide(ending: Place, partitions: SortedSet[LogPartition]): KafkaPosition = {
    // Ends are requested first. A record that arrives between the requests is after the end.
    val ends = log.ends(partitions)
    reached(ends)
    KafkaPosition.of(ending match {
      case Place.Committed(otherwise) =>
        resolver.committed(otherwise, partitions)(_.map { case (p, o) => p -> math.min(o, ends.getOrElse(p, o)) })
      case at: Place.At         => ends ++ times(partitions.iterator.map(_ -> at.millis).toMap, ends)
      case Place.AtTimes(of, _) =>
        StartResolver.checkPartitions(resolver.prefix + KafkaOptions.EndingTimestamps.key, of.keySet, partitions)
        ends ++ times(of, ends)
      case Place.Exact(offsets, _) =>
        StartResolver.checkPartitions(resolver.prefix + KafkaOptions.Ending.key, offsets.keySet, partitions)
        val beyond = offsets.toSeq.collect { case (p, o) if ends.get(p).exists(_ < o) => (p, o, ends(p)) }
        // A stream waits until the log has reached the offset. A batch would wait indefinitely.
        if (context.mode == ReadMode.Batch && beyond.nonEmpty) throw KafkaErrors.endBeyond(beyond)
        ends ++ offsets.filter(_._2 != StartResolver.AtLatest)
      case _ => ends
    })
  }

  private def times(of: Map[LogPartition, Long], ends: Map[LogPartition, Long]): Map[LogPartition, Long] =
    log.atTime(of).map { case (p, record) => p -> math.min(record.offset, ends.getOrElse(p, record.offset)) }
}

private[kafka] object EndingEntries {

  /** The end of the source, and the position for which the end was resolved. */
  final case class Entry(end: KafkaPosition, start: KafkaPosition)

  private val logger = LoggerFactory.getLogger(classOf[EndingEntries])

  private def write(end: KafkaPosition, start: KafkaPosition): Seq[String] =
    VersionedEntry.write(Nil, Seq(end.json, start.json))

  private def read(entry: VersionedEntry): Entry = entry.lines match {
    case Seq(end, start) => Entry(KafkaPosition.read(end), KafkaPosition.read(start))
    case lines           => entry.corrupt(s"the entry has ${lines.size + 1} lines instead of 3")
  }
}
