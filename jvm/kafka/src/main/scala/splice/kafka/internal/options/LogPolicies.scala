// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.options

import java.time.Duration

import splice.kafka.Place

/** Policies of a source for logs that have changed.
  *
  * @param newPartitions
  *   the start of partitions that are found while the query runs: earliest or latest
  * @param outOfRange
  *   the offset at which a partition continues if the log no longer has its position
  * @param recreated
  *   the policy for topics that were recreated under the same name
  * @param removed
  *   the policy for topics that no longer exist
  * @param patience
  *   how long a cluster may not respond before the query fails
  * @param partitionsFail
  *   true if the query also fails if single partitions do not respond for this time; otherwise the caller decides
  * @param discoveryPatience
  *   how long requests for topics and partitions may fail before the query fails, although other requests succeed; None
  *   for `patience`
  */
final private[splice] case class LogPolicies(
    newPartitions: Place = Place.Earliest,
    outOfRange: OutOfRange = OutOfRange.Fail,
    recreated: TopicRecreated = TopicRecreated.Fail,
    removed: TopicRemoved = TopicRemoved.Fail,
    patience: Duration = LogPolicies.Patience,
    partitionsFail: Boolean = true,
    discoveryPatience: Option[Duration] = None
) {

  /** The time without a response of single partitions after which the query fails; None if the caller decides. */
  def partitionPatience: Option[Duration] = Option.when(partitionsFail)(patience)
}

private[splice] object LogPolicies {

  /** The default time without a response of the cluster after which the query fails. */
  val Patience: Duration = Duration.ofMinutes(5)

  /** The default time for which Splice keeps the position of a deleted topic. */
  val Retention: Duration = Duration.ofDays(7)

  /** The default policies for a value of `failOnDataLoss`. */
  def of(failOnDataLoss: Boolean): LogPolicies =
    if (failOnDataLoss) LogPolicies()
    else LogPolicies(outOfRange = OutOfRange.Earliest, removed = TopicRemoved.Drop)
}

/** The offset at which a partition continues if its position is before the first record of the log (`onOutOfRange`). */
sealed private[splice] trait OutOfRange extends Product with Serializable {

  /** True if the query fails instead of continuing. */
  def fails: Boolean = this == OutOfRange.Fail
}

private[splice] object OutOfRange {
  case object Fail                      extends OutOfRange
  case object Earliest                  extends OutOfRange
  case object Latest                    extends OutOfRange
  final case class AtTime(millis: Long) extends OutOfRange
}

/** The policy for topics that were recreated, or that belong to another cluster (`onTopicRecreated`). */
sealed private[splice] trait TopicRecreated extends Product with Serializable

private[splice] object TopicRecreated {
  case object Fail    extends TopicRecreated
  case object Restart extends TopicRecreated
}

/** The policy for topics that no longer exist (`onTopicRemoved`). */
sealed private[splice] trait TopicRemoved extends Product with Serializable

private[splice] object TopicRemoved {
  case object Fail extends TopicRemoved

  /** Continues without the topic, and deletes its position after some time (`removedRetention`). */
  final case class Drain(retention: Duration) extends TopicRemoved

  /** Continues without the topic, and removes its position. */
  case object Drop extends TopicRemoved
}
