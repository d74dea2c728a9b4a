// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import java.time.{Clock, Instant}

import scala.annotation.tailrec
import scala.collection.immutable.{SortedMap, SortedSet}
import scala.collection.mutable

import org.slf4j.LoggerFactory

import splice.kafka.Place
import splice.kafka.dynamic.StreamMetadata
import splice.kafka.dynamic.internal.change.{ChangeRules, OffsetsForTime, Rejection}
import splice.kafka.dynamic.internal.cluster.{ClusterRequest, ClusterResponse}
import splice.kafka.dynamic.internal.errors.DynamicErrors
import splice.kafka.dynamic.internal.metadata.MetadataDiscovery
import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicPosition}
import splice.kafka.dynamic.internal.state.TopicState.Bound
import splice.kafka.dynamic.internal.state._
import splice.kafka.internal.split.KafkaPosition

/** Applies changes to a position in sequence. Each change is durable before a position has its number.
  *
  * A trigger calls [[settle]], sends the requests of [[request]], and calls [[respond]] with the responses. `startOf`
  * returns the start of a topic that a document added; None if the topic starts like a new topic. `topicsOf` returns the
  * topics of a cluster that the query has read before. `idOf` returns the id of a cluster that has responded before.
  *
  * @param generations
  *   generations of documents that cause no change
  * @param clock
  *   wall clock, for the times of cutovers, which are timestamps of records
  * @param steady
  *   clock for all other times
  */
final private[dynamic] class MetadataApplier(
    log: ChangeEntries,
    rules: ChangeRules,
    discovery: MetadataDiscovery,
    generations: DocumentEntries,
    clock: Clock,
    steady: Clock
)(
    startOf: (AppliedMetadata, ClusterTopic) => Option[Place],
    topicsOf: String => Set[String],
    idOf: String => Option[String]
) {

  import MetadataApplier._

  private[enumerator] val documents = new DocumentFeed(discovery, generations, current().clusters)

  /** Groups of streams that wait. */
  private[enumerator] val groups = new WaitingGroups(steady)

  private var firstOfRun = Option.empty[AppliedMetadata]
  private var wanted     = Map.empty[(ClusterTopic, Long), StreamGroup]
  private var places     = Map.empty[(ClusterTopic, Long), OffsetsForTime]

  /** Returns the state in which the source starts. If no start is durable yet, this is the state of the latest
    * document.
    *
    * @param started
    *   true if a start is durable; such a start belongs to the first change
    */
  def first(started: Boolean): AppliedMetadata = firstOfRun.getOrElse {
    val first = log.last match {
      case Some(known) =>
        documents.latest().filterNot(document => started || known.equalsDocument(document))
          .fold(if (started) log(0) else known)(begun(known.number + 1, _))
      case None => begun(0, documents.first())
    }
    firstOfRun = Some(first)
    first
  }

  private def begun(number: Int, document: StreamMetadata): AppliedMetadata = {
    discovery.requireAll(document)
    val rejection = rules.rejection(AppliedMetadata.Nothing, document)
    rejection.orElse(rules.cutovers.policy(document)).foreach(why => throw DynamicErrors.rejected(why))
    append(AppliedMetadata.first(document).copy(number = number))
  }

  /** Returns the last change, or the first document before any change. */
  def current(): AppliedMetadata = log.last.getOrElse(first(started = false))

  /** Returns the state with the latest client properties of clusters. */
  def reached(applied: AppliedMetadata): AppliedMetadata = {
    val last = log.last.getOrElse(applied)
    val now  = documents.reached(applied, last.number)(rules.rejection(last, _))
    rejectInvalid()
    now
  }

  private def rejectInvalid(): Unit = groups.rejectInvalid(discovery.rejected.map(Rejection.invalid))

  /** Applies all changes that need no response. Returns the position, and the state for the requests to the clusters.
    * If a cutover needs the offsets for times in topics that were read to their stop, these topics are waiting in that
    * state.
    *
    * @param fixed
    *   true if the run reads only the records that exist at its start, and polls the metadata once
    */
  def settle(
      at: DynamicPosition,
      fixed: Boolean,
      availability: ClusterTopic => Availability
  ): (DynamicPosition, AppliedMetadata) = {
    documents.poll(fixed)
    rejectInvalid()
    places = Map.empty
    val (position, applied) = go(at, availability)
    val requested           = wanted.keys.flatMap { case (topic, millis) =>
      applied.topics.get(topic).collect { case is: TopicState.Removed =>
        topic -> TopicState.Waiting(is.stream, Some(Place.At(Instant.ofEpochMilli(millis))), Some(is))
      }
    }
    position -> (if (requested.isEmpty) applied else applied.copy(topics = applied.topics ++ requested))
  }

  /** Returns the request to a cluster, with the parts that changes need. */
  def request(applied: AppliedMetadata, cluster: String, from: KafkaPosition): ClusterRequest = {
    val now      = clock.instant()
    val topics   = applied.of(cluster)
    val draining = topics.collect { case (topic, is: TopicState.Draining) => topic -> is }
    // The end of a removed topic is requested now. The offset for the time in its log is therefore needed now, before
    // the time is reached.
    val (future, due) = draining.toSeq.map { case (topic, is) => (topic, is.bound, is.bound.limit) }.collect {
      case (topic, bound, Bound.At(cut, _)) => (topic, cut, bound.isRequested)
    }.partition { case (_, cut, isRequested) => !isRequested && now.isBefore(cut.time) }
    def millis(of: Seq[(String, Place.At, Boolean)]) = of.map { case (topic, cut, _) => topic -> cut.millis }
    val requested = wanted.keySet.collect { case (topic, time) if topic.cluster == cluster => topic.topic -> time }
    ClusterRequest(
      from,
      now,
      applied.expectedOn(cluster),
      draining,
      draining.keySet.filter(topic => applied.streamOf.contains(ClusterTopic(cluster, topic))),
      requested ++ millis(due),
      millis(future).toSet,
      topics.keys.map(ClusterTopic(cluster, _)).filter(applied.unbegun.get(_).exists(_.time.isEmpty))
        .map(topic => topic.topic -> requestedStart(applied, topic)).toMap,
      topics.collect { case (name, _: TopicState.Pending) => name }.toSet,
      applied.unbegun.collect { case (t, is) if t.cluster == cluster && is.time.nonEmpty => t.topic -> is.offsets }
    )
  }

  /** Applies all changes that responses allow. Returns the position and the state after these changes.
    *
    * @param sent
    *   the clusters that received a request, without held clusters
    * @param unread
    *   removed topics whose drain ends without a row
    */
  def respond(
      at: DynamicPosition,
      responses: SortedMap[String, ClusterResponse],
      sent: collection.Set[String],
      unread: SortedSet[ClusterTopic]
  ): (DynamicPosition, AppliedMetadata) = {
    val applied = log(at.change)
    places = for {
      (name, reach)            <- responses
      ((topic, millis), place) <- reach.places
    } yield (ClusterTopic(name, topic), millis) -> place
    // The requests were sent after the removal.
    val bounded = applied.draining.flatMap { case (topic, drain) =>
      responses.get(topic.cluster).flatMap(_.bound(topic.topic, drain)).map(topic -> _)
    }
    val shortened = bounded.keySet.filter(topic =>
      responses.get(topic.cluster).exists(_.isShortened(topic.topic, applied.draining(topic)))
    )
    val started =
      applied.unbegun.keys.flatMap(t =>
        responses.get(t.cluster).flatMap(_.start(t.topic, requestedStart(applied, t))).map(t -> _)
      )
    val change =
      Option.when(unread.nonEmpty)(rules.end(applied, at, unread, steady.instant()))
        .orElse(Option.when(bounded.nonEmpty)(rules.drain(applied, at, bounded, steady.instant(), shortened)))
        .orElse(Option.when(started.nonEmpty)(rules.begin(applied, at, SortedMap.from(started), steady.instant())))
    val settled = change match {
      case Some(next) =>
        go(make(applied, next).moved(at), _ => Availability.Unknown)
      case None if places.nonEmpty => go(at, _ => Availability.Unknown)
      case None                    => at -> applied
    }
    groups.update(waiting(settled._2).filterNot { case (_, cluster) => responses.contains(cluster) }, sent)
    settled
  }

  // Partitions without an offset of a cutover start like new partitions.
  private def requestedStart(applied: AppliedMetadata, topic: ClusterTopic): Option[Place] =
    if (applied.unbegun.get(topic).exists(_.offsets.offsets.nonEmpty)) None else startOf(applied, topic)

  /** Returns the groups of streams that need responses, each with a cluster that must respond. */
  private def waiting(applied: AppliedMetadata): Seq[(StreamGroup, String)] = {
    val starts =
      applied.waiting.toSeq.collect { case (topic, is) if is.time.isEmpty => only(applied, topic) -> topic.cluster }
    starts ++ (wanted -- places.keySet).collect {
      case ((topic, _), group) if !applied.pending.contains(topic) => group -> topic.cluster
    }
  }

  private def only(applied: AppliedMetadata, topic: ClusterTopic): StreamGroup = {
    val stream = applied.stream(topic)
    StreamGroup(stream.toSet, stream.flatMap(applied.generations.get))
  }

  @tailrec private def go(
      at: DynamicPosition,
      availability: ClusterTopic => Availability
  ): (DynamicPosition, AppliedMetadata) = {
    val applied = log(at.change)
    next(applied, at, availability) match {
      case Some(change) => go(change.moved(at), availability)
      case None         => at -> applied
    }
  }

  private def next(
      applied: AppliedMetadata,
      at: DynamicPosition,
      availability: ClusterTopic => Availability
  ): Option[AppliedMetadata] = {
    val time = clock.instant()
    val due  = rules.cutovers.due(applied, time)
    wanted = due.map { case at @ (topic, _) => at -> only(applied, topic) }
    def cut = rules.cut(applied, at, time, known(due)).map(warned(applied, _))
    // If the driver was killed, a stored change may not be logged yet.
    log.find(applied.number + 1).map(reported(applied, _))
      .orElse(take(applied, at))
      .orElse(cut.orElse(rules.settle(applied, at, steady.instant(), availability)).map(make(applied, _)))
  }

  private def warned(applied: AppliedMetadata, change: AppliedMetadata): AppliedMetadata = {
    rules.cutovers.warnings(applied, change, places).foreach(logger.warn(_))
    change
  }

  /** Returns the offsets for times that clusters have returned. */
  private def known(times: Map[ClusterTopic, Long]): Map[ClusterTopic, OffsetsForTime] =
    times.flatMap { case (topic, millis) => places.get(topic -> millis).map(topic -> _) }

  /** Returns the change that a new document causes. A group of streams waits if clusters must respond first; the other
    * groups do not wait.
    */
  private def take(applied: AppliedMetadata, at: DynamicPosition): Option[AppliedMetadata] = {
    // A document that differs only in its generation does not cause a change.
    documents.pending.filter(applied.equalsDocument).filter(documents.older(applied, _).isEmpty).foreach { document =>
      documents.accept(document)
      documents.keep(document, applied)
      groups.keepRejected(_ => false)
    }
    documents.keepIf(!applied.equalsDocument(_))
    documents.pending.flatMap { document =>
      documents.older(applied, document).orElse(rules.rejection(applied, document)) match {
        case Some(why) =>
          documents.keepIf(_ => false)
          groups.keepRejected(_.isEmpty)
          groups.reject(StreamGroup(Set.empty, document.generation), why)
          None
        case None => taken(applied, document, at)
      }
    }
  }

  private def taken(
      applied: AppliedMetadata,
      document: StreamMetadata,
      at: DynamicPosition
  ): Option[AppliedMetadata] = {
    documents.accept(document)
    val applying = new Applying(applied, at)
    val all      = StreamGroups.changed(applied, document).map(part => part.streams -> responded(applying, part, at))
    val rejected = all.collect { case (group, Some(Some(why))) => group -> why }
    rejected.foreach { case (group, why) => groups.reject(StreamGroup(group, document.generation), why) }
    groups.keepRejected(rejected.map(_._1: Set[String]).toSet)
    val ready      = all.collect { case (group, Some(None)) => group }.flatten.to(SortedSet)
    val change     = applying.changed(applied, document, ready)
    val renumbered = change.copy(
      number = applied.number,
      generation = applied.generation,
      at = applied.at
    )
    if (renumbered == applied) {
      // Groups that are rejected or that wait may get a corrected document with any later generation than the state.
      if (all.forall { case (_, decision) => decision.contains(None) }) documents.keep(document, applied)
      None
    } else {
      val removed = applied.streamOf.keySet -- change.streamOf.keySet
      if (rules.failsOnRemoval && removed.nonEmpty) throw DynamicErrors.removed(removed)
      Some(make(applied, change))
    }
  }

  /** Application of a document to a state and a position. All groups of streams share what this object has read from the
    * side log.
    */
  final private class Applying(base: AppliedMetadata, at: DynamicPosition) {
    // The side log may be on a slow storage.
    private val begun = mutable.SortedMap.empty[String, Set[String]]
    private val ids   = mutable.SortedMap.empty[String, Option[String]]

    /** Returns true if the query has read a topic before. */
    private def hasBegun(topic: ClusterTopic): Boolean =
      begun.getOrElseUpdate(topic.cluster, topicsOf(topic.cluster))(topic.topic)

    private def id(cluster: String): Option[String] = ids.getOrElseUpdate(
      cluster,
      Option.when(base.clusters.contains(cluster))(cluster).flatMap(idOf)
    )

    /** Returns the state after streams are applied from a document.
      *
      * @param from
      *   the state of all streams, or of these streams only
      */
    def changed(from: AppliedMetadata, document: StreamMetadata, streams: Set[String]): AppliedMetadata = {
      def startsAtEnd(topic: ClusterTopic) = startOf(from, topic).contains(Place.Latest)
      rules.take(from, document, streams, at, steady.instant(), clock.instant(), hasBegun, startsAtEnd)
    }

    /** Returns the reason why a group is rejected because it reads a topic again. */
    def repeated(part: StreamGroupPart): Option[Rejection] =
      RepeatedTopics.rejection(base, part, at, id)(changed(part.at, part.document, part.streams))
  }

  /** Returns the decision on a group of streams: `Some(Some(reason))` = rejected, `Some(None)` = accepted, None =
    * responses of clusters are missing.
    */
  private def responded(
      applying: Applying,
      part: StreamGroupPart,
      at: DynamicPosition
  ): Option[Option[Rejection]] = {
    val StreamGroupPart(streams, applied, document) = part
    val replaced                                    = rules.cutovers.replaced(applied, document, clock.instant())
    wanted ++= replaced.map(_ -> StreamGroup(streams, document.generation))
    if (replaced.nonEmpty) None
    else rules.cutovers.rejection(applied, document, at).orElse(applying.repeated(part)) match {
      case Some(why) => Some(Some(why))
      case None      =>
        val times = rules.cutovers.times(applied, document, at)
        val all   = known(times)
        if (all.size == times.size) Some(rules.cutovers.rejection(applied, document, at, all))
        else {
          wanted ++= times.map(_ -> StreamGroup(streams, document.generation))
          None
        }
    }
  }

  private def append(change: AppliedMetadata): AppliedMetadata = log.append(change.copy(at = Some(steady.instant())))

  private def make(applied: AppliedMetadata, change: AppliedMetadata): AppliedMetadata = {
    val abandoned = applied.topicsAbandoned + ChangeDescription.abandoned(applied, change).size
    reported(applied, append(change.copy(topicsAbandoned = abandoned)))
  }

  private def reported(before: AppliedMetadata, now: AppliedMetadata): AppliedMetadata = {
    ChangeDescription(before, now).foreach(line => logger.info(s"Change ${now.number}: $line"))
    ChangeDescription.warnings(before, now).foreach(line => logger.warn(line))
    now
  }
}

private[dynamic] object MetadataApplier {
  private val logger = LoggerFactory.getLogger(classOf[MetadataApplier])
}
