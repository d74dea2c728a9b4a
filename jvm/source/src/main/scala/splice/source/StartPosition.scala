// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import scala.collection.immutable.SortedMap

/** Where an enumerator is asked to begin. */
sealed trait StartPosition

object StartPosition {

  /** What the source's own options say. */
  case object Configured extends StartPosition

  /** Exact offsets, the first to be read, per log partition; a partition not named begins at its earliest record.
    *
    * @param onGap
    *   what to do about records that neither the history holds nor this start reads
    * @param archived
    *   the least offset of an archived history, per partition; the log may hold records before it that are not in the history
    */
  final case class Offsets(
      offsets: SortedMap[LogPartition, Long],
      onGap: OnGap,
      archived: SortedMap[LogPartition, Long] = SortedMap.empty
  ) extends StartPosition

  /** The first record at or after a time, in milliseconds since the epoch. */
  final case class Timestamp(millis: Long, onGap: OnGap) extends StartPosition
}

/** One partition of a log, such as a Kafka topic's. */
final case class LogPartition(topic: String, partition: Int) {
  override def toString: String = s"$topic-$partition"
}

object LogPartition {
  // Compared tens of thousands of times a batch, so it makes no pairs.
  implicit val ordering: Ordering[LogPartition] = (a: LogPartition, b: LogPartition) => {
    val byTopic = if (a.topic eq b.topic) 0 else a.topic.compareTo(b.topic)
    if (byTopic != 0) byTopic else Integer.compare(a.partition, b.partition)
  }
}

/** What happens when a hand-over would skip records, for example because a log no longer holds the wanted start. */
sealed trait OnGap extends Product with Serializable

object OnGap {

  /** The query fails and names the missing ranges (default). */
  case object Fail extends OnGap

  /** The missing ranges are logged as a warning, and reading begins at the first record that follows them. */
  case object Warn extends OnGap
}
