// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import java.time.Instant

import splice.kafka.Place
import splice.kafka.dynamic.internal.state.TopicState.{Bound, Draining}
import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition

/** Request to one cluster.
  *
  * @param from
  *   the position of the cluster
  * @param time
  *   the wall-clock time before the request was sent
  * @param expected
  *   starts that the logs may not have reached yet
  * @param draining
  *   topics that are read up to a bound
  * @param stopping
  *   the draining topics that a stream still contains, because the stream has a stop; missing partitions of these
  *   topics may be created later
  * @param times
  *   topics and times in milliseconds whose offsets are needed
  * @param limits
  *   topics and future times of their drains. Until then, the offset for a time only limits new rows
  * @param starts
  *   topics whose start is needed; None = the topics start like new topics
  * @param pending
  *   removed topics whose start is needed
  * @param timed
  *   topics that begin at the time of a cutover and whose start is not determined yet, each with the first records at
  *   or after the time that the cluster has returned in earlier responses
  * @param isOpen
  *   true if topics are read without an end. Ends are then requested only for changes
  */
final private[dynamic] case class ClusterRequest(
    from: KafkaPosition,
    time: Instant,
    expected: KafkaPosition = KafkaPosition.Empty,
    draining: Map[String, Draining] = Map.empty,
    stopping: Set[String] = Set.empty,
    times: Set[(String, Long)] = Set.empty,
    limits: Set[(String, Long)] = Set.empty,
    starts: Map[String, Option[Place]] = Map.empty,
    pending: Set[String] = Set.empty,
    timed: Map[String, KafkaPosition] = Map.empty,
    isOpen: Boolean = false
) {

  /** Returns true if the response must contain ends of logs. */
  def needsEnds: Boolean = !isOpen || draining.nonEmpty || times.nonEmpty || starts.nonEmpty || ahead.nonEmpty

  /** Returns the known offsets at which draining topics end. A partition without such an offset has the greatest
    * number.
    */
  def limit: KafkaPosition = draining.iterator.map { case (topic, is) => topic -> is.bound.limit }.collect {
    case (_, Bound.Ends(ends, _))                            => ends
    case (topic, Bound.At(_, ends)) if ends.offsets.nonEmpty => all(topic, ends)
  }.foldLeft(KafkaPosition.Empty)(_ and _)

  private def all(topic: String, ends: KafkaPosition): KafkaPosition =
    ends.copy(offsets = from.only(topic).offsets.transform((_, _) => Long.MaxValue) ++ ends.offsets)

  /** Returns an offset at which a drain may end. It does not pass the end of a bounded source, except to the stop of a
    * stream that still contains the topic, because a run without an end continues to the stop.
    */
  def limited(sourceEnd: Option[KafkaPosition])(p: LogPartition, offset: Long): Long =
    if (stopping(p.topic)) offset
    else sourceEnd.fold(offset)(is => offset.min(Seq(is, from).flatMap(_.get(p)).maxOption.getOrElse(0L)))

  /** Returns the partitions whose logs may end before the position. */
  def ahead: Set[LogPartition] =
    expected.offsets.collect { case (p, start) if from.get(p).forall(_ <= start) => p }.toSet
}
