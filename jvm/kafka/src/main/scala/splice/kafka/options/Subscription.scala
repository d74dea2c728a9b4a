// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.options

import java.util.regex.Pattern

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.source.LogPartition

/** Which partitions of a cluster are read. Exactly one of `subscribe`, `subscribePattern` and `assign` says it. */
sealed private[splice] trait Subscription extends Product with Serializable {

  /** Whether a partition belongs to it. */
  def covers(partition: LogPartition): Boolean

  /** The option and its value in one canonical form. */
  def text: String
}

private[splice] object Subscription {

  /** All partitions of these topics, also those that are added later. */
  final case class Topics(names: SortedSet[String]) extends Subscription {
    override def covers(partition: LogPartition): Boolean = names(partition.topic)
    override def text: String                             = names.mkString("subscribe=", ",", "")
  }

  /** All partitions of the topics whose name holds a match, as in Spark's own source, also of topics that are made later. */
  final case class TopicPattern(pattern: String) extends Subscription {
    @transient private lazy val compiled                  = Pattern.compile(pattern)
    def matches(topic: String): Boolean                   = compiled.matcher(topic).find
    override def covers(partition: LogPartition): Boolean = matches(partition.topic)
    override def text: String                             = s"subscribePattern=$pattern"
  }

  /** These partitions and no others. */
  final case class Assigned(partitions: SortedSet[LogPartition]) extends Subscription {
    override def covers(partition: LogPartition): Boolean = partitions(partition)
    override def text: String                             = {
      val byTopic = SortedMap.from(partitions.groupMap(_.topic)(_.partition))
      byTopic.map { case (t, ps) => s"$t:${ps.toSeq.sorted.mkString(",")}" }.mkString("assign=", ";", "")
    }
  }
}
