// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.change

import java.time.Instant

import scala.collection.immutable.SortedMap

import splice.kafka.dynamic.StreamMetadata
import splice.kafka.dynamic.split.{ClusterTopic, DynamicPosition}
import splice.kafka.split.KafkaPosition

/** What an answer of the metadata service, or what was read meanwhile, comes to. Pure: what it answers is written down and asked once. */
final private[dynamic] class ChangeRules(rules: RemovalRules) {

  /** The rules for cutovers that the metadata says. */
  val cutovers = new CutoverRules(rules)

  /** Whether the query ends when topics are removed. */
  def failsOnRemoval: Boolean = rules.onRemoved == OnRemoved.Fail

  /** Why an answer is not applied, if it is not. */
  def refusal(at: AppliedMetadata, found: StreamMetadata): Option[Refusal] = {
    val now     = AppliedMetadata.streamOf(found.streams.values)
    val removed = (at.streamOf.keySet -- now.keySet).size
    val older   = for (was <- at.generation; is <- found.generation if is < was) yield Refusal.Older(was, is)
    val twice   = for {
      topics <- found.streams.values.toSeq.flatMap(s => AppliedMetadata.streamOf(Seq(s)).keys).groupBy(identity).values
      topic  <- topics.headOption if topics.size > 1
    } yield Refusal.Twice(
      topic,
      found.streams.values.filter(_.topics.get(topic.cluster).exists(_(topic.topic))).map(_.name).toSeq
    )
    val most = (at.streamOf.size * rules.maxFraction).toInt
    val many = if (removed > 0 && (now.isEmpty || removed > math.max(most, 1)))
      Some(Refusal.TooMany(removed, at.streamOf.size, most))
    else None
    older.orElse(twice.headOption).orElse(many)
  }

  /** Topics that an answer takes back so late that their position was forgotten. */
  def forgotten(at: AppliedMetadata, found: StreamMetadata, position: DynamicPosition): Set[ClusterTopic] = {
    val cut = cutovers.plan(at, found, position)
    returned(at, found, cut).collect { case (topic, Tombstone(_, _, None)) => topic }.toSet
  }

  /** What holds after an answer.
    *
    * @param begin
    *   where a topic begins that came back so late that its position was forgotten
    */
  def take(at: AppliedMetadata, found: StreamMetadata, position: DynamicPosition, now: Instant)(
      begin: ClusterTopic => KafkaPosition
  ): AppliedMetadata = {
    val there   = AppliedMetadata.streamOf(found.streams.values)
    val removed = at.streamOf -- there.keySet
    val cut     = cutovers.plan(at, found, position)
    val plans   = removed.flatMap { case (topic, _) => plan(at, topic).map(topic -> _) } ++ cut.leaving
    val leaving = (at.leaving -- there.keySet) ++ plans.flatMap { case (topic, plan) =>
      val known = at.leaving.get(topic).map(_.copy(plan = plan))
      known.orElse(removed.get(topic).map(Leaving(_, now, plan))).map(topic -> _)
    }
    val begins = at.begins.filter(b => there.contains(b._1)) -- cut.resumed.keySet ++ cut.begins
    val ends   = (removed -- plans.keySet).map { case (topic, stream) =>
      // What waited for its time in vain is where it was left before.
      topic -> at.tombstones.getOrElse(
        topic,
        Tombstone(stream, now, Some(position.of(topic.cluster).only(topic.topic)))
      )
    }
    val tombstones = (at.tombstones -- (there.keySet -- begins.keySet)) ++ ends
    val resumed    = returned(at, found, cut).map { case (topic, left) =>
      topic -> left.position.getOrElse(begin(topic))
    } ++ cut.resumed
    val added   = there.filterNot { case (topic, _) => at.streamOf.contains(topic) }
    val waiting = added.flatMap { case (topic, stream) =>
      val drained = leaving.collect { case (old, Leaving(`stream`, _, _, _)) => old }.toSet
      if (drained.isEmpty) None else Some(topic -> drained)
    }
    val held   = at.waiting.filter { case (topic, _) => there.contains(topic) || leaving.contains(topic) }
    val needed = leaving.keySet.map(_.cluster) ++ tombstones.keySet.map(_.cluster)
    val known  = there.keySet ++ leaving.keySet ++ tombstones.keySet
    AppliedMetadata(
      at.number + 1,
      found.generation.orElse(at.generation),
      at.clusters.filter { case (name, _) => needed(name) } ++ found.clusters,
      found.streams,
      leaving,
      tombstones,
      stillWaiting(held ++ waiting, leaving.keySet),
      resumed,
      begins,
      stillMapped(at, position).filter(m => known(m._1)) ++ cut.resumed
    )
  }

  // What goes over at a time is not read before, wherever it was.
  private def returned(
      at: AppliedMetadata,
      found: StreamMetadata,
      cut: CutoverPlan
  ): SortedMap[ClusterTopic, Tombstone] = {
    val there = AppliedMetadata.streamOf(found.streams.values)
    at.tombstones.filter { case (topic, _) =>
      there.contains(topic) && !cut.begins.contains(topic) && !at.begins.contains(topic)
    } -- cut.resumed.keySet
  }

  /** The next state after topics were drained or abandoned, or retention of positions ended; None without such an event.
    *
    * @param availability
    *   of a cluster
    */
  def settle(
      at: AppliedMetadata,
      position: DynamicPosition,
      now: Instant,
      availability: String => Availability
  ): Option[AppliedMetadata] = {
    val still = at.leaving.map { case (topic, leaving) => topic -> noted(leaving, availability(topic.cluster)) }
    val over  = still.filter { case (topic, leaving) =>
      isDrained(leaving.plan, position.of(topic.cluster)) || isAbandoned(leaving, availability(topic.cluster))
    }
    val ended = over.map { case (topic, leaving) =>
      topic -> Tombstone(leaving.stream, now, Some(position.of(topic.cluster).only(topic.topic)))
    }
    val old = at.tombstones.filter { case (_, t) =>
      t.position.nonEmpty && !now.isBefore(t.since.plus(rules.retention))
    }
    val forgotten = old.map { case (topic, left) => topic -> left.copy(position = None) }
    if (ended.isEmpty && forgotten.isEmpty && still == at.leaving) None
    else
      Some(at.copy(
        number = at.number + 1,
        leaving = still -- ended.keySet,
        tombstones = at.tombstones ++ ended ++ forgotten,
        waiting = stillWaiting(at.waiting, at.leaving.keySet -- ended.keySet),
        resumed = SortedMap.empty,
        mapped = stillMapped(at, position) -- forgotten.keySet
      ))
  }

  /** The same with the ends of topics that leave, where clusters have said them. */
  def drain(at: AppliedMetadata, ends: SortedMap[ClusterTopic, KafkaPosition]): AppliedMetadata = at.copy(
    number = at.number + 1,
    leaving = at.leaving ++ ends.flatMap { case (topic, end) =>
      at.leaving.get(topic).map(leaving => topic -> leaving.copy(plan = LeavingPlan.Drain(end)))
    },
    resumed = SortedMap.empty
  )

  private def stillWaiting(
      all: SortedMap[ClusterTopic, Set[ClusterTopic]],
      leaving: collection.Set[ClusterTopic]
  ): SortedMap[ClusterTopic, Set[ClusterTopic]] =
    all.map { case (topic, some) => topic -> some.filter(leaving) }.filter(_._2.nonEmpty)

  private def stillMapped(at: AppliedMetadata, position: DynamicPosition): SortedMap[ClusterTopic, KafkaPosition] =
    at.mapped.filterNot { case (topic, start) =>
      val own = position.of(topic.cluster)
      start.offsets.forall { case (p, offset) => own.get(p).exists(_ > offset) }
    }

  // A topic without a position may still have records, for example if its cluster was unavailable since it was added.
  private def plan(at: AppliedMetadata, topic: ClusterTopic): Option[LeavingPlan] = rules.onRemoved match {
    case _ if at.begins.contains(topic) => None
    case OnRemoved.Keep                 => Some(LeavingPlan.Keep)
    case OnRemoved.Drain                => Some(LeavingPlan.Ask)
    case _                              => None
  }

  private def isDrained(plan: LeavingPlan, at: KafkaPosition): Boolean = plan match {
    case LeavingPlan.Drain(ends) => ends.offsets.forall { case (p, end) => at.get(p).exists(_ >= end) }
    case _                       => false
  }

  // An outage is persisted, because a query that restarts more often than 'drainTimeout' would never abandon a topic.
  private def noted(leaving: Leaving, of: Availability): Leaving = of match {
    case _ if leaving.plan == LeavingPlan.Keep                    => leaving
    case Availability.Available                                   => leaving.copy(unavailable = None)
    case outage: Availability.Unavailable if outage.isConfirmed() =>
      val earlier = leaving.unavailable.filterNot(_ => outage.responded)
      leaving.copy(unavailable = earlier.orElse(Some(outage.since)))
    case _ => leaving
  }

  private def isAbandoned(leaving: Leaving, of: Availability): Boolean = of match {
    case outage: Availability.Unavailable =>
      leaving.unavailable.exists { since =>
        val from = if (since.isAfter(leaving.since)) since else leaving.since
        outage.isConfirmed(from.plus(rules.drainTimeout))
      }
    case _ => false
  }
}

/** Why an answer of the metadata service is not applied. */
sealed private[dynamic] trait Refusal extends Product with Serializable

private[dynamic] object Refusal {
  final case class Older(applied: Long, found: Long)                extends Refusal
  final case class TooMany(removed: Int, all: Int, most: Int)       extends Refusal
  final case class Twice(topic: ClusterTopic, streams: Seq[String]) extends Refusal
  final case class Cutover(stream: String, why: String)             extends Refusal
}
