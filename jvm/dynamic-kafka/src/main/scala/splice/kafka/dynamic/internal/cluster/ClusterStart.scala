// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.dynamic.internal.errors.DynamicErrors
import splice.source.{LogPartition, StartPosition}

/** The part of a start that belongs to one cluster. In a history and in a start, a topic that several clusters host has
  * the name `<cluster>/<topic>`.
  */
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

  /** Merges the values of all clusters.
    *
    * @param read
    *   the topics of each cluster
    */
  def merged[A](
      values: SortedMap[String, SortedMap[LogPartition, A]],
      read: SortedMap[String, SortedSet[String]]
  ): SortedMap[LogPartition, A] = {
    val several =
      read.valuesIterator.flatten.toSeq.groupBy(identity).collect { case (t, all) if all.size > 1 => t }.toSet
    SortedMap.from(values.iterator.flatMap { case (name, all) =>
      all.iterator.map { case (p, value) =>
        (if (several(p.topic)) p.copy(topic = s"$name/${p.topic}") else p) -> value
      }
    })
  }

  /** Returns the values of one cluster, by the names of the partitions on this cluster. */
  def within[A](cluster: String, values: SortedMap[LogPartition, A]): SortedMap[LogPartition, A] =
    values.map { case (p, value) => p.copy(topic = p.topic.stripPrefix(s"$cluster/")) -> value }

  /** Returns the start for the topics of a cluster. */
  def apply(at: StartPosition, cluster: String, topics: SortedSet[String]): StartPosition = at match {
    case StartPosition.Offsets(starts) =>
      StartPosition.Offsets(within(cluster, starts).filter { case (p, _) => topics(p.topic) })
    case other => other
  }
}
