// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator

import scala.annotation.tailrec

import splice.kafka.internal.bounds.{EndingEntries, RetentionGaps, StartEntries}
import splice.kafka.internal.cluster.UnavailablePartitions
import splice.kafka.internal.identity.{Membership, Settled}
import splice.kafka.internal.options.{EndingOffsets, NewPartitions}
import splice.kafka.internal.split.{KafkaPosition, KafkaSplitRange}
import splice.source.{LogPartition, SplitRange}

/** Batches that read a cluster without an end ([[splice.source.runtime.OpenEnded]]).
  *
  * @param ending
  *   the end of a bounded source, which also ends the ranges
  * @param isOutdated
  *   true if discovery returns another position or other partitions than before, or fails if brokers reject the request
  *   for a partition
  */
final private[splice] class OpenReads(
    membership: Membership,
    startLog: StartEntries,
    endingLog: EndingEntries,
    silence: UnavailablePartitions,
    skips: RetentionGaps,
    newPartitions: NewPartitions,
    ending: Option[EndingOffsets],
    isOutdated: (KafkaPosition, Settled) => Boolean
)(plan: => KafkaPlan) {

  // Other threads read this field.
  @volatile private var lacks = false

  /** True if a partition had no start when the last batch began, because brokers did not respond. The next [[settle]]
    * requests the start again. Any thread may call this method.
    */
  def lacksStarts: Boolean = lacks

  /** Sets the start of a batch. While brokers do not respond, a batch begins without the result of [[settle]].
    *
    * @throws splice.source.errors.SpliceException
    *   when a partition has not responded for the patience
    */
  def begin(at: KafkaPosition): KafkaPosition = {
    silence.check()
    def isRead(p: LogPartition) = ending.isEmpty || endingLog.end.forall(_.get(p).nonEmpty)
    // Without a response in this run, the partitions are unknown.
    lacks = membership.known.forall(_.exists(p => at.get(p).isEmpty && isRead(p)))
    at
  }

  /** The position with the starts of new partitions, after the records that retention has removed.
    *
    * @throws splice.source.errors.SpliceException
    *   when brokers reject the request for a partition
    */
  @tailrec def settle(at: KafkaPosition): KafkaPosition = {
    val before                      = membership.settle(at)
    val Settled(position, existing) = before
    val ends                        = ending.map(endingLog.resolve(_, position, existing).end)
    val within                      = existing.toSet[LogPartition].filter(p => ends.forall(_.get(p).nonEmpty))
    val starts                      =
      startLog.starts(within -- position.offsets.keySet, position)(silence.starts(newPartitions, _))
    val begun = skips.known(position ++ starts)
    // Each log may have records after any position.
    val next =
      skips.pass(begun, begun.offsets.transform((_, _) => Long.MaxValue), begun.offsets.keySet.filter(membership.reads))
    if (silence.isDoubtful && isOutdated(at, before)) settle(at) else next
  }

  def open(settled: KafkaPosition): Seq[KafkaSplitRange] = plan.open(settled)(membership.reads, until)

  def reached(settled: KafkaPosition, unread: Seq[SplitRange]): KafkaPosition =
    OpenReads.reached(settled, open(settled), unread.collect { case range: KafkaSplitRange => range })

  // A bounded source does not read a partition that its end does not contain.
  private def until(p: LogPartition): Long =
    if (ending.isEmpty) Long.MaxValue else endingLog.end.flatMap(_.get(p)).getOrElse(0L)
}

private[splice] object OpenReads {

  /** The position after a batch.
    *
    * @param planned
    *   all ranges of the batch. A partition may have two ranges, which are read one after the other
    * @param unread
    *   the unread parts of these ranges. If an open range is missing, it was not read
    */
  def reached(settled: KafkaPosition, planned: Seq[KafkaSplitRange], unread: Seq[KafkaSplitRange]): KafkaPosition = {
    val left = unread.groupMapReduce(_.partition)(_.from)(math.min)
    settled ++ planned.filterNot(range => range.isOpen && !left.contains(range.partition)).map { range =>
      range.partition -> left.getOrElse(range.partition, range.until)
    }
  }
}
