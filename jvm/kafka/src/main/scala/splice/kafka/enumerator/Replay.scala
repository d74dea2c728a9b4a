// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import splice.kafka.split.{KafkaPosition, KafkaSplitRange}
import splice.kafka.{DataLoss, MissingRange}
import splice.source.LogPartition

/** Makes durable what the plan of a batch depends on that another run or Spark's own source logged. */
final private[splice] class Replay(
    log: LogMetadata,
    membership: Membership,
    identity: IdentityLog,
    starts: StartLog,
    skips: SkipLog
) {

  /** @param plan the plan by the entries that are durable when it is called */
  def apply(plan: => KafkaPlan, from: KafkaPosition, until: KafkaPosition): Unit = {
    // The cluster is compared first, so that a recreated topic is not read as if it were the old one.
    membership.once(identity.known.meant(until))
    val to = identity.known.meant(until)
    begin(plan.unknown(from, until), to)
    drop(plan, from, until, to)
  }

  /** Stores the earliest record as the start of each partition: only Spark's own source logs a batch before the start is stored. */
  private def begin(unknown: Set[LogPartition], to: KafkaPosition): Unit = {
    val _ = starts.starts(unknown, to) { asked =>
      // A request for a partition that does not exist has no response until its timeout.
      val (held, gone) = asked.partition(p => membership.holds(p, to.generation(p.topic)))
      lose(gone.toSeq.sorted.map(p => MissingRange(p, 0L, to.get(p))))
      gone.iterator.map(p => p -> to.offsets(p)).toMap ++ (if (held.isEmpty) Map.empty else log.earliest(held))
    }
  }

  /** Skips the ranges of topics that were deleted or recreated. */
  private def drop(plan: KafkaPlan, from: KafkaPosition, until: KafkaPosition, to: KafkaPosition): Unit = {
    val lost = plan.splits(from, until).filterNot(r => membership.holds(r.partition, to.generation(r.partition.topic)))
    if (lost.nonEmpty) {
      def position(of: KafkaSplitRange => Long) = KafkaPosition.of(lost.map(r => r.partition -> of(r))).like(to)
      skips.add(position(_.from), position(_.until))
      lose(lost.map(range => MissingRange(range.partition, range.from, Some(range.until))))
    }
  }

  private def lose(ranges: Seq[MissingRange]): Unit = if (ranges.nonEmpty)
    DataLoss.Warn.report("a logged batch is read again, and the topic was deleted or recreated", ranges)
}
