// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.admission

import scala.collection.immutable.SortedMap
import scala.collection.mutable

import splice.kafka.dynamic.internal.cluster.ClusterResponse
import splice.kafka.dynamic.internal.split.DynamicSplitRange
import splice.kafka.internal.admission.{
  Admission,
  EventTimeAdmission,
  ProportionalShares,
  Quota,
  RecordSizes,
  RecordTimes
}
import splice.kafka.internal.bounds.{Fills, PartitionFill}
import splice.kafka.internal.options.AdmissionPolicy
import splice.kafka.internal.split.KafkaPosition
import splice.source.{Limits, LogPartition}

/** Shares a batch among the partitions of all clusters, by the policy of a source of one cluster. */
final private[dynamic] class ClusterAdmission(policy: AdmissionPolicy, sizes: RecordSizes) {

  import ClusterAdmission.qualified

  private val admission = new Admission(policy, sizes)

  // Names of partitions with their clusters. Each batch needs the names several times.
  private val names = mutable.HashMap.empty[String, mutable.HashMap[LogPartition, LogPartition]]

  private def named(cluster: String): LogPartition => LogPartition = {
    val cached = names.getOrElseUpdate(cluster, mutable.HashMap.empty)
    p => cached.getOrElseUpdate(p, qualified(cluster, p))
  }

  /** Returns the end of each cluster in the batch; None if there are fewer rows than the minimum of a batch.
    *
    * @param ofCluster
    *   returns the limits of one cluster, which apply in addition to the limits for all clusters
    */
  def apply(
      limits: Limits,
      ofCluster: String => Limits,
      reach: SortedMap[String, ClusterResponse]
  ): Option[SortedMap[String, KafkaPosition]] = {
    val quotas = quotasOf(limits, ofCluster, reach)
    if (limits.minRows.exists(reach.valuesIterator.map(_.rows).sum < _)) None
    else if (quotas.isEmpty && Quota.of(limits) == Quota.Unlimited) Some(reach.map { case (name, response) =>
      name -> response.until
    })
    else Some(shared(limits, quotas, reach))
  }

  private def quotasOf(
      limits: Limits,
      ofCluster: String => Limits,
      reach: SortedMap[String, ClusterResponse]
  ): Map[String, Quota] =
    if (limits == Limits.Everything) Map.empty
    else reach.keysIterator.map(name => name -> Quota.of(ofCluster(name))).filter(_._2 != Quota.Unlimited).toMap

  private def shared(
      limits: Limits,
      quotas: Map[String, Quota],
      reach: SortedMap[String, ClusterResponse]
  ): SortedMap[String, KafkaPosition] =
    admission.byLag(limits).filter(_ => quotas.isEmpty && reach.valuesIterator.forall(_.fills.isEmpty)) match {
      case Some(rows) => lagged(rows, reach)
      case None       => ruled(limits, quotas, reach)
    }

  /** Returns the same result as [[ruled]]. With thousands of partitions, a sorted map of all partitions would need most
    * of the time.
    */
  private def lagged(rows: Long, reach: SortedMap[String, ClusterResponse]): SortedMap[String, KafkaPosition] = {
    val total = ProportionalShares.total(reach.valuesIterator.flatMap { response =>
      response.begins.iterator.flatMap { case (p, begin) => response.until.get(p).map(begin -> _) }
    })
    reach.transform { (_, response) =>
      response.until.copy(offsets = response.until.offsets.transform { (p, until) =>
        response.begins.get(p).fold(until)(ProportionalShares.part(rows, total, _, until))
      })
    }
  }

  private def ruled(
      limits: Limits,
      quotas: Map[String, Quota],
      reach: SortedMap[String, ClusterResponse]
  ): SortedMap[String, KafkaPosition] = {
    val ranges = new QualifiedRanges(reach)
    ranges.positions(ranges.share(limits, quotas)(ranges.ready))
  }

  /** Returns the end of each cluster in a batch that ends at one time; None if there are fewer rows than the minimum of a
    * batch, or if a cluster does not respond.
    */
  def aligned(
      limits: Limits,
      ofCluster: String => Limits,
      reach: SortedMap[String, ClusterResponse],
      times: EventTimeAdmission,
      isFinal: Boolean
  )(log: (LogPartition => (String, LogPartition)) => RecordTimes): Option[SortedMap[String, KafkaPosition]] =
    if (limits.minRows.exists(reach.valuesIterator.map(_.rows).sum < _)) None
    else {
      val ranges = new QualifiedRanges(reach)
      val quotas = quotasOf(limits, ofCluster, reach)
      val holes  = ranges.holes
      val shares = new ClusterShares(sizes, Quota.of(limits), quotas, ranges.cluster)(
        ranges.share(limits, quotas, strictly = true),
        ranges.rows
      )
      times(PartitionFill.after(ranges.ready, holes), holes, shares, log(ranges.origin), isFinal).map(ranges.positions)
    }

  /** Ranges of all clusters, by partitions whose topic names include their cluster. */
  final private class QualifiedRanges(reach: SortedMap[String, ClusterResponse]) {

    names.filterInPlace((name, _) => reach.contains(name))

    val ready: SortedMap[LogPartition, (Long, Long)] = SortedMap.from(for {
      (name, response) <- reach.iterator
      nameOf = named(name)
      (p, begin) <- response.begins.iterator
      until      <- response.until.get(p) if until > begin
    } yield nameOf(p) -> (begin -> until))

    lazy val origin: Map[LogPartition, (String, LogPartition)] = reach.iterator.flatMap { case (name, response) =>
      val nameOf = named(name)
      response.begins.keysIterator.map(p => nameOf(p) -> ((name, p)))
    }.toMap

    private val fills = Fills(reach.flatMap { case (name, response) =>
      response.fills.all.map { case ((p, generation), fill) => (qualified(name, p), generation) -> fill }
    })

    private def key(q: LogPartition) = {
      val (name, p) = origin(q)
      q -> reach(name).until.generation(p.topic)
    }

    def cluster(q: LogPartition): String = origin(q)._1

    /** Returns the number of offsets to read in a range. */
    def rows(q: LogPartition, from: Long, until: Long): Long = {
      val (partition, generation) = key(q)
      fills.between(partition, generation, from, until)
    }

    /** Returns the part of each range that consists of holes of a history. */
    def holes: SortedMap[LogPartition, (Long, Long)] =
      if (fills.isEmpty) SortedMap.empty
      else PartitionFill.holes(ready) { q =>
        val (partition, generation) = key(q)
        fills.find(partition, generation)
      }

    /** Returns the ends of ranges within the limits.
      *
      * @param strictly
      *   true if no rule gives more rows than the limits
      */
    def share(limits: Limits, quotas: Map[String, Quota], strictly: Boolean = false)(
        ranges: SortedMap[LogPartition, (Long, Long)]
    ): SortedMap[LogPartition, Long] = fills.share(ranges, key) { open =>
      if (quotas.nonEmpty) new ClusterQuotas(admission, sizes, cluster)(Quota.of(limits), quotas, open)
      else if (strictly) admission.within(Quota.of(limits), open)
      else admission(limits, open)
    }

    /** Returns the position of each cluster with these ends. */
    def positions(ends: SortedMap[LogPartition, Long]): SortedMap[String, KafkaPosition] = reach.map {
      case (name, response) =>
        val nameOf = named(name)
        name -> response.until.copy(offsets = response.until.offsets.transform { (p, until) =>
          if (response.begins.contains(p)) ends.getOrElse(nameOf(p), until) else until
        })
    }
  }
}

private[dynamic] object ClusterAdmission {

  /** Returns a partition whose topic name includes its cluster. */
  def qualified(cluster: String, p: LogPartition): LogPartition = LogPartition(s"$cluster/${p.topic}", p.partition)

  /** Returns the cluster of such a partition. A topic name has no slash. */
  def clusterOf(qualified: LogPartition): String = qualified.topic.take(qualified.topic.lastIndexOf('/'))
}

/** Costs of ranges. The ranges of a topic are consecutive, so its name with the cluster is composed once. Only one
  * thread uses this object.
  */
final private[dynamic] class ClusterCosts(sizes: RecordSizes) {

  private var last = ("", "")
  private var name = ""

  def apply(range: DynamicSplitRange): Long = {
    val topic = range.range.partition.topic
    if (last._2 != topic || last._1 != range.cluster) {
      last = range.cluster -> topic
      name = s"${range.cluster}/$topic"
    }
    sizes.cost(name, range.weight)
  }
}
