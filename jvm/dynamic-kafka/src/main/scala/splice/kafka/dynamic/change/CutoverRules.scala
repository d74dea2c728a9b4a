// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.change

import java.time.Instant

import scala.collection.immutable.SortedMap

import splice.kafka.dynamic.split.{ClusterTopic, DynamicPosition}
import splice.kafka.dynamic.{StreamCutover, StreamMetadata}
import splice.kafka.split.KafkaPosition
import splice.source.LogPartition

/** What comes of cutovers that the metadata says for streams. Pure, as [[ChangeRules]]. */
final private[dynamic] class CutoverRules(rules: RemovalRules) {

  import CutoverRules._

  /** Why no cutover can be made at all. */
  def policy(found: StreamMetadata): Option[Refusal] =
    if (rules.onRemoved == OnRemoved.Drain) None
    else
      found.streams.values.find(_.cutover.nonEmpty).map { stream =>
        Refusal.Cutover(stream.name, s"'onRemoved' is ${rules.onRemoved.word}, and a cutover needs drain")
      }

  /** Why an answer is not applied, as far as no cluster must be asked. */
  def refusal(at: AppliedMetadata, found: StreamMetadata, position: DynamicPosition): Option[Refusal] =
    policy(found).orElse(firstOf(StreamMove.all(at, found)) { move =>
      val leaves = move.to.find(at.leaving.contains).map { topic =>
        Refusal.Cutover(move.stream, s"$topic is still read to where it ended when it was removed before")
      }
      leaves.orElse(move.cutover match {
        case offsets: StreamCutover.Offsets => firstOf(move.from.toSeq)(past(move.stream, offsets, _, position))
        case _: StreamCutover.At            => None
      })
    })

  /** Topics that an answer leaves at a time, in milliseconds, of which it must be known where that is. */
  def times(at: AppliedMetadata, found: StreamMetadata, position: DynamicPosition): Map[ClusterTopic, Long] = (for {
    (move, cutover) <- timed(at, found)
    topic           <- move.from.toSeq if position.of(topic.cluster).hasTopic(topic.topic)
  } yield topic -> cutover.millis).toMap

  /** Why an answer is not applied, by what clusters say of these times. */
  def refusal(
      at: AppliedMetadata,
      found: StreamMetadata,
      position: DynamicPosition,
      places: Map[ClusterTopic, LogPlaces]
  ): Option[Refusal] = firstOf(for ((move, cutover) <- timed(at, found); topic <- move.from.toSeq) yield {
    val own  = position.of(topic.cluster).of(topic.topic)
    val late = for {
      (p, read) <- own.toSeq
      first     <- places.get(topic).flatMap(_.partitions.get(p)).flatMap(_.first) if read > first
    } yield s"partition ${p.partition} up to $read, where the first record of that time is $first"
    if (late.isEmpty) None
    else
      Some(Refusal.Cutover(
        move.stream,
        s"$topic was read past ${cutover.time} already, ${late.mkString(", ")}; rows would come twice"
      ))
  })(identity)

  /** What an answer makes of the topics that streams leave, and of those that they move to. */
  def plan(at: AppliedMetadata, found: StreamMetadata, position: DynamicPosition): CutoverPlan =
    StreamMove.all(at, found).foldLeft(CutoverPlan.Nothing) { (plan, move) =>
      move.cutover match {
        case time: StreamCutover.At =>
          plan.copy(
            leaving = plan.leaving ++ move.from.toSeq.map(_ -> LeavingPlan.Until(time)),
            begins = plan.begins ++ move.to.toSeq.map(_ -> time)
          )
        case StreamCutover.Offsets(clusters) =>
          def of(topic: ClusterTopic) =
            Some(KafkaPosition(clusters.getOrElse(
              topic.cluster,
              SortedMap.empty[LogPartition, Long]
            )).only(topic.topic))
              .filter(_.offsets.nonEmpty)
          plan.copy(
            leaving = plan.leaving ++ move.from.toSeq.flatMap(topic =>
              of(topic).map(ends => topic -> LeavingPlan.Drain(generation(ends, topic, position)))
            ),
            resumed = plan.resumed ++ move.to.toSeq.flatMap(topic => of(topic).map(topic -> started(at, topic, _)))
          )
      }
    }

  /** Topics whose time has come, in milliseconds, of which it must be known where that is. */
  def due(at: AppliedMetadata, now: Instant): Map[ClusterTopic, Long] =
    comes(at, now).flatMap(_.map { case (topic, cutover) => topic -> cutover.millis }).toMap

  /** Topics whose time has come, and of which clusters cannot say yet where it is. */
  def open(at: AppliedMetadata, now: Instant, places: Map[ClusterTopic, LogPlaces]): Set[ClusterTopic] =
    comes(at, now).flatten.collect {
      case (topic, cutover) if places.get(topic).exists(!isKnown(cutover, _)) => topic
    }.toSet

  /** What holds once clusters have said where times are that have come: topics that are left end there, and those that streams move
    * to begin there, in one. A stream whose topics are not all known so far that they can be waits.
    */
  def cut(
      at: AppliedMetadata,
      position: DynamicPosition,
      now: Instant,
      places: Map[ClusterTopic, LogPlaces]
  ): Option[AppliedMetadata] = {
    val known = comes(at, now).filter(_.forall { case (topic, cutover) =>
      places.get(topic).exists(isKnown(cutover, _))
    })
    val found = known.flatMap(_.keys).map { topic =>
      topic -> KafkaPosition.of(places(topic).partitions.map { case (p, place) => p -> place.offset })
    }
    if (found.isEmpty) None
    else {
      val begun =
        SortedMap.from(found.collect { case (t, start) if at.begins.contains(t) => t -> started(at, t, start) })
      Some(at.copy(
        number = at.number + 1,
        leaving = at.leaving ++ found.flatMap { case (topic, ends) =>
          at.leaving.get(topic).map(l => topic -> l.copy(plan = LeavingPlan.Drain(generation(ends, topic, position))))
        },
        tombstones = at.tombstones -- begun.keySet,
        resumed = begun,
        begins = at.begins -- begun.keySet,
        mapped = at.mapped -- begun.keySet
      ))
    }
  }

  private def past(
      stream: String,
      cutover: StreamCutover.Offsets,
      topic: ClusterTopic,
      position: DynamicPosition
  ): Option[Refusal] = {
    val ends  = cutover.clusters.getOrElse(topic.cluster, SortedMap.empty[LogPartition, Long])
    val wrong = position.of(topic.cluster).of(topic.topic).toSeq.flatMap { case (p, read) =>
      ends.get(p) match {
        case None                    => Some(s"partition ${p.partition} is read, and no offset is said for it")
        case Some(end) if read > end =>
          Some(s"partition ${p.partition} was read up to $read already, and would end at $end")
        case _ => None
      }
    }
    if (wrong.isEmpty) None else Some(Refusal.Cutover(stream, s"of $topic ${wrong.mkString(", ")}"))
  }
}

private[dynamic] object CutoverRules {

  private def timed(at: AppliedMetadata, found: StreamMetadata): Seq[(StreamMove, StreamCutover.At)] =
    StreamMove.all(at, found).map(move => move -> move.cutover).collect { case (move, time: StreamCutover.At) =>
      move -> time
    }

  /** What goes over at a time that has come, stream by stream. */
  private def comes(at: AppliedMetadata, now: Instant): Seq[Map[ClusterTopic, StreamCutover.At]] = {
    val left = at.leaving.toSeq.collect { case (t, Leaving(stream, _, LeavingPlan.Until(cut), _)) =>
      stream -> (t -> cut)
    }
    val begins = at.begins.toSeq.flatMap { case (t, cut) => at.streamOf.get(t).map(_ -> (t -> cut)) }
    (left ++ begins).groupMap(_._1)(_._2).values.map(_.toMap)
      .filter(_.values.forall(cut => !now.isBefore(cut.time))).toSeq
  }

  private def isKnown(cutover: StreamCutover.At, places: LogPlaces): Boolean = {
    val isOver = !places.asked.isBefore(cutover.time.plus(cutover.lateness))
    places.partitions.nonEmpty && places.partitions.values.forall(_.first.nonEmpty || isOver)
  }

  private def generation(offsets: KafkaPosition, topic: ClusterTopic, position: DynamicPosition): KafkaPosition =
    offsets.as(topic.topic, position.of(topic.cluster).generation(topic.topic))

  /** Where a topic begins that the query may have read before. */
  private def started(at: AppliedMetadata, topic: ClusterTopic, start: KafkaPosition): KafkaPosition = start.as(
    topic.topic,
    at.tombstones.get(topic).flatMap(_.position).fold(0)(_.generation(topic.topic))
  )

  private def firstOf[A](all: Seq[A])(refusal: A => Option[Refusal]): Option[Refusal] =
    all.iterator.flatMap(refusal(_)).nextOption()
}

/** What cutovers make of topics when an answer is taken.
  *
  * @param leaving
  *   how far topics are read that streams leave
  * @param begins
  *   topics that are not read before a time
  * @param resumed
  *   where topics begin that streams move to
  */
final private[dynamic] case class CutoverPlan(
    leaving: SortedMap[ClusterTopic, LeavingPlan],
    begins: SortedMap[ClusterTopic, StreamCutover.At],
    resumed: SortedMap[ClusterTopic, KafkaPosition]
)

private[dynamic] object CutoverPlan {
  val Nothing: CutoverPlan = CutoverPlan(SortedMap.empty, SortedMap.empty, SortedMap.empty)
}
