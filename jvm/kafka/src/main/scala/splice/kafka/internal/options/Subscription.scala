// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.options

import java.util.regex.Pattern

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.source.LogPartition

/** The partitions of a cluster that are read. Exactly one of `subscribe`, `subscribePattern` and `assign` defines the
  * partitions.
  */
sealed private[splice] trait Subscription extends Product with Serializable {

  /** True if a partition belongs to the subscription. */
  def covers(partition: LogPartition): Boolean

  /** The option and its value in one canonical form. */
  def text: String
}

private[splice] object Subscription {

  /** All partitions of these topics, including partitions that are added later. */
  final case class Topics(names: SortedSet[String]) extends Subscription {
    override def covers(partition: LogPartition): Boolean = names(partition.topic)
    override def text: String                             = names.mkString("subscribe=", ",", "")
  }

  /** All partitions of topics whose name contains a match, as in Spark's source, including topics that are created
    * later.
    */
  final case class TopicPattern(pattern: String) extends Subscription {
    @transient private lazy val compiled                  = Pattern.compile(pattern)
    def matches(topic: String): Boolean                   = compiled.matcher(topic).find
    override def covers(partition: LogPartition): Boolean = matches(partition.topic)
    override def text: String                             = s"subscribePattern=$pattern"
  }

  /** These partitions and no other partitions. */
  final case class Assigned(partitions: SortedSet[LogPartition]) extends Subscription {
    override def covers(partition: LogPartition): Boolean = partitions(partition)
    override def text: String                             = {
      val byTopic = SortedMap.from(partitions.groupMap(_.topic)(_.partition))
      byTopic.map { case (t, ps) => s"$t:${ps.toSeq.sorted.mkString(",")}" }.mkString("assign=", ";", "")
    }
  }
}
