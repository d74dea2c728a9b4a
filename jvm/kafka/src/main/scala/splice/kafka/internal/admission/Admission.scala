// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.admission

import scala.collection.immutable.SortedMap
import scala.collection.mutable

import splice.source.{Limits, LogPartition}

/** Shares a batch among partitions, so that each partition with a backlog gets rows in this batch or in one of the next
  * batches.
  */
final private[splice] class Admission(rules: AdmissionRules, sizes: RecordSizes) {

  /** The end of each partition in the batch.
    *
    * @param ready
    *   the start and the end of each available range
    */
  def apply(limits: Limits, ready: SortedMap[LogPartition, (Long, Long)]): SortedMap[LogPartition, Long] =
    byLag(limits) match {
      case Some(rows) => ProportionalShares(rows, ready)
      case None       => within(Quota.of(limits), ready, Quota.of(limits))
    }

  /** The rows that [[ProportionalShares]] shares; None if other limits or rules apply. */
  def byLag(limits: Limits): Option[Long] = limits.rows.filter(_ => limits.bytes.isEmpty && isLagOnly)

  /** The end of each partition within a quota. Only the first row may exceed the quota.
    *
    * @param batch
    *   the quota of the whole batch, to which the parts of floors refer
    */
  def within(
      quota: Quota,
      ready: SortedMap[LogPartition, (Long, Long)],
      batch: Quota
  ): SortedMap[LogPartition, Long] =
    if (quota == Quota.Unlimited) ready.transform((_, range) => range._2) else share(quota, ready, batch)

  private def share(
      quota: Quota,
      ready: SortedMap[LogPartition, (Long, Long)],
      batch: Quota
  ): SortedMap[LogPartition, Long] = {
    val all = ready.iterator.map { case (p, (from, until)) => Behind(p, from, until, rowBytes(p)) }.toIndexedSeq
    val (served, left) = floors(quota, all, batch)
    val others         = served.foldLeft(all)((partitions, floor) => partitions.filterNot(floor.isMember))
    // Partitions are in the order of their floors. A partition with a row from a floor comes last.
    val floored = served.flatMap(_.parts).sortBy(_.rows > 0)
    val open    = (inTurn(others) ++ floored.map(_.rest)).filter(_.rows > 0)
    val more    = parts(left, open)
    val ends    = mutable.HashMap.from(floored.iterator.map(part => part.of.partition -> part.rest.from))
    open.indices.foreach(i => ends(open(i).partition) = open(i).from + more(i))
    ready.transform { case (p, (_, until)) => ends.getOrElse(p, until) }
  }

  /** The floors that fit into a quota, and the remaining quota. At least one row remains for other partitions. A topic
    * belongs to the first of these floors that names it.
    */
  private def floors(quota: Quota, all: IndexedSeq[Behind], batch: Quota): (IndexedSeq[ServedFloor], Quota) =
    rules.floors.foldLeft((IndexedSeq.empty[ServedFloor], quota)) { case ((served, left), floor) =>
      val limit =
        Quota(math.min(batch.rows * floor.part, left.rows - 1), math.min(batch.bytes * floor.part, left.bytes))
      val members = all.filter(b => floor.topics(b.partition.topic) && !served.exists(_.isMember(b)))
      val behind  = inTurn(members).filter(_.rows > 0)
      if (!behind.headOption.exists(first => limit.fits(first.rowBytes))) (served, left)
      else {
        val got = behind.zip(parts(limit, behind)).map { case (b, rows) => FloorPart(b, rows) }
        (
          served :+ ServedFloor(floor.topics, got),
          got.foldLeft(left)((rest, p) => rest.less(p.rows.toDouble, p.of.rowBytes))
        )
      }
    }

  /** The rows of each partition within a quota. */
  private def parts(quota: Quota, behind: IndexedSeq[Behind]): Array[Long] =
    quota.share(behind.map { b =>
      val weight = rules.weight(b.partition.topic)
      Backlog(b.rows, b.rowBytes, if (rules.policy == AdmissionPolicy.Equal) weight else weight * b.rows)
    })

  private def isLagOnly: Boolean =
    rules.policy == AdmissionPolicy.Lag && rules.weights.isEmpty && rules.floors.isEmpty

  private def rowBytes(p: LogPartition): Double = sizes.estimate(p.topic)

  // The sum of the offsets determines the first partition. Each row that is read moves the turn by one partition,
  // including across restarts.
  private def inTurn(partitions: IndexedSeq[Behind]): IndexedSeq[Behind] =
    if (partitions.isEmpty) partitions
    else {
      val turn = Math.floorMod(partitions.iterator.map(_.from).sum, partitions.size.toLong).toInt
      partitions.drop(turn) ++ partitions.take(turn)
    }
}

/** The rows of a partition that are read before all shares. */
final private case class FloorPart(of: Behind, rows: Long) {
  def rest: Behind = of.copy(from = of.from + rows)
}

/** The rows that the members of a floor get before all shares, limited by their backlogs. */
final private case class ServedFloor(topics: Set[String], parts: IndexedSeq[FloorPart]) {
  def isMember(b: Behind): Boolean = topics(b.partition.topic)
}

/** The available range of one partition. */
final private case class Behind(partition: LogPartition, from: Long, until: Long, rowBytes: Double) {
  def rows: Long = math.max(until - from, 0L)
}
