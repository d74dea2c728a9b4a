// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.change

import java.time.Instant

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.Place
import splice.kafka.dynamic.StreamMetadata
import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicPosition}
import splice.kafka.dynamic.internal.state.TopicState.{Bound, Draining}
import splice.kafka.dynamic.internal.state.{AppliedMetadata, TopicEvent, TopicState}
import splice.kafka.internal.split.KafkaPosition

/** Rules for the cutovers of a document. The rules have no state, like [[ChangeRules]]. */
final private[dynamic] class CutoverRules(rules: RemovalRules) {

  import CutoverRules._

  /** Returns the reason why the options do not permit a cutover; None if the options permit the cutover, or no cutover
    * exists.
    */
  def policy(document: StreamMetadata): Option[Rejection] =
    if (rules.onRemoved == OnRemoved.Drain) None
    else
      document.streams.values.find(_.cutover.nonEmpty).map { stream =>
        Rejection.Cutover(stream.name, s"'onRemoved' is '${rules.onRemoved.word}', and a cutover needs 'drain'")
      }

  /** Returns the reason why a document is rejected, from the checks that need no response of a cluster. */
  def rejection(at: AppliedMetadata, document: StreamMetadata, position: DynamicPosition): Option[Rejection] = {
    // After a move away from an abandoned topic, rows before its position would be read twice.
    lazy val abandoned = DrainOrder.byStream(at.topics.collect {
      case (t, is: TopicState.Removed) if is.abandoned.nonEmpty => t -> is.stream
    })
    policy(document).orElse(unbegun(at, document)).orElse(firstOf(StreamMove.all(at, document)) { move =>
      val leaves = move.to.find(at.leaving.contains).map { topic =>
        Rejection.Cutover(move.stream, s"$topic is still drained after the last removal of the topic")
      }
      leaves.orElse(move.cutover match {
        case offsets: Place.Offsets =>
          val left = abandoned.getOrElse(move.stream, SortedSet.empty[ClusterTopic])
            .filter(t => offsets.of(t.cluster, t.topic).offsets.nonEmpty && !move.to(t))
          firstOf(move.from.toSeq ++ left)(t => past(move.stream, offsets, t, at.positionOf(t, position)))
        case cut: Place.At =>
          document.streams(move.stream).stop.collect {
            case stop: Place.At if stop.time.isBefore(cut.time) =>
              Rejection.Cutover(
                move.stream,
                s"the cutover time ${cut.time} is after the stop of the stream at ${stop.time}"
              )
          }
        case _ => None
      })
    })
  }

  // A wait would have no end if the topic does not exist.
  private def unbegun(at: AppliedMetadata, document: StreamMetadata): Option[Rejection] =
    StreamMove.unbegun(at, document).headOption.map { case (topic, stream) =>
      Rejection.Cutover(
        stream,
        s"the cluster has not returned the start of $topic yet, so the topic cannot end at the cutover; remove the " +
          "topic without a cutover first, or wait for its cluster"
      )
    }

  /** Returns the topics that a document removes at a time, with that time in milliseconds. The check needs the offsets
    * for these times in the logs.
    */
  def times(at: AppliedMetadata, document: StreamMetadata, position: DynamicPosition): Map[ClusterTopic, Long] = (for {
    (move, cutover) <- timed(at, document)
    topic           <- move.from.toSeq if at.positionOf(topic, position).hasTopic(topic.topic)
  } yield topic -> cutover.millis).toMap

  /** Returns the reason why a document is rejected, from the offsets for these times. */
  def rejection(
      at: AppliedMetadata,
      document: StreamMetadata,
      position: DynamicPosition,
      places: Map[ClusterTopic, OffsetsForTime]
  ): Option[Rejection] = firstOf(for ((move, cutover) <- timed(at, document); topic <- move.from.toSeq) yield {
    val current = at.positionOf(topic, position)
    val place   = places.get(topic).filter(_.generation == current.generation(topic.topic))
    val late    = for {
      (p, read) <- current.of(topic.topic).toSeq
      first     <- place.flatMap(_.partitions.get(p)).flatMap(_.first) if read > first
    } yield s"partition ${p.partition} up to $read, where the first record of that time is $first"
    if (late.isEmpty) None
    else
      Some(Rejection.Cutover(
        move.stream,
        s"$topic was read past ${cutover.time} already, ${late.mkString(", ")}; rows would be read twice"
      ))
  })(identity)

  /** Returns the plan of a document for the topics that streams leave, and for the topics to which they move. */
  def plan(at: AppliedMetadata, document: StreamMetadata, position: DynamicPosition): CutoverPlan =
    StreamMove.all(at, document).foldLeft(CutoverPlan.Nothing) { (plan, move) =>
      move.cutover match {
        case time: Place.At =>
          plan.copy(
            bounds = plan.bounds ++ move.from.toSeq.map(_ -> Bound.At(time)),
            times = plan.times ++ move.to.toSeq.map(_ -> time)
          )
        case offsets: Place.Offsets =>
          def of(topic: ClusterTopic) = Some(offsets.of(topic.cluster, topic.topic)).filter(_.offsets.nonEmpty)
          plan.copy(
            bounds = plan.bounds ++ move.from.toSeq.flatMap(topic =>
              of(topic).map { ends =>
                val generation = at.positionOf(topic, position).generation(topic.topic)
                topic -> Bound.Ends(ends.as(topic.topic, generation), isSet = true)
              }
            ),
            starts = plan.starts ++ move.to.toSeq.flatMap(topic =>
              of(topic).map(start => topic -> begin(at, topic, start))
            ),
            untimed = plan.untimed ++ move.to.filter(topic => of(topic).isEmpty && at.waiting.contains(topic))
          )
        case _ => plan
      }
    }

  /** Returns the topics whose time is reached, with that time in milliseconds. The cutover needs the offsets for these
    * times in the logs.
    */
  def due(at: AppliedMetadata, now: Instant): Map[ClusterTopic, Long] =
    SortedMap.from(due(at, now, None).flatMap(_.map { case (topic, cutover) => topic -> cutover.millis }))

  /** Returns the offsets for times that are reached. Removed topics of a stream end at these offsets, and new topics
    * start at these offsets. A stream waits until clusters have returned the offsets of all its topics.
    */
  def cut(
      at: AppliedMetadata,
      now: Instant,
      places: Map[ClusterTopic, OffsetsForTime]
  ): Map[ClusterTopic, KafkaPosition] =
    due(at, now, Some(places)).flatMap(_.keys)
      .map(topic => topic -> places(topic).position(topic.topic, offsets(at, topic))).toMap

  /** Returns the first records at or after times that are reached, of topics for which more such records are known than
    * before. Retention may remove these records before the cutover.
    */
  def fixed(
      at: AppliedMetadata,
      now: Instant,
      places: Map[ClusterTopic, OffsetsForTime]
  ): Map[ClusterTopic, KafkaPosition] = (for {
    (topic, cutover) <- due(at, now, None).flatten
    place            <- places.get(topic) if isKnown(cutover, place)
    known = offsets(at, topic)
    now   = place.firsts(topic.topic, known)
    if now.offsets.nonEmpty && now != known
  } yield topic -> now).toMap

  /** Returns warnings about topics that begin at a time, if retention may have removed records of that time.
    *
    * @param change
    *   the state after the start of a topic was fixed
    */
  def warnings(
      at: AppliedMetadata,
      change: AppliedMetadata,
      places: Map[(ClusterTopic, Long), OffsetsForTime]
  ): Seq[String] = for {
    (topic, is) <- at.unbegun.toSeq if change.topics.get(topic) != at.topics.get(topic) && is.offsets.offsets.isEmpty
    cutover     <- is.time.toSeq
    lacking = places.get(topic -> cutover.millis).toSeq.flatMap(_.partitions).collect {
      case (p, place) if place.mayLackRecords => p
    }
    if lacking.nonEmpty
  } yield s"$topic begins at ${cutover.time}. Retention has removed all earlier records of partitions " +
    s"${lacking.map(_.partition).sorted.mkString(", ")}, and may have removed records from that time on."

  /** Returns the stored offsets for the time of a cutover. */
  private def offsets(at: AppliedMetadata, topic: ClusterTopic): KafkaPosition =
    at.draining.get(topic).map(_.bound).collect { case Bound.At(_, ends) => ends }
      .orElse(at.unbegun.get(topic).map(_.offsets)).getOrElse(KafkaPosition.Empty)

  /** Returns, per stream, the topics that cut over at a time that is reached.
    *
    * @param places
    *   offsets for times by topic; streams with a topic without an offset are omitted. If this is None, all such
    *   streams are returned
    */
  private def due(
      at: AppliedMetadata,
      now: Instant,
      places: Option[Map[ClusterTopic, OffsetsForTime]]
  ): Seq[Map[ClusterTopic, Place.At]] = {
    val left = at.draining.toSeq.collect { case (t, is @ Draining(_, _, Bound.At(cut, _), _, _, _, _, _)) =>
      // A topic with a stop does not wait for other topics.
      (is.stream, at.streamOf.get(t).map(_ => t)) -> (t -> cut)
    }
    val begins = at.unbegun.toSeq.flatMap { case (t, is) =>
      // A removed topic does not wait either, because a document has ended the move of its stream.
      is.time.map(cut => (is.stream, Option.when(at.pending.contains(t))(t)) -> (t -> cut))
    }
    (left ++ begins).foldLeft(SortedMap.empty[(String, Option[ClusterTopic]), SortedMap[
      ClusterTopic,
      Place.At
    ]]) {
      case (all, (key, cut)) =>
        all.updated(key, all.getOrElse(key, SortedMap.empty[ClusterTopic, Place.At]) + cut)
    }.valuesIterator.toSeq
      .filter(_.values.forall(cut => !now.isBefore(cut.time)))
      .filter(topics =>
        places.forall(known =>
          topics.forall { case (topic, cutover) =>
            known.get(topic).exists(isKnown(cutover, _))
          }
        )
      )
  }

  /** Returns the topics whose time is reached and whose cutover a document would replace, with that time in
    * milliseconds. A stream moves again only after this cutover, because rows after the time belong to its new topics.
    */
  def replaced(at: AppliedMetadata, document: StreamMetadata, now: Instant): Map[ClusterTopic, Long] = {
    val listed = AppliedMetadata.streamOf(document.streams.values)
    // Offsets for the same new topics replace the time, and need no response of a cluster.
    val moved =
      at.waiting.collect { case (topic, is) if is.time.nonEmpty && !listed.contains(topic) => is.stream }.toSet
    due(at, now).filter { case (topic, millis) =>
      val isStop = at.draining.contains(topic) && at.streamOf.contains(topic)
      val stream = at.stream(topic)
      !isStop && !at.pending.contains(topic) && stream.flatMap(document.streams.get).flatMap(_.cutover).exists {
        case cut: Place.At => cut.millis != millis || at.waiting.contains(topic) && !listed.contains(topic)
        case _             => stream.exists(moved)
      }
    }
  }

  private def past(
      stream: String,
      cutover: Place.Offsets,
      topic: ClusterTopic,
      position: KafkaPosition
  ): Option[Rejection] = {
    val ends  = cutover.of(topic.cluster, topic.topic)
    val wrong = position.of(topic.topic).toSeq.flatMap { case (p, read) =>
      ends.get(p) match {
        case None                    => Some(s"partition ${p.partition} is read, and has no offset in the cutover")
        case Some(end) if read > end =>
          Some(s"partition ${p.partition} was read up to $read already, and would end at $end")
        case _ => None
      }
    }
    if (wrong.isEmpty) None else Some(Rejection.Cutover(stream, s"of $topic ${wrong.mkString(", ")}"))
  }
}

private[dynamic] object CutoverRules {

  private def timed(at: AppliedMetadata, document: StreamMetadata): Seq[(StreamMove, Place.At)] =
    StreamMove.all(at, document).map(move => move -> move.cutover).collect { case (move, time: Place.At) =>
      move -> time
    }

  private def isKnown(cutover: Place.At, places: OffsetsForTime): Boolean = {
    val isOver = !places.sent.isBefore(cutover.time.plus(cutover.lateness))
    places.partitions.nonEmpty && places.partitions.values.forall(_.first.nonEmpty || isOver)
  }

  /** Returns the start of a topic. Partitions without an offset resume at the position of a topic that was read earlier.
    */
  private def begin(at: AppliedMetadata, topic: ClusterTopic, offsets: KafkaPosition): TopicEvent.Start = {
    val left                 = at.unbegun.get(topic).fold(at.topics.get(topic))(_.before)
    val (position, expected) = left.collect { case is: TopicState.Removed => (is.position, is.expected) }
      .getOrElse((KafkaPosition.Empty, KafkaPosition.Empty))
    val start = position ++ offsets.offsets
    TopicEvent.Start(start, (expected ++ offsets.offsets).like(start))
  }

  private def firstOf[A](all: Seq[A])(rejection: A => Option[Rejection]): Option[Rejection] =
    all.iterator.flatMap(rejection(_)).nextOption()
}
