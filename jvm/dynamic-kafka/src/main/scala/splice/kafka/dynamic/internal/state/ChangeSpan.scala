// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.state

import scala.collection.immutable.SortedMap

import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicPosition}
import splice.kafka.dynamic.internal.state.TopicState.{Pending, Removed, Waiting}
import splice.kafka.internal.split.KafkaPosition

/** Range of one cluster between two positions, with any number of changes between them.
  */
final private[dynamic] case class ChangeSpan(cluster: String, from: KafkaPosition, until: KafkaPosition)

private[dynamic] object ChangeSpan {

  /** Returns the spans of all clusters with rows that were read.
    *
    * The change that removed a topic contains the end of the topic. The change in which a topic returned contains its
    * start. A topic that was removed and resumed at its position is one range. A topic that was removed and returned at
    * another position, for example by a cutover, is a span up to its removal, and begins at that position in the span of
    * its cluster.
    *
    * @param before
    *   the change of `from`
    * @param changes
    *   all changes after `before`, up to the change of `until`
    */
  def between(
      from: DynamicPosition,
      until: DynamicPosition,
      before: AppliedMetadata,
      changes: Seq[AppliedMetadata]
  ): Seq[ChangeSpan] = {
    val starts = changes.map(_.starts)
    val ends   = (before +: changes).zip(changes).map { case (was, is) => ended(was, is) }
    val names  = from.clusters.keySet ++ until.clusters.keySet ++ (starts ++ ends).flatMap(_.keys).map(_.cluster)
    // An earlier change of the range removed the topic at this position.
    def endOf(topic: ClusterTopic, index: Int) =
      ends.take(index).reverseIterator.flatMap(_.get(topic)).find(_.offsets.nonEmpty)
    val first   = starts.zipWithIndex.map { case (all, i) => all.filter { case (t, _) => endOf(t, i).isEmpty } }
    val returns = starts.zipWithIndex.flatMap { case (all, i) =>
      all.toSeq.flatMap { case (t, start) => endOf(t, i).filter(_ != start).map(left => (t, left, start)) }
    }
    names.toSeq.flatMap { name =>
      val begin           = merged(from.of(name), name, first)
      val end             = merged(until.of(name), name, ends.reverse)
      val (last, removed) = returns.filter(_._1.cluster == name).foldLeft(begin -> Seq.empty[ChangeSpan]) {
        case ((at, spans), (ClusterTopic(_, topic), left, start)) =>
          at.without(topic).and(start) -> (spans :+ ChangeSpan(name, at.only(topic), left))
      }
      (removed :+ ChangeSpan(name, last, end)).filter(span => span.from != span.until)
    }
  }

  /** Returns the positions of topics that a change removed, or that were read to their stop. */
  private def ended(was: AppliedMetadata, is: AppliedMetadata): SortedMap[ClusterTopic, KafkaPosition] =
    is.topics.collect {
      case (topic, left: Removed) if !was.topics.get(topic).exists(isRemoved) => topic -> left.position
    }

  private def isRemoved(state: TopicState): Boolean = state match {
    case is: Waiting => is.before.exists(isRemoved)
    case is: Pending => isRemoved(is.waiting)
    case _: Removed  => true
    case _           => false
  }

  /** Adds missing topics to a position. */
  private def merged(
      position: KafkaPosition,
      cluster: String,
      topics: Seq[SortedMap[ClusterTopic, KafkaPosition]]
  ): KafkaPosition = topics.iterator.flatMap(
    _.iteratorFrom(ClusterTopic(cluster, "")).takeWhile(_._1.cluster == cluster)
  ).foldLeft(position) { case (all, (topic, start)) => if (all.hasTopic(topic.topic)) all else all.and(start) }
}
