// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.admission

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap

import splice.kafka.internal.admission.{Admission, BatchShares, LimitShares, Quota, RecordSizes}
import splice.source.LogPartition

/** Shares a batch among clusters with separate limits. The class has no state.
  *
  * @param cluster
  *   returns the cluster of a partition
  */
final private[splice] class ClusterQuotas(admission: Admission, sizes: RecordSizes, cluster: LogPartition => String) {

  /** Returns the end of each partition in the batch.
    *
    * @param quota
    *   quota of all clusters together
    * @param quotas
    *   quotas of the clusters that have a limit
    * @param ready
    *   start and end of the available offsets of each partition
    */
  def apply(
      quota: Quota,
      quotas: Map[String, Quota],
      ready: SortedMap[LogPartition, (Long, Long)]
  ): SortedMap[LogPartition, Long] = go(quota, quotas, ready, SortedMap.empty)

  /** Shares the batch. Clusters whose shares exceed their limits get their limits; the other clusters share the
    * remaining quota.
    */
  @tailrec private def go(
      quota: Quota,
      quotas: Map[String, Quota],
      ready: SortedMap[LogPartition, (Long, Long)],
      limited: SortedMap[LogPartition, Long]
  ): SortedMap[LogPartition, Long] = {
    val share = part(quota, ready)
    val over  = used(ready, share).flatMap { case (name, usage) =>
      quotas.get(name).filter(most => usage.rows > most.rows || usage.bytes > most.bytes && usage.rows > 1)
        // This cluster gets at most its share, so that enough remains for the other clusters.
        .map(most => name -> Quota(math.min(most.rows, usage.rows), math.min(most.bytes, usage.bytes)))
    }
    if (over.isEmpty) limited ++ share
    else {
      val (capped, others) = ready.partition { case (p, _) => over.contains(cluster(p)) }
      val ends             = capped.groupBy { case (p, _) => cluster(p) }.flatMap { case (name, partitions) =>
        part(over(name), partitions)
      }
      val left = used(capped, ends).valuesIterator.foldLeft(quota)((rest, usage) =>
        Quota(rest.rows - usage.rows, rest.bytes - usage.bytes)
      )
      go(left, quotas -- over.keySet, others, limited ++ ends)
    }
  }

  private def part(quota: Quota, ready: SortedMap[LogPartition, (Long, Long)]): SortedMap[LogPartition, Long] =
    if (quota.rows < 1) ready.map { case (p, (from, _)) => p -> from } else admission.within(quota, ready)

  private def used(
      ready: SortedMap[LogPartition, (Long, Long)],
      share: collection.Map[LogPartition, Long]
  ): Map[String, Quota] = ready.toSeq.groupMapReduce { case (p, _) => cluster(p) } { case (p, (from, _)) =>
    val rows = (share(p) - from).toDouble
    Quota(rows, rows * sizes.estimate(p.topic))
  }((a, b) => Quota(a.rows + b.rows, a.bytes + b.bytes))
}

/** The limits of a batch of all clusters, and of the clusters that have a limit. */
final private[dynamic] class ClusterShares(
    sizes: RecordSizes,
    quota: Quota,
    quotas: Map[String, Quota],
    cluster: LogPartition => String
)(
    share: SortedMap[LogPartition, (Long, Long)] => SortedMap[LogPartition, Long],
    rows: (LogPartition, Long, Long) => Long
) extends BatchShares {

  override def apply(ranges: SortedMap[LogPartition, (Long, Long)]): SortedMap[LogPartition, Long] = share(ranges)

  override def measure(
      partitions: IndexedSeq[LogPartition],
      others: SortedMap[LogPartition, (Long, Long)]
  ): Array[Long] => Double = {
    def of(quota: Quota) = new LimitShares(sizes, quota)(share, rows)
    val all              = of(quota).measure(partitions, others)
    val single           = quotas.toSeq.map { case (name, most) =>
      val own = partitions.indices.filter(i => cluster(partitions(i)) == name)
      own.toArray -> of(most).measure(own.map(partitions), others.filter { case (p, _) => cluster(p) == name })
    }
    (counts: Array[Long]) =>
      single.foldLeft(all(counts)) { case (need, (own, part)) => math.max(need, part(own.map(counts))) }
  }
}
