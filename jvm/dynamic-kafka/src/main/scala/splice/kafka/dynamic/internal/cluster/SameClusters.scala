// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import scala.collection.immutable.SortedMap

import org.slf4j.LoggerFactory

import splice.kafka.dynamic.internal.errors.DynamicErrors
import splice.kafka.dynamic.internal.split.DynamicPosition
import splice.kafka.dynamic.internal.state.AppliedMetadata
import splice.kafka.dynamic.internal.state.TopicState.{Draining, Reading, Removed}
import splice.kafka.internal.identity.IdentityEntries
import splice.source.EnumeratorContext

/** Detects names that belong to the same cluster. Two names may have different credentials for one cluster, but no
  * topic may be read under two names.
  *
  * @param scope
  *   returns the context of a cluster, by its name
  */
final private[dynamic] class SameClusters(scope: String => () => EnumeratorContext) {

  private var warned = Set.empty[(String, String)]

  /** Returns the responses of the clusters that a batch may read. A cluster with a new name waits until the metadata
    * contains the earlier name in `formerly`.
    *
    * @throws splice.source.errors.SpliceException
    *   if topics would be read under both names
    */
  def checked(
      applied: AppliedMetadata,
      at: DynamicPosition,
      responses: SortedMap[String, ClusterResponse]
  ): SortedMap[String, ClusterResponse] = {
    val held = for {
      (name, reach) <- responses.toSeq
      id            <- reach.clusterId.toSeq
      // Most batches have a position of every topic, and do not need the list of all partitions.
      fresh = applied.read(name).filter(topic => reach.until.hasTopic(topic) && !at.of(name).hasTopic(topic))
      if fresh.nonEmpty
      other <- applied.clusters.keysIterator.filter(_ != name)
      shared = fresh.filter(topic => applied.of(other).get(topic).exists(isKept(other, topic, at, _)))
      if shared.nonEmpty
      if idOf(other, responses).contains(id)
    } yield {
      if (!warned(name -> other))
        SameClusters.logger.warn(
          s"${DynamicErrors.sameCluster(Seq(name, other), id, shared).text} Splice does not read " +
            s"the cluster '$name' until the metadata has 'formerly: [$other]' for this cluster, or each topic under one cluster name only."
        )
      warned += name -> other
      name
    }
    val open = responses -- held
    for {
      (id, several) <- open.toSeq.groupMap(_._2.clusterId)(identity)
      known         <- id if several.size > 1
      twice =
        several.flatMap(_._2.until.topics).groupBy(identity).collect { case (topic, all) if all.size > 1 => topic }
      if twice.nonEmpty
    } throw DynamicErrors.sameCluster(several.map(_._1), known, twice)
    open
  }

  private def isKept(cluster: String, topic: String, at: DynamicPosition, is: Any): Boolean = is match {
    case _: Reading | _: Draining => at.of(cluster).hasTopic(topic)
    case _: Removed               => true
    case _                        => false
  }

  private def idOf(cluster: String, responses: SortedMap[String, ClusterResponse]): Option[String] =
    responses.get(cluster).fold(new IdentityEntries(scope(cluster)().sideLog).known.cluster)(_.clusterId)
}

private object SameClusters {
  private val logger = LoggerFactory.getLogger(classOf[SameClusters])
}
