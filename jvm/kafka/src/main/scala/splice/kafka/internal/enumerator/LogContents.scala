// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator

import scala.collection.immutable.SortedMap

import splice.kafka.internal.cluster.ClusterAccess
import splice.kafka.internal.identity.Topics
import splice.source.LogPartition
import splice.source.log.{LogRange, Outlook}

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

  def outlook(): Outlook = {
    val contents = ranges(SortedMap.empty)
    log.checkReadable(contents.keySet.map(_.topic).toSet)
    KafkaOutlook(contents, log)
  }
}
