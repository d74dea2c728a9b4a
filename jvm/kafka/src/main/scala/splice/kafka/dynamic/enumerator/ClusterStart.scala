// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.KafkaErrors
import splice.kafka.dynamic.DynamicErrors
import splice.source.{LogPartition, StartPosition}

/** The part of a start that one cluster is asked for. */
private[dynamic] object ClusterStart {

  /** Makes sure that each offset is one cluster's, and that none is left out.
    *
    * @param read
    *   the topics of each cluster
    * @throws splice.source.SpliceException
    *   when a topic of the offsets is on no cluster, or on several
    */
  def check(at: StartPosition, read: SortedMap[String, SortedSet[String]]): Unit = at match {
    case StartPosition.Offsets(offsets, _, _) =>
      val on = SortedSet.from(offsets.keysIterator.map(_.topic)).toSeq.map { topic =>
        topic -> read.collect { case (name, topics) if topics(topic) => name }
      }
      val nowhere = on.collect { case (topic, names) if names.isEmpty => topic }.toSet
      val several = on.filter(_._2.size > 1)
      if (nowhere.nonEmpty) throw KafkaErrors.notInLog(offsets.keys.filter(p => nowhere(p.topic)))
      if (several.nonEmpty) throw DynamicErrors.severalClusters(several)
    case _ => ()
  }

  /** Offsets that a hand-over found are those of topics, whatever cluster they are on. */
  def apply(at: StartPosition, topics: SortedSet[String]): StartPosition = at match {
    case StartPosition.Offsets(offsets, onGap, archived) =>
      def own(all: SortedMap[LogPartition, Long]) = all.filter { case (p, _) => topics(p.topic) }
      StartPosition.Offsets(own(offsets), onGap, own(archived))
    case other => other
  }
}
