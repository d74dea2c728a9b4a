// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.admission

import scala.collection.immutable.SortedMap

import splice.kafka.internal.options.AdmissionPolicy
import splice.source.{Limits, LogPartition}

/** Shares a batch among partitions, so that each partition with a backlog gets rows in this batch or in one of the next
  * batches.
  */
final private[splice] class Admission(policy: AdmissionPolicy, sizes: RecordSizes) {

  /** The end of each partition in the batch.
    *
    * @param ready
    *   the start and the end of each available range
    */
  def apply(limits: Limits, ready: SortedMap[LogPartition, (Long, Long)]): SortedMap[LogPartition, Long] =
    byLag(limits).fold(within(Quota.of(limits), ready))(ProportionalShares(_, ready))

  /** The rows that [[ProportionalShares]] shares; None if other limits or another policy apply. */
  def byLag(limits: Limits): Option[Long] =
    limits.rows.filter(_ => limits.bytes.isEmpty && policy == AdmissionPolicy.Lag)

  /** The end of each partition within a quota. Only the first row may exceed the quota. */
  def within(quota: Quota, ready: SortedMap[LogPartition, (Long, Long)]): SortedMap[LogPartition, Long] =
    if (quota == Quota.Unlimited) ready.transform((_, range) => range._2)
    else {
      val all   = ready.iterator.map { case (p, (from, until)) => Behind(p, from, until, sizes.estimate(p.topic)) }
      val open  = inTurn(all.toIndexedSeq).filter(_.rows > 0)
      val parts = quota.share(open.map { b =>
        Backlog(b.rows, b.rowBytes, if (policy == AdmissionPolicy.Equal) 1.0 else b.rows.toDouble)
      })
      val ends = open.indices.map(i => open(i).partition -> (open(i).from + parts(i))).toMap
      ready.transform { case (p, (_, until)) => ends.getOrElse(p, until) }
    }

  // The sum of the offsets determines the first partition. Each row that is read moves the turn by one partition,
  // including across restarts.
  private def inTurn(partitions: IndexedSeq[Behind]): IndexedSeq[Behind] =
    if (partitions.isEmpty) partitions
    else {
      val turn = Math.floorMod(partitions.iterator.map(_.from).sum, partitions.size.toLong).toInt
      partitions.drop(turn) ++ partitions.take(turn)
    }
}

/** The limits of a batch of one cluster.
  *
  * @param rows
  *   the number of offsets to read in a range, which may have holes of a history
  */
final private[splice] class LimitShares(sizes: RecordSizes, quota: Quota)(
    share: SortedMap[LogPartition, (Long, Long)] => SortedMap[LogPartition, Long],
    rows: (LogPartition, Long, Long) => Long = (_, from, until) => until - from
) extends BatchShares {

  override def apply(ranges: SortedMap[LogPartition, (Long, Long)]): SortedMap[LogPartition, Long] = share(ranges)

  override def measure(
      partitions: IndexedSeq[LogPartition],
      others: SortedMap[LogPartition, (Long, Long)]
  ): Array[Long] => Double = {
    val counts  = others.transform { case (p, (from, until)) => rows(p, from, until).toDouble }
    val fixed   = counts.valuesIterator.sum
    val bytes   = counts.iterator.map { case (p, count) => count * sizes.estimate(p.topic) }.sum
    val ofTopic = partitions.iterator.map(_.topic).toSet.map((t: String) => t -> sizes.estimate(t)).toMap
    val each    = partitions.iterator.map(p => ofTopic(p.topic)).toArray
    (rows: Array[Long]) => {
      var (allRows, allBytes) = (fixed, bytes)
      var i                   = 0
      while (i < rows.length) {
        allRows += rows(i)
        allBytes += rows(i) * each(i)
        i += 1
      }
      quota.part(allRows, allBytes)
    }
  }
}

/** The available range of one partition. */
final private case class Behind(partition: LogPartition, from: Long, until: Long, rowBytes: Double) {
  def rows: Long = math.max(until - from, 0L)
}
