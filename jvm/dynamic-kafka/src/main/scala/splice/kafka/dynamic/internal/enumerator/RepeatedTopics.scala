// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import splice.kafka.dynamic.internal.change.Rejection
import splice.kafka.dynamic.internal.cluster.SameClusters
import splice.kafka.dynamic.internal.errors.DynamicErrors
import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicPosition}
import splice.kafka.dynamic.internal.state.{AppliedMetadata, StreamGroupPart}

/** Topics that a document adds, and that are read already under another name of the same cluster. */
private[enumerator] object RepeatedTopics {

  /** Returns the reason why a group of streams is rejected: a topic would be read again under another name of its
    * cluster. The id of a new cluster is not known yet.
    *
    * @param base
    *   the state of all streams
    * @param id
    *   returns the id of a cluster that has responded before
    * @param change
    *   the state of the group after the document is applied
    */
  def rejection(base: AppliedMetadata, part: StreamGroupPart, at: DynamicPosition, id: String => Option[String])(
      change: => AppliedMetadata
  ): Option[Rejection] = {
    val pairs = for {
      topic <- AppliedMetadata.streamOf(part.document.streams.values).keys.toSeq if !base.streamOf.contains(topic)
      other <- base.clustersOf.getOrElse(topic.topic, Nil) if other != topic.cluster
    } yield topic -> ClusterTopic(other, topic.topic)
    if (pairs.isEmpty) None
    else {
      def adding(position: DynamicPosition, topics: Iterable[ClusterTopic]) = topics.foldLeft(position) { (all, t) =>
        all.updated(t.cluster, all.of(t.cluster).and(at.of(t.cluster).only(t.topic)))
      }
      // The topic of another group keeps its state and its position.
      val kept   = pairs.map(_._2).filterNot(part.at.topics.contains).distinct
      val now    = change
      val own    = adding(DynamicPosition.of(at.change, Nil), part.at.topics.keys)
      val states = now.copy(topics = now.topics ++ kept.map(topic => topic -> base.topics(topic)))
      val moved  = states.expecting(adding(now.moved(own), kept))
      val found  = for {
        (topic, other) <- pairs.iterator
        if SameClusters.overlaps(states, moved, topic.topic, topic.cluster, other.cluster)
        if !SameClusters.isUnread(if (part.at.topics.contains(other)) now else base, moved, other)
        known <- id(topic.cluster) if id(other.cluster).contains(known)
      } yield Rejection.invalid(
        DynamicErrors.sameCluster(Seq(topic.cluster, other.cluster), known, Seq(topic.topic))
      )
      found.nextOption()
    }
  }
}
