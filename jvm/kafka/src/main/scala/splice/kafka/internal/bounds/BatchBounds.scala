// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import java.time.Instant

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.Place
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.options.KafkaOptions
import splice.source.LogPartition

/** Rejects batches whose range is empty or reversed, as Spark's Kafka source does. */
private[bounds] object BatchBounds {

  /** Checks the options without any request to a server.
    *
    * @throws splice.source.errors.SpliceOptionException
    *   when the batch starts at or after its end
    */
  def reject(start: Place, ending: Option[Place], prefix: String): Unit = {
    val latest = start match {
      case Place.Latest            => true
      case Place.Exact(offsets, _) => offsets.valuesIterator.contains(StartResolver.AtLatest)
      case _                       => false
    }
    if (latest)
      throw KafkaErrors.rejectedOption(
        s"$prefix${KafkaOptions.Starting.key} = latest",
        "a batch ends at the latest offsets, so the batch would read nothing. Begin at 'earliest', at offsets or at a time, or read as a stream"
      )
    (start, ending) match {
      case (Place.Exact(from, true), Some(Place.Exact(until, _))) =>
        reject(prefix, KafkaOptions.Ending.key, from, until)(_.toString)
      case (Place.AtTimes(from, _), Some(Place.AtTimes(until, _))) =>
        reject(prefix, KafkaOptions.EndingTimestamps.key, from, until)(Instant.ofEpochMilli(_).toString)
      case (from: Place.At, Some(until: Place.At)) if from.time.isAfter(until.time) =>
        throw KafkaErrors.startAfterEnd(Seq(("each partition", from.time.toString, until.time.toString)), prefix)
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
