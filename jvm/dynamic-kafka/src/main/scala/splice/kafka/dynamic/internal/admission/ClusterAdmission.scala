// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.admission

import scala.collection.immutable.SortedMap
import scala.collection.mutable

import splice.kafka.dynamic.internal.cluster.ClusterResponse
import splice.kafka.dynamic.internal.split.DynamicSplitRange
import splice.kafka.internal.admission.{Admission, AdmissionPolicy, ProportionalShares, Quota, RecordSizes}
import splice.kafka.internal.bounds.Fills
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
    val quotas =
      if (limits == Limits.Everything) Map.empty[String, Quota]
      else
        reach.keysIterator.map(name => name -> Quota.of(ofCluster(name))).filter(_._2 != Quota.Unlimited).toMap
    if (limits.minRows.exists(reach.valuesIterator.map(_.rows).sum < _)) None
    else if (quotas.isEmpty && Quota.of(limits) == Quota.Unlimited) Some(reach.map { case (name, response) =>
      name -> response.until
    })
    else Some(shared(limits, quotas, reach))
  }

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
    names.filterInPlace((name, _) => reach.contains(name))
    val ready = SortedMap.from(for {
      (name, response) <- reach.iterator
      nameOf = named(name)
      (p, begin) <- response.begins.iterator
      until      <- response.until.get(p) if until > begin
    } yield nameOf(p) -> (begin -> until))
    lazy val origin = reach.iterator.flatMap { case (name, response) =>
      val nameOf = named(name)
      response.begins.keysIterator.map(p => nameOf(p) -> ((name, p)))
    }.toMap
    val fills = Fills(reach.flatMap { case (name, response) =>
      response.fills.all.map { case ((p, generation), fill) => (qualified(name, p), generation) -> fill }
    })
    def key(q: LogPartition) = {
      val (name, p) = origin(q)
      q -> reach(name).until.generation(p.topic)
    }
    val share = fills.share(ready, key) { open =>
      if (quotas.isEmpty) admission(limits, open)
      else new ClusterQuotas(admission, sizes, origin(_)._1)(Quota.of(limits), quotas, open)
    }
    reach.map { case (name, response) =>
      val nameOf = named(name)
      name -> response.until.copy(offsets = response.until.offsets.transform { (p, until) =>
        if (response.begins.contains(p)) share.getOrElse(nameOf(p), until) else until
      })
    }
  }

}

private[dynamic] object ClusterAdmission {

  /** Returns a partition whose topic name includes its cluster. */
  def qualified(cluster: String, p: LogPartition): LogPartition = LogPartition(s"$cluster/${p.topic}", p.partition)
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
