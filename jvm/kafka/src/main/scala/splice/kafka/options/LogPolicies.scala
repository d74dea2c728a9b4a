// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.options

import java.time.Duration

/** What a source does when a log is not as it was left.
  *
  * @param newPartitions
  *   where partitions begin that are found while the query runs
  * @param outOfRange
  *   where a partition goes on whose position the log no longer holds
  * @param recreated
  *   what happens when a topic is another one than before under the same name
  * @param removed
  *   what happens when a topic is gone
  * @param patience
  *   how long a cluster may give no answer before the query fails
  * @param partitionsFail
  *   whether the query fails when single partitions do not respond for as long; else the caller decides that
  * @param discoveryPatience
  *   how long requests for topics and partitions may fail before the query fails, although other requests succeed; None = `patience`
  */
final private[splice] case class LogPolicies(
    newPartitions: NewPartitions = NewPartitions.Earliest,
    outOfRange: OutOfRange = OutOfRange.Fail,
    recreated: TopicRecreated = TopicRecreated.Fail,
    removed: TopicRemoved = TopicRemoved.Fail,
    patience: Duration = LogPolicies.Patience,
    partitionsFail: Boolean = true,
    discoveryPatience: Option[Duration] = None
) {

  /** How long single partitions may not respond before the query fails; None if the caller decides that. */
  def partitionPatience: Option[Duration] = Option.when(partitionsFail)(patience)
}

private[splice] object LogPolicies {

  /** How long a cluster may give no answer, where nothing else is said. */
  val Patience: Duration = Duration.ofMinutes(5)

  /** How long the position of a deleted topic is kept by default. */
  val Retention: Duration = Duration.ofDays(7)

  /** What `failOnDataLoss` means where nothing else is said. */
  def of(failOnDataLoss: Boolean): LogPolicies =
    if (failOnDataLoss) LogPolicies()
    else LogPolicies(outOfRange = OutOfRange.Earliest, removed = TopicRemoved.Drop)
}

/** Where partitions begin that are found while the query runs (`newPartitionsStartAt`). */
sealed private[splice] trait NewPartitions extends Product with Serializable

private[splice] object NewPartitions {
  case object Earliest extends NewPartitions
  case object Latest   extends NewPartitions
}

/** Where a partition goes on whose position lies before the first record that the log still holds (`onOutOfRange`). */
sealed private[splice] trait OutOfRange extends Product with Serializable {

  /** Whether the query fails instead. */
  def fails: Boolean = this == OutOfRange.Fail
}

private[splice] object OutOfRange {
  case object Fail                      extends OutOfRange
  case object Earliest                  extends OutOfRange
  case object Latest                    extends OutOfRange
  final case class AtTime(millis: Long) extends OutOfRange
}

/** What happens when a topic was deleted and created again, or is another cluster's (`onTopicRecreated`). */
sealed private[splice] trait TopicRecreated extends Product with Serializable

private[splice] object TopicRecreated {
  case object Fail    extends TopicRecreated
  case object Restart extends TopicRecreated
}

/** What happens when a topic is gone (`onTopicRemoved`). */
sealed private[splice] trait TopicRemoved extends Product with Serializable

private[splice] object TopicRemoved {
  case object Fail extends TopicRemoved

  /** Goes on without the topic and forgets its position after some time. */
  final case class Drain(retention: Duration) extends TopicRemoved

  /** Goes on without the topic and forgets its position. */
  case object Drop extends TopicRemoved
}
