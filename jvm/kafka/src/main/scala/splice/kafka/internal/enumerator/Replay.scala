// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator

import splice.kafka.internal.bounds.Bounds
import splice.kafka.internal.cluster.{ClusterAccess, DescribedTopic}
import splice.kafka.internal.errors.{DataLoss, KafkaErrors, MissingRange, SkippedRows}
import splice.kafka.internal.identity.{Identities, Topics}
import splice.kafka.internal.options.{KafkaSettings, TopicRecreated, TopicRemoved}
import splice.kafka.internal.split.{KafkaPosition, KafkaSplitRange}
import splice.source.LogPartition

/** Stores the entries that the plan of a batch needs, if another run or Spark's Kafka source logged the batch. */
final private[splice] class Replay(
    settings: KafkaSettings,
    cluster: ClusterAccess,
    topics: Topics,
    bounds: Bounds,
    skipped: SkippedRows
) {

  private val log = cluster.client

  private def identities: Identities = topics.identities

  /** @param plan the plan with the entries that are durable at the time of the call */
  def apply(plan: => KafkaPlan, from: KafkaPosition, until: KafkaPosition): Unit = {
    // The cluster is compared first. Otherwise, a recreated topic would be read as the old topic.
    topics.once(identities.meant(until))
    val (at, to)  = (identities.meant(from), identities.meant(until))
    val unknown   = plan.unknown(from, until)
    val unwatched = unsubscribed(plan, at, to, unknown)

    def holds(p: LogPartition) = !unwatched(p.topic) && topics.holds(p, to.generation(p.topic))
    begin(unknown, to)(holds)
    drop(plan, from, until, to)(holds)
    leave(plan, at, to)
  }

  /** The topics of a batch that are no longer subscribed to and were deleted or recreated. Discovery does not include
    * these topics.
    *
    * @throws splice.source.errors.SpliceException
    *   when there are such topics, and the policy is to fail
    */
  private def unsubscribed(
      plan: KafkaPlan,
      at: KafkaPosition,
      to: KafkaPosition,
      unknown: Set[LogPartition]
  ): Set[String] = {
    val begun  = plan.splits(at, to.copy(offsets = to.offsets -- unknown))
    val ranges =
      (begun.map(r => MissingRange(r.partition, r.from, Some(r.until))) ++
        unknown.toSeq.sorted.map(p => MissingRange(p, 0L, to.get(p)))).filterNot(r =>
        settings.subscription.covers(r.partition)
      )
    val names = ranges.map(_.partition.topic).toSet
    if (names.isEmpty) Set.empty
    else {
      def request()                                   = log.topicStates(names)()
      def deleted(now: Map[String, DescribedTopic])   = names -- now.keySet
      def recreated(now: Map[String, DescribedTopic]) = now.collect {
        case (topic, DescribedTopic(Some(id), _)) if identities.owner(topic, to.generation(topic)).id.exists(_ != id) =>
          topic
      }.toSet
      val ids =
        cluster.recheck.confirm(request())(now => deleted(now).nonEmpty || recreated(now).nonEmpty)(() => request())
      if (recreated(ids).nonEmpty && settings.policies.recreated == TopicRecreated.Fail)
        throw KafkaErrors.recreated(recreated(ids))
      if (deleted(ids).nonEmpty && settings.policies.removed == TopicRemoved.Fail)
        DataLoss.Fail.report(Replay.What, ranges.filter(range => deleted(ids)(range.partition.topic)))
      deleted(ids) ++ recreated(ids)
    }
  }

  /** Stores the earliest offset as the start of each partition. Only Spark's Kafka source logs a batch before the start
    * is stored.
    */
  private def begin(unknown: Set[LogPartition], to: KafkaPosition)(holds: LogPartition => Boolean): Unit = {
    val _ = bounds.starts.starts(unknown, to) { requested =>
      // A request for a partition that does not exist has no response until its timeout.
      val (held, missing) = requested.partition(holds)
      lose(missing.toSeq.sorted.map(p => MissingRange(p, 0L, to.get(p))))
      missing.iterator.map(p => p -> to.offsets(p)).toMap ++ (if (held.isEmpty) Map.empty else log.earliest(held))
    }
  }

  /** Skips the ranges of topics that were deleted or recreated. */
  private def drop(plan: => KafkaPlan, from: KafkaPosition, until: KafkaPosition, to: KafkaPosition)(
      holds: LogPartition => Boolean
  ): Unit = {
    val lost = plan.splits(from, until).filterNot(r => holds(r.partition))
    if (lost.nonEmpty) {
      def position(of: KafkaSplitRange => Long) = KafkaPosition.of(lost.map(r => r.partition -> of(r))).like(to)
      bounds.skips.add(position(_.from), position(_.until))
      lose(lost.map(range => MissingRange(range.partition, range.from, Some(range.until))))
    }
  }

  /** Skips the unread ranges of topics that were deleted or recreated between the positions. The last position does not
    * have the ends of these ranges, so the plan has no range for them.
    */
  private def leave(plan: KafkaPlan, at: KafkaPosition, to: KafkaPosition): Unit = {
    val lost = for {
      (p, offset) <- at.offsets.toSeq
      generation = at.generation(p.topic)
      if !to.hasTopic(p.topic) || to.generation(p.topic) > generation
      end <- topics.leftAt(p, generation).toSeq
      from = plan.skips.start(p, generation, offset, end) if from < end
    } yield (p, from, end)
    if (lost.nonEmpty) {
      bounds.skips.add(
        KafkaPosition.of(lost.map { case (p, from, _) => p -> from }).like(at),
        KafkaPosition.of(lost.map { case (p, _, end) => p -> end }).like(at)
      )
      lose(lost.flatMap { case (p, from, end) =>
        bounds.fills.read(p, at.generation(p.topic), from, end).ranges
          .map { case (first, until) => MissingRange(p, first, Some(until)) }
      })
    }
  }

  private def lose(ranges: Seq[MissingRange]): Unit =
    if (ranges.nonEmpty) DataLoss(fail = false, skipped).report(Replay.What, ranges)
}

private object Replay {
  private val What = "a logged batch is read again, and the topic was deleted or recreated"
}
