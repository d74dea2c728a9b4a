// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.change

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.collection.mutable

import splice.kafka.dynamic.internal.split.ClusterTopic
import splice.kafka.dynamic.internal.state.{AppliedMetadata, OncePerSet, StreamGroups}

/** Removed topics of streams that are drained before new topics of the same stream are read. All new topics of a stream
  * share one set, because a document may replace thousands of topics.
  */
private[dynamic] object DrainOrder {

  /** Returns the topics of each stream. */
  def byStream(topics: SortedMap[ClusterTopic, String]): SortedMap[String, SortedSet[ClusterTopic]] =
    StreamGroups.grouped(topics.iterator.map(_.swap))

  /** Returns, for topics that begin, the drained topics of their streams. A topic that waits for the new topic is
    * omitted, because it cannot end before the new topic.
    */
  def beginning(at: AppliedMetadata): (String, ClusterTopic) => SortedSet[ClusterTopic] = {
    val numbers = new OncePerSet((_, number) => number)
    val drained = at.draining.iterator.filterNot { case (topic, _) => at.streamOf.contains(topic) }
      .foldLeft(SortedMap.empty[String, SortedMap[Int, Drained]]) { case (all, (topic, is)) =>
        val number = if (is.after.isEmpty) -1 else numbers(is.after)
        val groups = all.getOrElse(is.stream, SortedMap.empty[Int, Drained])
        val group  = groups.getOrElse(number, Drained(is.after, SortedSet.empty))
        all.updated(is.stream, groups.updated(number, group.copy(topics = group.topics + topic)))
      }.map { case (stream, groups) => stream -> new OfStream(groups.values.toSeq) }
    (stream, topic) => drained.get(stream).fold(SortedSet.empty[ClusterTopic])(_.before(topic))
  }

  /** Drained topics of a stream that wait for the same topics. */
  final private case class Drained(after: SortedSet[ClusterTopic], topics: SortedSet[ClusterTopic])

  final private class OfStream(groups: Seq[Drained]) {
    private val known = mutable.Map.empty[Seq[Boolean], SortedSet[ClusterTopic]]

    def before(topic: ClusterTopic): SortedSet[ClusterTopic] =
      known.getOrElseUpdate(
        groups.map(_.after(topic)),
        groups.filterNot(_.after(topic)).foldLeft(SortedSet.empty[ClusterTopic])(_ ++ _.topics)
      )
  }
}
