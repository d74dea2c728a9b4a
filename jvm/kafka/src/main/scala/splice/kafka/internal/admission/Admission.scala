// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.admission

import scala.collection.immutable.SortedMap

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

/** The available range of one partition. */
final private case class Behind(partition: LogPartition, from: Long, until: Long, rowBytes: Double) {
  def rows: Long = math.max(until - from, 0L)
}

/** The policy that shares a batch among partitions if the backlog exceeds the limits of the batch. */
sealed abstract private[splice] class AdmissionPolicy(val word: String) extends Product with Serializable

private[splice] object AdmissionPolicy {

  /** Shares in proportion to the backlogs of partitions, as in Spark's Kafka source. */
  case object Lag extends AdmissionPolicy("lag")

  /** The same number of rows for every partition. Partitions with a larger backlog get the rows that other partitions
    * do not need.
    */
  case object Equal extends AdmissionPolicy("equal")

  val all: Seq[AdmissionPolicy] = Seq(Lag, Equal)
}
