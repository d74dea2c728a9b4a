// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import scala.collection.immutable.{SortedMap, SortedSet}

import org.slf4j.LoggerFactory

import splice.kafka.dynamic.internal.errors.DynamicErrors
import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicPosition}
import splice.kafka.dynamic.internal.state.TopicState.{Draining, Reading, Removed}
import splice.kafka.dynamic.internal.state.{AppliedMetadata, TopicState}
import splice.kafka.internal.identity.IdentityEntries
import splice.source.EnumeratorContext

/** Detects names that belong to the same cluster. Two names may have different credentials for one cluster, but no
  * topic may be read under two names.
  *
  * @param scope
  *   returns the context of a cluster, by its name
  */
final private[dynamic] class SameClusters(scope: String => () => EnumeratorContext) {

  import SameClusters._

  private var warned = Set.empty[(String, String)]

  /** Returns the responses without the topics that a batch must not read. A topic with a position under another name
    * waits. A cluster with a new name waits until the metadata contains the earlier name in `formerly`, with all its
    * topics, because a name with positions cannot be the target of a rename.
    *
    * @throws splice.source.errors.SpliceException
    *   if topics would be read under both names
    */
  def checked(
      applied: AppliedMetadata,
      at: DynamicPosition,
      responses: SortedMap[String, ClusterResponse]
  ): Checked = {
    val shared = for {
      (name, reach) <- responses.toSeq
      id            <- reach.clusterId.toSeq
      // Most batches have a position of every topic, and do not need the list of all partitions.
      fresh = applied.read(name).filter(topic => reach.until.hasTopic(topic) && !at.of(name).hasTopic(topic))
      if fresh.nonEmpty
      other <- applied.clusters.keysIterator.filter(_ != name)
      topics = fresh.filter(isOwner(applied, at, other, name, _))
      if topics.nonEmpty
      if idOf(other, responses).contains(id)
    } yield {
      def isListed(topic: String) = applied.streamOf.contains(ClusterTopic(name, topic))
      val (listed, unlisted)      = topics.partition(isListed)
      val isNew                   = at.of(name).offsets.isEmpty
      if (listed.nonEmpty && !warned(name -> other)) {
        warned += name -> other
        logger.warn(s"${DynamicErrors.sameCluster(Seq(name, other), id, listed).text} ${waits(name, other, isNew)}")
      }
      Shared(name, listed, unlisted, isNew && listed.nonEmpty)
    }
    val held = shared.filter(_.isWhole).map(_.name)
    val open = (responses -- held).map { case (name, reach) =>
      val topics = shared.filter(_.name == name).flatMap(of => of.listed ++ of.unlisted).toSet
      name -> (if (topics.isEmpty) reach else reach.without(topics))
    }
    reject(open.toSeq.map { case (name, reach) => (name, reach.clusterId, reach.until.topics) })
    Checked(
      open,
      shared.flatMap(of => (if (of.isWhole) applied.read(of.name) else of.listed).map(ClusterTopic(of.name, _))).toSet,
      shared.flatMap(of => of.unlisted.map(ClusterTopic(of.name, _))).to(SortedSet)
    )
  }

  /** Returns true if a topic of a cluster belongs to another name of the cluster, and must not be read under a name
    * without a position of the topic.
    */
  private def isOwner(
      applied: AppliedMetadata,
      at: DynamicPosition,
      owner: String,
      name: String,
      topic: String
  ): Boolean = applied.of(owner).get(topic).exists { is =>
    def isListed(cluster: String) = applied.streamOf.contains(ClusterTopic(cluster, topic))
    // A document had the topic under both names. No row was read, so the topic is read only under the listed name.
    def isLeft = !isListed(name) && (isListed(owner) || isDrained(is) && owner < name)
    isKept(owner, topic, at, is) || isLeft
  }

  private def isKept(cluster: String, topic: String, at: DynamicPosition, is: TopicState): Boolean = is match {
    case _: Reading | _: Draining => at.of(cluster).hasTopic(topic)
    case is: Removed              => is.position.offsets.nonEmpty
    case _                        => false
  }

  private def isDrained(is: TopicState): Boolean = is match {
    case _: Draining => true
    case _           => false
  }

  private def waits(name: String, other: String, isNew: Boolean): String =
    if (isNew)
      s"Splice does not read the cluster '$name' until the metadata has 'formerly: [$other]' for this cluster, or each " +
        "topic under one cluster name only."
    else s"Splice does not read these topics until the metadata has the topics under the cluster name '$other' only."

  private def idOf(cluster: String, responses: SortedMap[String, ClusterResponse]): Option[String] =
    responses.get(cluster).fold(new IdentityEntries(scope(cluster)().sideLog).known.cluster)(_.clusterId)
}

private[dynamic] object SameClusters {
  private val logger = LoggerFactory.getLogger(classOf[SameClusters])

  /** Topics of a name that belong to another name. */
  final private case class Shared(
      name: String,
      listed: SortedSet[String],
      unlisted: SortedSet[String],
      isWhole: Boolean
  )

  /** Responses that a batch may read.
    *
    * @param responses
    *   the responses of all clusters except held clusters, without held topics
    * @param held
    *   topics that wait for another document
    * @param unread
    *   removed topics of which no row was read, and no row is to be read
    */
  final case class Checked(
      responses: SortedMap[String, ClusterResponse],
      held: Set[ClusterTopic],
      unread: SortedSet[ClusterTopic]
  )

  /** Rejects topics under two names of one cluster.
    *
    * @param clusters
    *   names, ids and topics
    * @throws splice.source.errors.SpliceException
    *   if two names with the same id have the same topic
    */
  def reject(clusters: Seq[(String, Option[String], Iterable[String])]): Unit = for {
    (id, several) <- clusters.groupBy(_._2)
    known         <- id if several.size > 1
    twice = several.flatMap(_._3).groupBy(identity).collect { case (topic, all) if all.size > 1 => topic }
    if twice.nonEmpty
  } throw DynamicErrors.sameCluster(several.map(_._1), known, twice)
}
