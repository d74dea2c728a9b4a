// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import java.time.Clock

import scala.collection.immutable.SortedMap
import scala.collection.mutable

import splice.kafka.options.{AdmissionPolicy, AdmissionRules}
import splice.source.{LogPartition, ReadLimits}

/** Shares what one batch may read among partitions, so that each that has a backlog gets on in this batch or in one soon after. */
final private[splice] class Sharing(rules: AdmissionRules, log: LogMetadata, sizes: RecordSizes, clock: Clock) {

  private val oldest = new OldestFirst(log, clock)

  /** How far each partition goes.
    *
    * @param ready
    *   from and until of everything that is available
    */
  def apply(limits: ReadLimits, ready: SortedMap[LogPartition, (Long, Long)]): SortedMap[LogPartition, Long] =
    (limits.maxRows, limits.maxBytes) match {
      case (None, None) => ready.map { case (p, (_, until)) => p -> until }
      case (Some(rows), None) if rules.policy == AdmissionPolicy.Lag && rules.weights.isEmpty => RateLimit(rows, ready)
      case (rows, bytes)                                                                      =>
        share(Quota(rows.fold(Double.MaxValue)(_.toDouble), bytes.fold(Double.MaxValue)(_.toDouble)), ready)
    }

  private def share(quota: Quota, ready: SortedMap[LogPartition, (Long, Long)]): SortedMap[LogPartition, Long] = {
    val behind =
      inTurn(ready).collect { case (p, (from, until)) if until > from => Behind(p, from, until, rowBytes(p)) }
    val backlog = behind.map { b =>
      val weight = rules.weight(b.partition.topic)
      Backlog(b.rows, b.rowBytes, if (rules.policy == AdmissionPolicy.Equal) weight else weight * b.rows)
    }
    val parts =
      if (rules.policy == AdmissionPolicy.OldestFirst) oldest.share(quota, behind) else quota.share(backlog)
    val ends =
      mutable.HashMap.from(behind.indices.iterator.map(i => behind(i).partition -> (behind(i).from + parts(i))))
    ready.map { case (p, (_, until)) => p -> ends.getOrElse(p, until) }
  }

  private def rowBytes(p: LogPartition): Double = sizes.estimate(p.topic)

  // Each row read moves whoever is first on by one: the position itself says whose turn it is, also after a restart.
  private def inTurn(ready: SortedMap[LogPartition, (Long, Long)]): IndexedSeq[(LogPartition, (Long, Long))] =
    if (ready.isEmpty) IndexedSeq.empty
    else {
      val all  = ready.toIndexedSeq
      val turn = Math.floorMod(all.iterator.map(_._2._1).sum, all.size.toLong).toInt
      all.drop(turn) ++ all.take(turn)
    }
}

/** A partition with something to read. */
final private[enumerator] case class Behind(partition: LogPartition, from: Long, until: Long, rowBytes: Double) {
  def rows: Long = until - from
}
