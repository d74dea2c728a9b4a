// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.state

import java.time.Instant

import scala.collection.immutable.SortedSet

import splice.kafka.Place
import splice.kafka.dynamic.internal.split.ClusterTopic
import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition

/** State of one topic of one cluster. Only [[TopicState.next]] changes a state.
  *
  * A topic without a state was in no document, or the metadata removed the topic before Splice read one of its rows.
  */
sealed abstract private[dynamic] class TopicState(val word: String) extends Product with Serializable {

  /** Rows of the topic that Splice does not read. */
  def abandoned: Option[Abandoned] = None
}

private[dynamic] object TopicState {

  /** A stream contains the topic, but its start is not determined yet. Splice reads no row of the topic.
    *
    * @param time
    *   time at which the stream moves to the topic. None = the cluster has not returned the start yet. This start is
    *   the start of a new topic, or the start in the document
    * @param before
    *   the previous state of the topic, if the topic was removed earlier
    * @param offsets
    *   offsets of a cutover. The cluster returns the start of all other partitions. For a cutover at a time, the
    *   first records at or after the time that the cluster has returned
    */
  final case class Waiting(
      stream: String,
      time: Option[Place.At],
      before: Option[Left],
      offsets: KafkaPosition = KafkaPosition.Empty
  ) extends TopicState("waiting") {
    override def abandoned: Option[Abandoned] = before.flatMap(_.abandoned)
  }

  /** A stream contains the topic, and Splice reads the topic.
    *
    * @param after
    *   removed topics of the stream, which are drained first if the option `cutover` is `stream`; the topics of a stream
    *   share one set
    * @param start
    *   the start that this change adds to the position; None = the topic continues, or its cluster determines the start
    * @param expected
    *   offsets of a cutover that the log of the topic may not have reached yet
    */
  final case class Reading(
      stream: String,
      after: SortedSet[ClusterTopic] = SortedSet.empty,
      start: Option[KafkaPosition] = None,
      expected: KafkaPosition = KafkaPosition.Empty
  ) extends TopicState("reading")

  /** No stream contains the topic any more, or its stream has a stop. Splice reads the topic up to a bound.
    *
    * @param since
    *   time of the removal, of the stop, or of the end of a pause of the stream
    * @param after
    *   as in [[Reading]]
    * @param expected
    *   as in [[Reading]]
    * @param unavailable
    *   start of the outage of its cluster, across restarts
    * @param abandoned
    *   rows that Splice does not read, because their partitions were deleted or truncated
    * @param start
    *   the start that this change adds to the position, if the topic was read to a stop and a cutover continues it
    */
  final case class Draining(
      stream: String,
      since: Instant,
      bound: Bound,
      after: SortedSet[ClusterTopic] = SortedSet.empty,
      expected: KafkaPosition = KafkaPosition.Empty,
      unavailable: Option[Instant] = None,
      override val abandoned: Option[Abandoned] = None,
      start: Option[KafkaPosition] = None
  ) extends TopicState("draining")

  /** No stream contains the topic any more, and its start is not determined yet. Splice drains the topic after its
    * cluster has returned the start.
    *
    * @param waiting
    *   the state before the removal
    * @param since
    *   time of the removal, or of the end of a pause of the stream
    * @param start
    *   the start of the stream at the removal, if a document sets the start
    * @param stop
    *   the stop of the stream at the removal
    * @param unavailable
    *   as in [[Draining]]
    */
  final case class Pending(
      waiting: Waiting,
      since: Instant,
      start: Option[Place] = None,
      stop: Option[Place] = None,
      unavailable: Option[Instant] = None
  ) extends TopicState("pending") {
    override def abandoned: Option[Abandoned] = waiting.abandoned
  }

  /** State of a topic that is not read any more. */
  sealed trait Left extends TopicState

  /** Splice does not read the topic any more and keeps its position. If the topic returns, or if the stop of its stream
    * changes, Splice resumes the topic at this position.
    *
    * @param expected
    *   as in [[Reading]]
    * @param abandoned
    *   rows that Splice did not read
    */
  final case class Removed(
      stream: String,
      since: Instant,
      position: KafkaPosition,
      expected: KafkaPosition = KafkaPosition.Empty,
      override val abandoned: Option[Abandoned] = None
  ) extends TopicState("removed")
      with Left

  /** The retention of the position is over. If the topic returns, it starts like a new topic. */
  case object Gone extends TopicState("gone") with Left

  /** End of a drain. */
  sealed trait Bound extends Product with Serializable {

    /** Returns true if all rows up to the bound were read. Offsets of another generation of the topic do not count. */
    def isReached(at: KafkaPosition): Boolean = limit match {
      case Bound.Ends(ends, _) => ends.offsets.forall { case (p, end) =>
          at.generation(p.topic) == ends.generation(p.topic) && at.get(p).exists(_ >= end)
        }
      case _ => false
    }

    /** Returns the part of the bound that is already fixed. */
    def limit: Bound = this

    /** Returns true if the cluster must return the end of the log. */
    def isRequested: Boolean = this != limit || this == Bound.Requested

    /** Returns true if a drain needs a response for a partition before the drain can end. */
    def needs(partition: LogPartition, at: KafkaPosition): Boolean = isRequested ||
      (limit match {
        case Bound.Ends(ends, _) => ends.get(partition).exists(end => at.get(partition).forall(_ < end))
        case _                   => false
      })
  }

  object Bound {

    /** The end of the log at the removal or the stop, which the cluster has not returned yet. */
    case object Requested extends Bound

    /** The first record of a time, or the end of the log at the response.
      *
      * @param ends
      *   the first records at or after the time that the cluster has returned, while the cutover waits for other clusters
      */
    final case class At(cutover: Place.At, ends: KafkaPosition = KafkaPosition.Empty) extends Bound

    /** The offset after the last record of each partition.
      *
      * @param isSet
      *   true if a document sets the offsets, so that the log may not have reached the offsets yet
      */
    final case class Ends(ends: KafkaPosition, isSet: Boolean = false) extends Bound

    /** A limit, or the end of the log at the removal if that end is lower. The cluster has not returned the end yet. */
    final case class Within(override val limit: Bound) extends Bound
  }

  /** Returns the state after an event, or the same state if the event does not apply to this state. */
  def next(state: Option[TopicState], event: TopicEvent): Option[TopicState] = (state, event) match {
    case (Some(_: Reading), TopicEvent.Listed(_, _, Some(_)))      => state
    case (Some(is: Reading), TopicEvent.Listed(stream, _, None))   => Some(is.copy(stream = stream))
    case (Some(is: Draining), TopicEvent.Listed(stream, after, _)) =>
      Some(Reading(stream, after, expected = is.expected))
    case (Some(is: Pending), TopicEvent.Listed(stream, after, Some(start))) =>
      val begin = Some(start.position).filter(_.offsets.nonEmpty)
      Some(Draining(stream, is.since, Bound.Requested, after, start.expected, is.unavailable, start = begin))
    case (_, TopicEvent.Listed(stream, after, Some(start))) =>
      Some(Reading(stream, after, Some(start.position), start.expected))
    case (Some(is: Removed), TopicEvent.Listed(stream, after, None)) =>
      Some(Reading(stream, after, Some(is.position).filter(_.offsets.nonEmpty), is.expected))
    case (Some(Gone), TopicEvent.Listed(stream, _, None))        => Some(Waiting(stream, None, Some(Gone)))
    case (Some(is: Waiting), TopicEvent.Listed(stream, _, None)) => Some(is.copy(stream = stream))
    case (Some(is: Pending), TopicEvent.Listed(stream, _, None)) => Some(is.waiting.copy(stream = stream))
    case (None, TopicEvent.Listed(stream, after, None))          => Some(Reading(stream, after))

    case (Some(is: Draining), TopicEvent.Stays(stream)) => Some(is.copy(stream = stream))
    case (Some(is: Removed), TopicEvent.Stays(stream))  => Some(is.copy(stream = stream))
    case (_, TopicEvent.Stays(stream))                  => next(state, TopicEvent.Listed(stream, SortedSet.empty, None))

    case (Some(is: Waiting), TopicEvent.ListedAt(stream, time @ Some(cut), _))
        if is.time.exists(_.millis == cut.millis) =>
      Some(is.copy(stream = stream, time = time))
    case (Some(is: Waiting), TopicEvent.ListedAt(stream, time, offsets)) =>
      Some(Waiting(stream, time, is.before, offsets))
    case (Some(is: Pending), event: TopicEvent.ListedAt)                  => next(Some(is.waiting), event)
    case (Some(before: Left), TopicEvent.ListedAt(stream, time, offsets)) =>
      Some(Waiting(stream, time, Some(before), offsets))
    case (None, TopicEvent.ListedAt(stream, time, offsets)) => Some(Waiting(stream, time, None, offsets))

    case (Some(is: Waiting), TopicEvent.Unbegun(now, start, stop))   => Some(Pending(is, now, start, stop))
    case (Some(is: Waiting), _: TopicEvent.Unlisted)                 => is.before
    case (Some(is: Reading), TopicEvent.Unlisted(now, left, drains)) =>
      val bound = Draining(is.stream, now, Bound.Requested, is.after, is.expected)
      Some(if (drains) bound else Removed(is.stream, now, left, is.expected))
    case (Some(is: Draining), TopicEvent.Unlisted(now, left, drains)) =>
      val bound = if (is.bound == Bound.Requested) is.bound else Bound.Within(is.bound.limit)
      Some(if (drains) is.copy(since = now, bound = bound)
      else Removed(is.stream, now, left, is.expected, is.abandoned))
    case (Some(is: Removed), TopicEvent.Unlisted(now, _, _)) => Some(is.copy(since = now))

    case (Some(is: Reading), TopicEvent.Bounded(now, bound, _)) =>
      Some(Draining(is.stream, now, bound, is.after, is.expected))
    case (Some(is: Removed), TopicEvent.Bounded(now, bound, _)) =>
      val start = Some(is.position).filter(_.offsets.nonEmpty)
      Some(Draining(is.stream, now, bound, expected = is.expected, abandoned = is.abandoned, start = start))
    case (Some(is: Draining), TopicEvent.Bounded(_, bound, lost)) =>
      val now = (is.bound, bound) match {
        case (Bound.At(was, ends), Bound.At(now, _)) if was.millis == now.millis => Bound.At(now, ends)
        case _                                                                   => bound
      }
      Some(is.copy(bound = now, abandoned = both(is.abandoned, lost)))
    case (Some(is: Draining), TopicEvent.AtTime(offsets)) => is.bound match {
        case bound: Bound.At => Some(is.copy(bound = bound.copy(ends = offsets)))
        case _               => state
      }
    case (Some(is: Waiting), TopicEvent.AtTime(offsets)) if is.time.nonEmpty         => Some(is.copy(offsets = offsets))
    case (Some(is: Pending), TopicEvent.AtTime(offsets)) if is.waiting.time.nonEmpty =>
      Some(is.copy(waiting = is.waiting.copy(offsets = offsets)))
    case (Some(is: Draining), TopicEvent.Outage(since))         => Some(is.copy(unavailable = since))
    case (Some(is: Pending), TopicEvent.Outage(since))          => Some(is.copy(unavailable = since))
    case (Some(is: Pending), TopicEvent.Ended(now, left, lost)) =>
      val before = is.waiting.before.collect { case removed: Removed => removed }
      val ended  = before.getOrElse(Removed(is.waiting.stream, now, left))
      Some(ended.copy(since = now, abandoned = both(ended.abandoned, lost)))
    case (Some(is: Draining), TopicEvent.Ended(now, left, lost)) =>
      Some(Removed(is.stream, now, left, is.expected, both(is.abandoned, lost)))

    case (Some(_: Removed), TopicEvent.RetentionOver) => Some(Gone)
    case _                                            => state
  }

  private def both(a: Option[Abandoned], b: Option[Abandoned]): Option[Abandoned] =
    a.map(first => b.fold(first)(first.and)).orElse(b)
}

/** Event that may change the state of a topic. */
sealed private[dynamic] trait TopicEvent extends Product with Serializable

private[dynamic] object TopicEvent {

  /** Start of a topic.
    *
    * @param expected
    *   the part that the log may not have reached yet
    */
  final case class Start(position: KafkaPosition, expected: KafkaPosition = KafkaPosition.Empty)

  /** A document contains the topic in a stream, or a cluster returned the start of a waiting topic.
    *
    * @param after
    *   removed topics of the stream
    * @param start
    *   None = the topic resumes at its stored position, or starts like a new topic
    */
  final case class Listed(stream: String, after: SortedSet[ClusterTopic], start: Option[Start]) extends TopicEvent

  /** A document moves a stream to the topic at a time, or sets the start of the topic (None), which its cluster must
    * return.
    *
    * @param offsets
    *   offsets of a cutover for a part of the partitions
    */
  final case class ListedAt(
      stream: String,
      time: Option[Place.At],
      offsets: KafkaPosition = KafkaPosition.Empty
  ) extends TopicEvent

  /** A document contains the topic in a stream, with the same stop as before. */
  final case class Stays(stream: String) extends TopicEvent

  /** No stream of a document contains the topic.
    *
    * @param position
    *   the position of the topic
    * @param drains
    *   true if the option `onRemoved` is `drain`
    */
  final case class Unlisted(now: Instant, position: KafkaPosition, drains: Boolean) extends TopicEvent

  /** No stream of a document contains the topic, and the rows from its start, which is not determined yet, are to be
    * read.
    *
    * @param start
    *   the start of the stream
    * @param stop
    *   the stop of the stream
    */
  final case class Unbegun(now: Instant, start: Option[Place] = None, stop: Option[Place] = None)
      extends TopicEvent

  /** A cutover, a stop or a response of the cluster bounds the drain. */
  final case class Bounded(now: Instant, bound: TopicState.Bound, abandoned: Option[Abandoned] = None)
      extends TopicEvent

  /** A cluster returned the first records at or after the time of a cutover, and the cutover waits for other clusters. */
  final case class AtTime(offsets: KafkaPosition) extends TopicEvent

  /** An outage of the cluster begins, or ends (None). */
  final case class Outage(since: Option[Instant]) extends TopicEvent

  /** Splice has read the topic up to its bound, or abandons the remaining rows of the topic. */
  final case class Ended(now: Instant, position: KafkaPosition, abandoned: Option[Abandoned] = None) extends TopicEvent

  /** `removedRetention` is over. */
  case object RetentionOver extends TopicEvent
}
