// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import java.time.Clock

import splice.kafka.options.{Subscription, TopicRemoved}
import splice.kafka.split.KafkaPosition
import splice.kafka.{DataLoss, MissingRange, SkippedRows}
import splice.source.LogPartition

/** What happens to topics that are gone (`onTopicRemoved`).
  *
  * @param lastEnd
  *   where a partition was last seen to end
  * @param subscription
  *   brokers do not list topics that the user may not describe, so a pattern does not match them
  */
final private[splice] class Removal(
    deletions: DeletionLog,
    policy: TopicRemoved,
    clock: Clock,
    lastEnd: LogPartition => Option[Long],
    subscription: Subscription,
    skipped: SkippedRows
) {

  private val loss = DataLoss(policy == TopicRemoved.Fail, skipped)

  /** Whether a topic was said to be gone before, and the query goes on nevertheless. */
  def isKnown(topic: String): Boolean = policy != TopicRemoved.Fail && deletions.of(topic).nonEmpty

  /** The position without the topics that the policy forgets, which depends on how long they have been gone. */
  def apply(at: KafkaPosition): KafkaPosition =
    deletions.all.filter(forgotten).foldLeft(at)((position, deletion) => position.without(deletion.topic))

  /** Takes back topics that are there again, and whose position was kept. */
  def back(seen: LogDescription, at: KafkaPosition): Unit = {
    val there = deletions.all.map(_.topic).filter(t => at.hasTopic(t) && seen.partitions.exists(_.topic == t)).toSeq
    there.foreach(deletions.restore)
  }

  /** Says what can no longer be read.
    *
    * @throws splice.source.SpliceException
    *   when the policy is to fail
    */
  def report(lost: Set[LogPartition], seen: LogDescription, at: KafkaPosition): Unit = {
    val ranges = lost.toSeq.sorted.map { p =>
      val offset = at.get(p).getOrElse(0L)
      MissingRange(p, offset, lastEnd(p).filter(_ >= offset))
    }
    loss.report(
      s"the topic or partition does not exist any more$hidden; as far as it is known, that is ${MissingRange.counted(ranges)}",
      ranges
    )
    // A topic that still has other partitions loses none: a broker that says so is behind.
    val topics = lost.map(_.topic).filterNot(topic => seen.partitions.exists(_.topic == topic))
    topics.foreach(topic => deletions.delete(topic, at.only(topic), clock.instant()))
  }

  private def hidden: String = subscription match {
    case _: Subscription.TopicPattern => ", or the user may not describe the topic any more"
    case _                            => ""
  }

  private def forgotten(deletion: DeletionLog.Deletion): Boolean = policy match {
    case TopicRemoved.Drop        => true
    case TopicRemoved.Drain(time) => deletion.since.exists(since => !clock.instant().isBefore(since.plus(time)))
    case TopicRemoved.Fail        => false
  }
}
