// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator

import java.time.Instant

import scala.collection.immutable.SortedMap

import splice.kafka.internal.cluster.{ClusterClient, TimedOffset}
import splice.source.LogPartition
import splice.source.log.{LogOutlook, LogRange, Outlook}

/** The logs of the partitions that a source will read. */
final private[splice] case class KafkaOutlook(override val logs: SortedMap[LogPartition, LogOutlook]) extends Outlook

private[splice] object KafkaOutlook {

  /** Requests the time of the first record of each partition that has records. */
  def apply(ranges: SortedMap[LogPartition, LogRange], log: ClusterClient): KafkaOutlook = {
    val filled = ranges.collect { case (p, range) if range.from < range.until => p -> 0L }
    val firsts = if (filled.isEmpty) Map.empty[LogPartition, TimedOffset] else log.atTime(filled)
    KafkaOutlook(ranges.map { case (p, range) =>
      p -> LogOutlook(range, firsts.get(p).map(record => Instant.ofEpochMilli(record.millis)))
    })
  }
}
