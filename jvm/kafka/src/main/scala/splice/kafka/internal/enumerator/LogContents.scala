// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator

import java.time.Instant

import scala.collection.immutable.SortedMap

import splice.kafka.internal.cluster.ClusterAccess
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.identity.Topics
import splice.kafka.internal.split.KafkaPosition
import splice.source.errors.SpliceException
import splice.source.log.{LogRange, Outlook}
import splice.source.{LogPartition, Position}

/** The contents of the logs of a cluster before the source reads records.
  *
  * @param isCommitted
  *   true if only committed records determine the ends
  */
final private[splice] class LogContents(cluster: ClusterAccess, topics: Topics, isCommitted: Boolean) {

  private val log = cluster.client

  /** The first offset and the end of each partition. The end is after the records of open transactions that the history
    * has.
    *
    * @param history
    *   the ends of partitions in a history; a broker with outdated metadata may return lower ends
    */
  def ranges(history: SortedMap[LogPartition, Long]): SortedMap[LogPartition, LogRange] = {
    val partitions = topics.first(history.keySet)
    topics.requireAll()
    def below(ends: Map[LogPartition, Long]) = history.filter { case (p, end) => ends.get(p).exists(_ < end) }
    def ends()                               = {
      val readable = log.ends(partitions)
      val low      = if (isCommitted) below(readable) else SortedMap.empty[LogPartition, Long]
      val written  = if (low.isEmpty) Map.empty[LogPartition, Long] else log.written(low.keySet)
      readable ++ written.map { case (p, end) => p -> math.max(readable(p), math.min(end, low(p))) }
    }
    // Ends are requested first. A record that is written between the requests is read after the start.
    val until = cluster.recheck.confirm(ends())(below(_).nonEmpty)(() => ends())
    val from  = log.earliest(partitions)
    SortedMap.from(partitions.iterator.map { p =>
      val first = from.getOrElse(p, 0L)
      p -> LogRange(first, math.max(first, until.getOrElse(p, first)))
    })
  }

  /** The time of the first record of each partition after a start; empty if the brokers do not respond. */
  def firstTimes(start: Position): SortedMap[LogPartition, Instant] =
    try {
      val at    = KafkaPosition.read(start.json).offsets
      val ends  = log.ends(at.keySet)
      val found = log.nextRecords(at.flatMap { case (p, from) =>
        ends.get(p).filter(from < _).map(until => p -> (from -> until))
      })
      SortedMap.from(found.iterator.map { case (p, record) => p -> record.time })
    } catch { case e: SpliceException if KafkaErrors.isUnreachable(e) => SortedMap.empty }

  def outlook(): Outlook = {
    val contents = ranges(SortedMap.empty)
    log.checkReadable(contents.keySet.map(_.topic).toSet)
    KafkaOutlook(contents, log)
  }
}
