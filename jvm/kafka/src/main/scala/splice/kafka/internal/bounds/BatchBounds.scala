// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import java.time.Instant

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.options.{EndingOffsets, KafkaOptions, StartingOffsets}
import splice.source.LogPartition

/** Rejects batches whose range is empty or reversed, as Spark's Kafka source does. */
private[bounds] object BatchBounds {

  /** Checks the options without any request to a server.
    *
    * @throws splice.source.errors.SpliceOptionException
    *   when the batch starts at or after its end
    */
  def reject(start: StartingOffsets, ending: Option[EndingOffsets], prefix: String): Unit = {
    val latest = start match {
      case StartingOffsets.Latest            => true
      case StartingOffsets.Exact(offsets, _) => offsets.valuesIterator.contains(StartResolver.AtLatest)
      case _                                 => false
    }
    if (latest)
      throw KafkaErrors.rejectedOption(
        s"$prefix${KafkaOptions.Starting.key} = latest",
        "a batch ends at the latest offsets, so the batch would read nothing. Begin at 'earliest', at offsets or at a time, or read as a stream"
      )
    (start, ending) match {
      case (StartingOffsets.Exact(from, true), Some(EndingOffsets.Exact(until))) =>
        reject(prefix, KafkaOptions.Ending.key, from, until)(_.toString)
      case (StartingOffsets.AtTimes(from, _), Some(EndingOffsets.AtTimes(until))) =>
        reject(prefix, KafkaOptions.EndingTimestamps.key, from, until)(Instant.ofEpochMilli(_).toString)
      case (StartingOffsets.AtTime(from, _), Some(EndingOffsets.AtTime(until))) if from > until =>
        throw KafkaErrors.startAfterEnd(
          Seq(("each partition", Instant.ofEpochMilli(from).toString, Instant.ofEpochMilli(until).toString)),
          prefix
        )
      case _ => ()
    }
  }

  private def reject(
      prefix: String,
      option: String,
      from: SortedMap[LogPartition, Long],
      until: SortedMap[LogPartition, Long]
  )(show: Long => String): Unit = {
    StartResolver.checkPartitions(prefix + option, until.keySet, SortedSet.from(from.keySet))
    // A negative number means earliest or latest.
    val behind = from.toSeq.collect {
      case (p, start) if until(p) >= 0 && start > until(p) => (p.toString, show(start), show(until(p)))
    }
    if (behind.nonEmpty) throw KafkaErrors.startAfterEnd(behind, prefix)
  }

  /** @throws splice.source.errors.SpliceOptionException when a partition starts after its end */
  def reject(entry: EndingEntries.Entry, prefix: String): Unit = {
    val behind = entry.start.offsets.toSeq.collect {
      case (p, start) if entry.end.get(p).exists(_ < start) =>
        (p.toString, start.toString, entry.end.get(p).getOrElse(start).toString)
    }
    if (behind.nonEmpty) throw KafkaErrors.startAfterEnd(behind, prefix)
  }
}
