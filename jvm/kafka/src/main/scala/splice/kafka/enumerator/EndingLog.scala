// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import scala.collection.immutable.SortedSet

import splice.kafka.KafkaErrors
import splice.kafka.options.{EndingOffsets, KafkaOptions}
import splice.kafka.split.KafkaPosition
import splice.source.{LogPartition, ReadMode, SideLog, VersionedEntry}

/** Where a bounded source ends, as numbers, decided once in the life of a checkpoint. */
final private[splice] class EndingLog(side: SideLog, log: LogMetadata, mode: ReadMode, resolver: StartResolver) {

  private val Key = "ending"

  private var known: Option[EndingLog.Entry] = None

  /** The end; decided now if it never was.
    *
    * @param start
    *   where the source began, if this is where it begins
    */
  def resolve(ending: EndingOffsets, start: KafkaPosition, partitions: => SortedSet[LogPartition]): EndingLog.Entry =
    known.getOrElse {
      def decided = VersionedEntry.write(Nil, Seq(decide(ending, partitions).json, start.json))
      val durable = VersionedEntry.read(Key, side.getOrCreate(Key)(decided))
      val entry   = durable.lines match {
        case Seq(end, begin) => EndingLog.Entry(KafkaPosition.read(end), KafkaPosition.read(begin))
        case lines           => durable.corrupt(s"it has ${lines.size + 1} lines instead of 3")
      }
      known = Some(entry)
      entry
    }

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
}
