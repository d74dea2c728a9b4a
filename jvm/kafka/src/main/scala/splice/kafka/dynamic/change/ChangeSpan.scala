// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.change

import scala.collection.immutable.SortedMap

import splice.kafka.dynamic.split.{ClusterTopic, DynamicPosition}
import splice.kafka.split.KafkaPosition

/** What of one cluster lies between two positions that any number of changes lie between. */
final private[dynamic] case class ChangeSpan(cluster: String, from: KafkaPosition, until: KafkaPosition)

private[dynamic] object ChangeSpan {

  /** The spans of all clusters of which something was read.
    *
    * Where a topic ended that was removed meanwhile is in the change that ended it, and where one began again that came back is in
    * the change that took it back. A topic that left and came back went on where it was, so it is one range.
    */
  def between(from: DynamicPosition, until: DynamicPosition, changes: Seq[AppliedMetadata]): Seq[ChangeSpan] = {
    val names = from.clusters.keySet ++ until.clusters.keySet ++ changes.flatMap(_.resumed.keys.map(_.cluster))
    names.toSeq.flatMap { name =>
      val begin = changes.foldLeft(from.of(name)) { (at, change) =>
        of(change.resumed, name).foldLeft(at) { case (position, (topic, start)) =>
          if (position.hasTopic(topic.topic)) position else position.and(start)
        }
      }
      val end = changes.reverseIterator.foldLeft(until.of(name)) { (at, change) =>
        of(change.tombstones, name).foldLeft(at) { case (position, (topic, left)) =>
          val mine = change.number > from.change && !position.hasTopic(topic.topic)
          left.position.filter(_ => mine).fold(position)(position.and)
        }
      }
      // A tombstone of long ago is no end of this span.
      val finish = if (changes.isEmpty) end
      else end.topics.filterNot(t => begin.hasTopic(t) || until.of(name).hasTopic(t)).foldLeft(end)(_ without _)
      if (begin == finish) None else Some(ChangeSpan(name, begin, finish))
    }
  }

  private def of[A](all: SortedMap[ClusterTopic, A], cluster: String): Iterator[(ClusterTopic, A)] =
    all.iteratorFrom(ClusterTopic(cluster, "")).takeWhile(_._1.cluster == cluster)
}
