// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import scala.collection.immutable.SortedMap
import scala.collection.mutable

import splice.kafka.options.{AdmissionPolicy, AdmissionRules}
import splice.source.{Limits, LogPartition}

/** Shares what one batch may read among partitions, so that each that has a backlog gets on in this batch or in one soon after. */
final private[splice] class Sharing(rules: AdmissionRules, sizes: RecordSizes) {

  /** How far each partition goes.
    *
    * @param ready
    *   from and until of everything that is available
    */
  def apply(limits: Limits, ready: SortedMap[LogPartition, (Long, Long)]): SortedMap[LogPartition, Long] =
    byLag(limits) match {
      case Some(rows) => RateLimit(rows, ready)
      case None       => within(Quota.of(limits), ready, Quota.of(limits))
    }

  /** The rows that [[RateLimit]] shares; None if other limits or rules apply, too. */
  def byLag(limits: Limits): Option[Long] = limits.rows.filter(_ => limits.bytes.isEmpty && isLagOnly)

  /** The same, where only the very first row may exceed the quota.
    *
    * @param batch
    *   the quota that floors are parts of
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
    val others         = served.foldLeft(all)((some, floor) => some.filterNot(floor.isMember))
    // In the order in which they stand in their floors, but who got a row there comes last.
    val floored = served.flatMap(_.parts).sortBy(_.rows > 0)
    val open    = (inTurn(others) ++ floored.map(_.rest)).filter(_.rows > 0)
    val more    = parts(left, open)
    val ends    = mutable.HashMap.from(floored.iterator.map(part => part.of.partition -> part.rest.from))
    open.indices.foreach(i => ends(open(i).partition) = open(i).from + more(i))
    ready.transform { case (p, (_, until)) => ends.getOrElse(p, until) }
  }

  /** The floors that a quota is enough for, and what they leave of it: a row at least, so that others get on as well. A topic is a
    * member of the first of them that names it.
    */
  private def floors(quota: Quota, all: IndexedSeq[Behind], batch: Quota): (IndexedSeq[ServedFloor], Quota) =
    rules.floors.foldLeft((IndexedSeq.empty[ServedFloor], quota)) { case ((served, left), floor) =>
      val own = Quota(math.min(batch.rows * floor.part, left.rows - 1), math.min(batch.bytes * floor.part, left.bytes))
      val members = all.filter(b => floor.topics(b.partition.topic) && !served.exists(_.isMember(b)))
      val some    = inTurn(members).filter(_.rows > 0)
      if (!some.headOption.exists(first => own.fits(first.rowBytes))) (served, left)
      else {
        val got = some.zip(parts(own, some)).map { case (b, rows) => FloorPart(b, rows) }
        (
          served :+ ServedFloor(floor.topics, got),
          got.foldLeft(left)((rest, p) => rest.less(p.rows.toDouble, p.of.rowBytes))
        )
      }
    }

  /** Rows of each that a quota allows. */
  private def parts(quota: Quota, behind: IndexedSeq[Behind]): Array[Long] =
    quota.share(behind.map { b =>
      val weight = rules.weight(b.partition.topic)
      Backlog(b.rows, b.rowBytes, if (rules.policy == AdmissionPolicy.Equal) weight else weight * b.rows)
    })

  private def isLagOnly: Boolean =
    rules.policy == AdmissionPolicy.Lag && rules.weights.isEmpty && rules.floors.isEmpty

  private def rowBytes(p: LogPartition): Double = sizes.estimate(p.topic)

  // Each row read moves whoever is first on by one: the position itself says whose turn it is, also after a restart.
  private def inTurn(some: IndexedSeq[Behind]): IndexedSeq[Behind] =
    if (some.isEmpty) some
    else {
      val turn = Math.floorMod(some.iterator.map(_.from).sum, some.size.toLong).toInt
      some.drop(turn) ++ some.take(turn)
    }
}

/** What of a partition is read before all shares. */
final private case class FloorPart(of: Behind, rows: Long) {
  def rest: Behind = of.copy(from = of.from + rows)
}

/** What the members of a floor get before all shares, as far as they have anything to read. */
final private case class ServedFloor(topics: Set[String], parts: IndexedSeq[FloorPart]) {
  def isMember(b: Behind): Boolean = topics(b.partition.topic)
}

/** What of one partition may be read. */
final private[enumerator] case class Behind(partition: LogPartition, from: Long, until: Long, rowBytes: Double) {
  def rows: Long = math.max(until - from, 0L)
}
