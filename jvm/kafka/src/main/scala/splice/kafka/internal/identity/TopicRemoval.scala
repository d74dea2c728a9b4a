// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.identity

import java.time.Clock

import splice.kafka.internal.cluster.LogDescription
import splice.kafka.internal.errors.{DataLoss, MissingRange, SkippedRows}
import splice.kafka.internal.options.{Subscription, TopicRemoved}
import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition

/** Applies the policy for topics that no longer exist (`onTopicRemoved`).
  *
  * @param lastEnd
  *   the last end of a partition that a broker returned
  * @param subscription
  *   the subscription; a pattern does not match topics that the user must not describe, because brokers do not list
  *   them
  */
final private[splice] class TopicRemoval(
    deletions: DeletionEntries,
    policy: TopicRemoved,
    clock: Clock,
    lastEnd: LogPartition => Option[Long],
    subscription: Subscription,
    skipped: SkippedRows
) {

  private val loss = DataLoss(policy == TopicRemoved.Fail, skipped)

  /** True if the deletion of a topic was reported before, and the query continues without the topic. */
  def isKnown(topic: String): Boolean = policy != TopicRemoved.Fail && deletions.of(topic).nonEmpty

  /** The position without the topics that the policy removes. With `keep`, a topic is removed some time after its
    * deletion.
    */
  def apply(at: KafkaPosition): KafkaPosition =
    deletions.all.filter(forgotten).foldLeft(at)((position, deletion) => position.without(deletion.topic))

  /** Restores topics that exist again and are still in the position. */
  def back(seen: LogDescription, at: KafkaPosition): Unit = {
    val returned = deletions.all.map(_.topic).filter(t => at.hasTopic(t) && seen.partitions.exists(_.topic == t)).toSeq
    returned.foreach(deletions.restore)
  }

  /** Reports records that can no longer be read.
    *
    * @throws splice.source.errors.SpliceException
    *   when the policy is to fail
    */
  def report(lost: Set[LogPartition], seen: LogDescription, at: KafkaPosition): Unit = {
    val ranges = lost.toSeq.sorted.map { p =>
      val offset = at.get(p).getOrElse(0L)
      MissingRange(p, offset, lastEnd(p).filter(_ >= offset))
    }
    loss.report(
      s"the topic or partition no longer exists$hidden; unread: ${MissingRange.counted(ranges)}",
      ranges
    )
    // A topic cannot lose some of its partitions. A broker that returns fewer partitions has outdated metadata.
    val topics = lost.map(_.topic).filterNot(topic => seen.partitions.exists(_.topic == topic))
    topics.foreach(topic => deletions.delete(topic, at.only(topic), clock.instant()))
  }

  private def hidden: String = subscription match {
    case _: Subscription.TopicPattern => ", or the user is no longer authorized to describe the topic"
    case _                            => ""
  }

  private def forgotten(deletion: DeletionEntries.Deletion): Boolean = policy match {
    case TopicRemoved.Drop        => true
    case TopicRemoved.Drain(time) => deletion.since.exists(since => !clock.instant().isBefore(since.plus(time)))
    case TopicRemoved.Fail        => false
  }
}
