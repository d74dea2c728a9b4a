// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.change

import java.time.Instant

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.Place
import splice.kafka.dynamic.StreamMetadata
import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicPosition}
import splice.kafka.dynamic.internal.state.TopicState._
import splice.kafka.dynamic.internal.state._
import splice.kafka.internal.split.KafkaPosition

/** Converts documents, responses and time into events of topics ([[TopicState.next]]). The rules have no state: the
  * driver stores each result once.
  */
final private[dynamic] class ChangeRules(rules: RemovalRules) {

  /** Rules for the cutovers of a document. */
  val cutovers = new CutoverRules(rules)

  /** Returns true if the query fails when topics are removed. */
  def failsOnRemoval: Boolean = rules.onRemoved == OnRemoved.Fail

  /** Returns the reason why a document is rejected; None if the document is accepted. */
  def rejection(at: AppliedMetadata, document: StreamMetadata): Option[Rejection] = {
    val older = Rejection.older(at.generation, document)
    // The names of a document may have equal hash codes, which make a hash map slow.
    val listed = document.streams.values.toSeq.flatMap(s => AppliedMetadata.streamOf(Seq(s)).keys).sorted
    val twice  = listed.zip(listed.drop(1)).collectFirst { case (one, two) if one == two => one }.map(topic =>
      Rejection.Twice(
        topic,
        document.streams.values.filter(_.topics.get(topic.cluster).exists(_(topic.topic))).map(_.name).toSeq
      )
    )
    older.orElse(twice).orElse(tooMany(at, document))
  }

  private def tooMany(at: AppliedMetadata, document: StreamMetadata): Option[Rejection] = {
    val now     = AppliedMetadata.streamOf(document.streams.values)
    val all     = at.streamOf.size
    val removed = ChangeRules.removed(at.streamOf, now)
    val most    = math.max((all * rules.maxFraction).toInt, 1)
    if (removed > 0 && now.isEmpty) Some(Rejection.Empty(all))
    else
      Option.when(removed > math.max(most, document.confirmRemovals.getOrElse(0)))(Rejection.TooMany(
        removed,
        all,
        most
      ))
  }

  /** Returns the state after the streams of a group were applied from a document.
    *
    * @param group
    *   returns true for the names of the group
    * @param now
    *   the time of the change
    * @param time
    *   the wall-clock time, which is compared to the times of cutovers
    * @param hasBegun
    *   returns true if the query has read a topic before, so that the checkpoint may have an earlier start of the topic
    * @param startsAtEnd
    *   returns true if a topic starts at the end of its log, so that a removed topic that has not begun has no rows
    */
  def take(
      at: AppliedMetadata,
      document: StreamMetadata,
      group: String => Boolean,
      position: DynamicPosition,
      now: Instant,
      time: Instant,
      hasBegun: ClusterTopic => Boolean = _ => false,
      startsAtEnd: ClusterTopic => Boolean = _ => false
  ): AppliedMetadata = {
    val part                           = StreamGroups.part(at, document, group)
    val listed                         = AppliedMetadata.streamOf(part.streams.values)
    val cut                            = cutovers.plan(at, part, position)
    val removed                        = at.streamOf.keySet -- listed.keySet
    val all                            = at.renewed(part) ++ part.clusters
    val drains                         = rules.onRemoved == OnRemoved.Drain
    def stopOf(topic: ClusterTopic)    = at.streamOf.get(topic).flatMap(at.stopOf)
    def isUnbegun(topic: ClusterTopic) =
      at.waiting.get(topic).exists { is =>
        is.time.fold(is.offsets.offsets.nonEmpty || !startsAtEnd(topic))(cut => !time.isBefore(cut.time))
      }
    val left = carried(at, position, listed.contains) ~> removed.toSeq.map { topic =>
      topic ->
        (if (drains && isUnbegun(topic)) TopicEvent.Unbegun(now, at.startOf(topic), stopOf(topic))
         else TopicEvent.Unlisted(now, position.of(topic.cluster).only(topic.topic), drains))
    } ~> cut.bounds.toSeq.map { case (topic, bound) => topic -> TopicEvent.Bounded(now, bound) }
    val returned = left ~> listed.toSeq.collect {
      case (topic, stream) if left.pending.contains(topic) => topic -> TopicEvent.Listed(stream, SortedSet.empty, None)
    }
    // A topic that returns while it is drained waits for the other topics of its stream.
    val drained = DrainOrder.byStream(left.leaving.filterNot { case (topic, _) => listed.contains(topic) })
    // A topic without a position has no start, or its cluster has not returned the start.
    def hasStart(topic: ClusterTopic) = returned.topics.get(topic).exists {
      case is: Removed => is.position.offsets.nonEmpty || at.streamOf.contains(topic)
      case _           => true
    }
    val next = returned ~> listed.toSeq.map { case (topic, stream) =>
      def after         = drained.getOrElse(stream, SortedSet.empty[ClusterTopic])
      val (time, start) = (cut.times.get(topic), cut.starts.get(topic))
      def begins        = !hasStart(topic) && (part.streams(stream).start.nonEmpty || hasBegun(topic))
      // A topic that stops, or has stopped, resumes only if the stop changes.
      def stop  = stopOf(topic)
      def stays = stop.nonEmpty && stop == part.streams(stream).stop
      // An earlier start of the checkpoint must not apply to partitions without an offset.
      def isForgotten = returned.waiting.get(topic).fold(returned.topics.get(topic).filter(_ => hasStart(topic))) {
        _.before.filter { case is: Removed => is.position.offsets.nonEmpty; case Gone => true }
      }.fold(hasBegun(topic))(_ == Gone)
      topic ->
        (start match {
          case Some(begin) if isForgotten => TopicEvent.ListedAt(stream, None, begin.position)
          case None if time.nonEmpty || begins || cut.untimed(topic) => TopicEvent.ListedAt(stream, time)
          case None if stays                                         => TopicEvent.Stays(stream)
          case _                                                     => TopicEvent.Listed(stream, after, start)
        })
    }
    next.copy(
      generation = (at.generation ++ part.generation).maxOption,
      clusters = all,
      streams = part.streams,
      generations = at.generations.filter { case (name, _) => part.streams.contains(name) && !group(name) } ++
        (for (name <- part.streams.keys if group(name); generation <- part.generation) yield name -> generation)
    ).pruned
  }

  /** Returns the state after topics were drained or abandoned, streams got a stop, or the retention of positions ended;
    * None without such an event.
    *
    * @param availability
    *   returns the availability of a topic of a cluster
    */
  def settle(
      at: AppliedMetadata,
      position: DynamicPosition,
      now: Instant,
      availability: ClusterTopic => Availability
  ): Option[AppliedMetadata] = {
    // An inactive cluster receives no requests, so an inactive cluster is not an outage.
    def of(topic: ClusterTopic) = if (at.isActive(topic.cluster)) availability(topic) else Availability.Available
    // The other cluster may be the same cluster, in which the rows up to the kept position must not be read again.
    lazy val unread = at.read.toSeq.flatMap { case (cluster, topics) =>
      topics.toSeq.filterNot(position.of(cluster).hasTopic).map(_ -> cluster)
    }.groupMap(_._1)(_._2)
    def isAwaited(topic: ClusterTopic, is: Removed) =
      is.position.offsets.nonEmpty && unread.get(topic.topic).exists(_.exists(_ != topic.cluster))
    val events = at.topics.toSeq.flatMap {
      case (topic, is: Reading) =>
        val generation = position.of(topic.cluster).generation(topic.topic)
        at.stopOf(is.stream).map(stop => topic -> TopicEvent.Bounded(now, bound(stop, topic, generation)))
      case (topic, is: Draining) =>
        // Splice reads the rows up to a stop when the cluster is available again.
        val responses = if (at.streamOf.contains(topic)) Availability.Available else of(topic)
        drained(topic, is, position.of(topic.cluster), now, responses)
      case (topic, is: Pending) =>
        unbegun(topic, is, now, of(topic))
      case (topic, is: Removed)
          if !at.streamOf.contains(topic) && !now.isBefore(is.since.plus(rules.retention)) && !isAwaited(topic, is) =>
        Some(topic -> TopicEvent.RetentionOver)
      case _ => None
    }
    if (events.isEmpty) None else Some((carried(at, position) ~> events).pruned)
  }

  private def bound(stop: Place, topic: ClusterTopic, generation: Int): Bound = stop match {
    case time: Place.At         => Bound.At(time)
    case offsets: Place.Offsets =>
      Bound.Ends(offsets.of(topic.cluster, topic.topic).as(topic.topic, generation), isSet = true)
    case _ => Bound.Requested
  }

  /** Returns the state after clusters returned the ends of removed topics, or reported that partitions of these topics
    * were deleted or truncated.
    *
    * @param shortened
    *   topics without lost rows, because only the end of a bounded source lowers their ends
    */
  def drain(
      at: AppliedMetadata,
      position: DynamicPosition,
      ends: SortedMap[ClusterTopic, KafkaPosition],
      now: Instant,
      shortened: collection.Set[ClusterTopic] = Set.empty
  ): AppliedMetadata =
    carried(at, position) ~> ends.toSeq.map { case (topic, end) =>
      val known = at.draining.get(topic).map(_.bound).collect { case bound: Bound.Ends => bound }
      topic -> TopicEvent.Bounded(
        now,
        Bound.Ends(end, isSet = known.exists(_.isSet)),
        known.filterNot(_ => shortened(topic)).flatMap(is => Abandoned.of(is.ends, end, position.of(topic.cluster)))
      )
    }

  /** Returns the state after the drains of topics ended, because no row of the topics is to be read. */
  def end(
      at: AppliedMetadata,
      position: DynamicPosition,
      topics: SortedSet[ClusterTopic],
      now: Instant
  ): AppliedMetadata =
    carried(at, position) ~> topics.toSeq.map(_ -> TopicEvent.Ended(now, KafkaPosition.Empty))

  /** Returns the state after clusters returned the starts of topics. A removed topic with an empty start does not exist.
    */
  def begin(
      at: AppliedMetadata,
      position: DynamicPosition,
      starts: SortedMap[ClusterTopic, KafkaPosition],
      now: Instant
  ): AppliedMetadata = {
    val (absent, existing) = starts.partition { case (topic, start) =>
      start.offsets.isEmpty && at.pending.contains(topic)
    }
    begun(
      carried(at, position) ~> absent.keys.toSeq.map(topic => topic -> ended(at.pending(topic), now)),
      existing
    )
  }

  /** Returns the end of a removed topic that does not exist on its cluster. */
  private def ended(is: Pending, now: Instant): TopicEvent = {
    // A document may contain a topic that was never created. Such a topic has no rows.
    val isNew = is.waiting == Waiting(is.waiting.stream, None, None) && is.start.contains(Place.Earliest)
    val lost  = Abandoned.unbegun(is.waiting.time.map(_.time), "the topic does not exist on the cluster")
    TopicEvent.Ended(now, KafkaPosition.Empty, Option.when(!isNew)(lost))
  }

  private def begun(at: AppliedMetadata, starts: SortedMap[ClusterTopic, KafkaPosition]): AppliedMetadata = {
    val after = DrainOrder.beginning(at)
    at ~> starts.toSeq.flatMap { case (topic, start) =>
      val is     = at.unbegun(topic)
      val stream = is.stream
      val begin  = if (is.time.isEmpty) start ++ is.offsets.offsets else start
      // The end that a consumer sees may be before the start, because a mirror lags or a transaction is open.
      val expected = at.startOf(topic) match {
        case _ if is.time.nonEmpty            => start
        case _ if is.offsets.offsets.nonEmpty => is.offsets.like(begin)
        case Some(offsets: Place.Offsets)     =>
          val named = offsets.of(topic.cluster, topic.topic).offsets
          KafkaPosition(start.offsets.filter { case (p, _) => named.contains(p) }).like(start)
        case _ => KafkaPosition.Empty
      }
      val stopped = for {
        pending <- at.pending.get(topic)
        stop    <- pending.stop.map(bound(_, topic, start.generation(topic.topic))) if !stop.isRequested
      } yield TopicEvent.Bounded(pending.since, Bound.Within(stop))
      val listed = TopicEvent.Listed(stream, after(stream, topic), Some(TopicEvent.Start(begin, expected)))
      (listed +: stopped.toSeq).map(topic -> _)
    }
  }

  /** Returns the state after streams cut over at a time, or after clusters returned offsets for the time of a cutover
    * that waits for other clusters; None without such an event.
    *
    * @param now
    *   the wall-clock time
    */
  def cut(
      at: AppliedMetadata,
      position: DynamicPosition,
      now: Instant,
      places: Map[ClusterTopic, OffsetsForTime]
  ): Option[AppliedMetadata] = {
    val reached = cutovers.cut(at, now, places)
    val fixed   = cutovers.fixed(at, now, places) -- reached.keySet
    if (reached.isEmpty && fixed.isEmpty) None
    else {
      val (waiting, old) = reached.partition { case (topic, _) => at.unbegun.contains(topic) }
      val ended          = carried(at, position) ~> old.toSeq.map { case (topic, ends) =>
        topic -> TopicEvent.Bounded(now, Bound.Ends(ends))
      } ~> fixed.toSeq.map { case (topic, offsets) => topic -> TopicEvent.AtTime(offsets) }
      Some(begun(ended, SortedMap.from(waiting)))
    }
  }

  private def drained(
      topic: ClusterTopic,
      is: Draining,
      at: KafkaPosition,
      now: Instant,
      of: Availability
  ): Option[(ClusterTopic, TopicEvent)] = {
    val since = outage(is.unavailable, of)
    val left  = at.only(topic.topic)
    // Until the time of a cutover, the topic is read like any other topic.
    val time = Some(is.bound).collect { case Bound.At(cut, _) => cut.time }
    if (is.bound.isReached(at)) Some(topic -> TopicEvent.Ended(now, left))
    else if (isAbandoned(since, is.since +: time.toSeq, of)) {
      val reason = silent(since.getOrElse(is.since))
      val ends   = Some(of).collect { case outage: Availability.Unavailable => outage.ends.only(topic.topic) }
        .filter(last => left.offsets.isEmpty || last.generation(topic.topic) == left.generation(topic.topic))
      val lost = Abandoned.of(is.bound, left, reason, ends.getOrElse(KafkaPosition.Empty))
      Some(topic -> TopicEvent.Ended(now, left, lost))
    } else if (since != is.unavailable) Some(topic -> TopicEvent.Outage(since))
    else None
  }

  /** Returns the event of a removed topic whose start is not determined yet. */
  private def unbegun(
      topic: ClusterTopic,
      is: Pending,
      now: Instant,
      of: Availability
  ): Option[(ClusterTopic, TopicEvent)] = {
    val since = outage(is.unavailable, of)
    val time  = is.waiting.time.map(_.time)
    if (isAbandoned(since, is.since +: time.toSeq, of)) {
      val lost = Abandoned.unbegun(time, silent(since.getOrElse(is.since)))
      Some(topic -> TopicEvent.Ended(now, KafkaPosition.Empty, Some(lost)))
    } else if (since != is.unavailable) Some(topic -> TopicEvent.Outage(since))
    else None
  }

  private def silent(since: Instant): String = s"the cluster has not responded for all partitions since $since"

  // An outage is stored, because a query that restarts more often than 'drainTimeout' would otherwise never abandon a
  // topic.
  private def outage(known: Option[Instant], of: Availability): Option[Instant] = of match {
    case Availability.Available                                   => None
    case outage: Availability.Unavailable if outage.isConfirmed() =>
      known.filterNot(_ => outage.responded).orElse(Some(outage.since))
    case _ => known
  }

  /** Returns true if a cluster has been unavailable for the timeout.
    *
    * @param from
    *   times after which an outage counts
    */
  private def isAbandoned(outage: Option[Instant], from: Seq[Instant], of: Availability): Boolean = of match {
    case failed: Availability.Unavailable =>
      outage.exists(since => failed.isConfirmed((since +: from).max.plus(rules.drainTimeout)))
    case _ => false
  }

  /** Returns the next change without an event. Starts that the position already contains are removed from the state.
    * Topics whose retention is over are removed too, because the number of such topics has no limit.
    *
    * @param isKept
    *   returns true for a topic that keeps its state
    */
  private def carried(
      at: AppliedMetadata,
      position: DynamicPosition,
      isKept: ClusterTopic => Boolean = _ => false
  ): AppliedMetadata = at.copy(
    number = at.number + 1,
    topics = at.topics.filter { case (topic, is) => is != Gone || isKept(topic) }.map { case (topic, is) =>
      def left(expected: KafkaPosition) = KafkaPosition(expected.offsets.filterNot { case (p, start) =>
        position.of(topic.cluster).get(p).exists(_ > start)
      }).like(expected)
      topic ->
        (is match {
          case is: Reading  => is.copy(start = None, expected = left(is.expected))
          case is: Draining => is.copy(start = None, expected = left(is.expected))
          case other        => other
        })
    }
  )

  implicit private class Events(at: AppliedMetadata) {

    /** Returns the state after events. */
    def ~>(events: Seq[(ClusterTopic, TopicEvent)]): AppliedMetadata =
      at.copy(topics = events.foldLeft(at.topics) { case (all, (topic, event)) =>
        TopicState.next(all.get(topic), event).fold(all - topic)(all.updated(topic, _))
      })
  }
}

private object ChangeRules {

  /** Returns the number of topics that no stream contains any more. A topic that its stream replaces by a new topic is
    * not counted.
    */
  private def removed(was: SortedMap[ClusterTopic, String], is: SortedMap[ClusterTopic, String]): Int = {
    val gained = (is -- was.keySet).values.groupMapReduce(identity)(_ => 1)(_ + _)
    val lost   = (was -- is.keySet).values.groupMapReduce(identity)(_ => 1)(_ + _)
    lost.map { case (stream, number) => math.max(number - gained.getOrElse(stream, 0), 0) }.sum
  }
}
