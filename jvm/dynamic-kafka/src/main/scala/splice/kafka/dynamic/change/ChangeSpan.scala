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
    * The end of a topic that was removed meanwhile is in the change that ended it, and the start of one that came back is in the
    * change that took it back. A topic that left and came back is one range, because it resumed at its position.
    *
    * @param before
    *   the change of `from`
    * @param changes
    *   all changes after it, up to the one of `until`
    */
  def between(
      from: DynamicPosition,
      until: DynamicPosition,
      before: AppliedMetadata,
      changes: Seq[AppliedMetadata]
  ): Seq[ChangeSpan] = {
    val special = changes.flatMap(change => change.resumed.keys ++ change.tombstones.keys).map(_.cluster)
    val names   = from.clusters.keySet ++ until.clusters.keySet ++ special
    names.toSeq.flatMap { name =>
      val begin = changes.foldLeft(from.of(name)) { (at, change) =>
        of(change.resumed, name).foldLeft(at) { case (position, (topic, start)) =>
          if (position.hasTopic(topic.topic)) position else position.and(start)
        }
      }
      val end = changes.reverseIterator.foldLeft(until.of(name)) { (at, change) =>
        of(change.tombstones, name).foldLeft(at) { case (position, (topic, left)) =>
          // A tombstone of an earlier change is not an end of this span.
          val isNew = !before.tombstones.get(topic).contains(left) && !position.hasTopic(topic.topic)
          left.position.filter(_ => isNew).fold(position)(position.and)
        }
      }
      if (begin == end) None else Some(ChangeSpan(name, begin, end))
    }
  }

  private def of[A](all: SortedMap[ClusterTopic, A], cluster: String): Iterator[(ClusterTopic, A)] =
    all.iteratorFrom(ClusterTopic(cluster, "")).takeWhile(_._1.cluster == cluster)
}
