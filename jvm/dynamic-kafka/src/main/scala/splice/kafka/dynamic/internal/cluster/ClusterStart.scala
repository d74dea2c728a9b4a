// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.dynamic.internal.errors.DynamicErrors
import splice.source.{LogPartition, StartPosition}

/** The part of a start that one cluster is asked for. */
private[dynamic] object ClusterStart {

  /** Makes sure that the topics of a history are each on one cluster at most.
    *
    * @param read
    *   the topics of each cluster
    * @throws splice.source.errors.SpliceException
    *   when a topic is on several clusters
    */
  def check(topics: collection.Set[String], read: SortedMap[String, SortedSet[String]]): Unit = {
    val several = SortedSet.from(topics).toSeq.map { topic =>
      topic -> read.collect { case (name, own) if own(topic) => name }
    }.filter(_._2.size > 1)
    if (several.nonEmpty) throw DynamicErrors.severalClusters(several)
  }

  /** A hand-over needs all clusters: one that is absent would begin later as one that is new. */
  def refuseAbsent(absent: collection.Set[String]): Unit =
    if (absent.nonEmpty) throw DynamicErrors.inactive(absent.toSet)

  /** The values of all clusters. A partition that several clusters have under one name is in no history, and is left out. */
  def merged[A](found: SortedMap[String, SortedMap[LogPartition, A]]): SortedMap[LogPartition, A] = {
    val several = found.toSeq.flatMap(_._2.keys).groupBy(identity).collect { case (p, all) if all.size > 1 => p }
    found.valuesIterator.foldLeft(SortedMap.empty[LogPartition, A])(_ ++ _) -- several
  }

  /** Offsets that a hand-over found are those of topics, whatever cluster they are on. */
  def apply(at: StartPosition, topics: SortedSet[String]): StartPosition = at match {
    case StartPosition.Offsets(starts) => StartPosition.Offsets(starts.filter { case (p, _) => topics(p.topic) })
    case other                         => other
  }
}
