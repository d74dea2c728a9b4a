// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.change

import scala.collection.immutable.SortedSet

import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicPosition}
import splice.kafka.dynamic.internal.state.TopicState._
import splice.kafka.dynamic.internal.state.{AppliedMetadata, OncePerSet}
import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition

/** Limit of a batch from the states of topics: ends of drains, stops, times of cutovers, and topics that wait for
  * other topics.
  */
private[dynamic] object UpperBound {

  /** Returns the part of `until` that a batch may read from a cluster.
    *
    * @param at
    *   the position of all clusters
    * @param until
    *   the ends of the cluster's logs
    * @param places
    *   offsets for times in milliseconds, by topic and time
    * @param starts
    *   starts of partitions that the position does not have. A partition without a start begins at its end
    */
  def apply(
      applied: AppliedMetadata,
      cutover: CutoverOrder,
      cluster: String,
      at: DynamicPosition,
      until: KafkaPosition,
      places: Map[(String, Long), OffsetsForTime],
      starts: LogPartition => Option[Long]
  ): KafkaPosition = {
    val from  = at.of(cluster)
    val waits = new OncePerSet((after, _) => isHeld(applied, cutover, after, at))
    applied.of(cluster).foldLeft(until) { case (all, (topic, is)) =>
      val bound: Option[Map[LogPartition, Long]] = is match {
        case _: Waiting | _: Pending         => Some(Map.empty)
        case is: Reading if waits(is.after)  => Some(Map.empty)
        case is: Draining if waits(is.after) => Some(Map.empty)
        case is: Draining                    => is.bound.limit match {
            case Bound.Ends(ends, _)  => Some(if (isOther(ends, topic, from, until)) Map.empty else ends.offsets)
            case Bound.At(time, ends) =>
              Some(places.get(topic -> time.millis).fold(Map.empty[LogPartition, Long])(
                _.position(topic, ends).offsets
              ))
            // The end that a cluster returns later includes all rows that are read before the response.
            case _ => None
          }
        case _ => None
      }
      bound.fold(all)(limited(all, topic, from, starts, _))
    }
  }

  /** Returns true if the state of a topic sets no limit. */
  def isUnlimited(applied: AppliedMetadata, cutover: CutoverOrder, topic: ClusterTopic, at: DynamicPosition): Boolean =
    applied.topics.get(topic).exists {
      case is: Reading => !isHeld(applied, cutover, is.after, at)
      case _           => false
    }

  /** Returns true if a new topic waits for the drain of one of the topics. */
  def isHeld(
      applied: AppliedMetadata,
      cutover: CutoverOrder,
      after: SortedSet[ClusterTopic],
      at: DynamicPosition
  ): Boolean = cutover == CutoverOrder.Stream && after.exists(applied.isOpen(_, at))

  /** Returns true if a topic was recreated while it was drained. */
  def isOther(ends: KafkaPosition, topic: String, from: KafkaPosition, until: KafkaPosition): Boolean =
    from.hasTopic(topic) && until.hasTopic(topic) && until.generation(topic) != ends.generation(topic)

  /** Limits a topic. A partition without a bound stays at its position. A partition that was read past its stop before
    * the stop was set also stays at its position. A partition that begins after its stop stays at its start, because the
    * query has read no row before the start.
    */
  private def limited(
      until: KafkaPosition,
      topic: String,
      from: KafkaPosition,
      starts: LogPartition => Option[Long],
      bound: Map[LogPartition, Long]
  ): KafkaPosition = {
    val rest = until.without(topic)
    val read = if (from.generation(topic) == until.generation(topic)) from.of(topic) else Map.empty[LogPartition, Long]
    if (bound.isEmpty) rest.and(from.only(topic))
    else
      rest.and(KafkaPosition(until.of(topic).flatMap { case (p, end) =>
        def begin = read.get(p).orElse(starts(p)).getOrElse(end)
        bound.get(p).map(most => math.min(math.max(most, begin), end)).orElse(from.get(p)).map(p -> _)
      }).as(topic, until.generation(topic)))
  }
}
