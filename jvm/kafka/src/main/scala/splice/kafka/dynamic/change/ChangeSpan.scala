// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.change

import splice.kafka.dynamic.split.DynamicPosition
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
        change.resumed.iterator.filter(_._1.cluster == name).foldLeft(at) { case (position, (topic, start)) =>
          if (position.hasTopic(topic.topic)) position else position.and(start)
        }
      }
      val end = changes.reverseIterator.foldLeft(until.of(name)) { (at, change) =>
        change.tombstones.iterator.filter(_._1.cluster == name).foldLeft(at) { case (position, (topic, left)) =>
          val mine = change.number > from.change && !position.hasTopic(topic.topic)
          left.position.filter(_ => mine).fold(position)(position.and)
        }
      }
      // A tombstone of long ago is no end of this span.
      val finish = end.topics.filterNot(t => begin.hasTopic(t) || until.of(name).hasTopic(t)).foldLeft(end)(_ without _)
      if (begin == finish) None else Some(ChangeSpan(name, begin, finish))
    }
  }
}
