// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.dynamic.internal.errors.DynamicErrors
import splice.source.{LogPartition, StartPosition}

/** The part of a start that belongs to one cluster. */
private[dynamic] object ClusterStart {

  /** Checks that each topic of a history is on at most one cluster.
    *
    * @param read
    *   the topics of each cluster
    * @throws splice.source.errors.SpliceException
    *   if a topic is on several clusters
    */
  def check(topics: collection.Set[String], read: SortedMap[String, SortedSet[String]]): Unit = {
    val several = SortedSet.from(topics).toSeq.map { topic =>
      topic -> read.collect { case (name, listed) if listed(topic) => name }
    }.filter(_._2.size > 1)
    if (several.nonEmpty) throw DynamicErrors.severalClusters(several)
  }

  /** Checks that no cluster is absent. A hand-over needs all clusters: an absent cluster would begin later like a new
    * cluster.
    */
  def rejectAbsent(absent: collection.Set[String]): Unit =
    if (absent.nonEmpty) throw DynamicErrors.inactive(absent.toSet)

  /** Merges the values of all clusters. Drops partitions whose name several clusters have, because no history contains
    * such a partition.
    */
  def merged[A](values: SortedMap[String, SortedMap[LogPartition, A]]): SortedMap[LogPartition, A] = {
    val several = values.toSeq.flatMap(_._2.keys).groupBy(identity).collect { case (p, all) if all.size > 1 => p }
    values.valuesIterator.foldLeft(SortedMap.empty[LogPartition, A])(_ ++ _) -- several
  }

  /** Returns the start for some topics. The offsets of a hand-over apply by topic name, on every cluster. */
  def apply(at: StartPosition, topics: SortedSet[String]): StartPosition = at match {
    case StartPosition.Offsets(starts) => StartPosition.Offsets(starts.filter { case (p, _) => topics(p.topic) })
    case other                         => other
  }
}
