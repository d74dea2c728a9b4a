// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator

import splice.kafka.internal.bounds.Bounds
import splice.kafka.internal.identity.{Settled, Topics}
import splice.kafka.internal.split.{KafkaPosition, KafkaSplitRange}
import splice.source.{LogPartition, SplitRange}

/** Batches that read a cluster without an end ([[splice.source.runtime.OpenEnded]]).
  *
  * @param isBounded
  *   true if the source has an end, which also ends the ranges
  */
final private[splice] class OpenReads(topics: Topics, bounds: Bounds, isBounded: Boolean)(plan: => KafkaPlan) {

  // Other threads read this field.
  @volatile private var lacks = false

  /** True if a partition had no start when the last batch began, because brokers did not respond. The next [[settle]]
    * requests the start again. Any thread may call this method.
    */
  def lacksStarts: Boolean = lacks

  /** Sets the start of a batch. While brokers do not respond, a batch begins without the result of [[settle]]. */
  def begin(at: KafkaPosition): KafkaPosition = {
    def isRead(p: LogPartition) = !isBounded || bounds.end.forall(_.get(p).nonEmpty)
    // Without a response in this run, the partitions are unknown.
    lacks = topics.partitions.forall(_.exists(p => at.get(p).isEmpty && isRead(p)))
    at
  }

  /** The position with the starts of new partitions, after the records that retention has removed. */
  def settle(at: Settled): KafkaPosition = bounds.pass(bounds.begin(at))

  def open(settled: KafkaPosition): Seq[KafkaSplitRange] = plan.open(settled)(topics.reads, until)

  def reached(settled: KafkaPosition, unread: Seq[SplitRange]): KafkaPosition =
    OpenReads.reached(settled, open(settled), unread.collect { case range: KafkaSplitRange => range })

  // A bounded source does not read a partition that its end does not contain.
  private def until(p: LogPartition): Long =
    if (isBounded) bounds.end.flatMap(_.get(p)).getOrElse(0L) else Long.MaxValue
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
