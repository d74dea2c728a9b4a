// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.identity

import java.time.{Clock, Duration, Instant}

import scala.collection.immutable.SortedSet

import splice.kafka.internal.cluster.{ClusterClient, DescribedTopic}
import splice.kafka.internal.options.Subscription
import splice.source.LogPartition

/** Compares the topics of a batch with the stored topics. A batch therefore detects recreated topics and new partitions
  * before the next discovery.
  *
  * A batch with rows always compares its topics. An idle query compares its topics once per second.
  */
final private[internal] class TopicCheck(
    log: ClusterClient,
    recreation: Recreation,
    subscription: Subscription,
    clock: Clock
) {

  import TopicCheck._

  private var last: Instant = clock.instant()

  /** True if an idle query must compare its topics. */
  def isDue: Boolean = !clock.instant().isBefore(last.plus(Interval))

  /** Sends the request. The brokers process it together with the request for ends. */
  def send(topics: Set[String]): () => Map[String, DescribedTopic] = {
    last = clock.instant()
    log.topicStates(topics)
  }

  /** True if discovery would find no changes.
    *
    * @param moved
    *   topics with rows, which must have their stored ids
    * @param existing
    *   the stored partitions of topics that must have no other partitions; a broker with outdated metadata may return
    *   fewer
    */
  def agrees(moved: Set[String], existing: SortedSet[LogPartition], now: Map[String, DescribedTopic]): Boolean =
    recreation.owns(moved, now) &&
      !(isOpen && now.exists { case (topic, state) =>
        existing.maxBefore(LogPartition(topic, Int.MaxValue)).exists(p =>
          p.topic == topic && p.partition + 1 < state.partitions
        )
      })

  private val isOpen = subscription match {
    case _: Subscription.Assigned => false
    case _                        => true
  }
}

private[internal] object TopicCheck {

  /** The time between two requests of an idle query. */
  val Interval: Duration = Duration.ofSeconds(1)
}
