// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import scala.collection.immutable.{SortedMap, SortedSet}

import org.slf4j.LoggerFactory

import splice.kafka.dynamic.internal.errors.DynamicErrors
import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicPosition}
import splice.kafka.dynamic.internal.state.TopicState.{Bound, Draining, Pending, Reading, Removed, Waiting}
import splice.kafka.dynamic.internal.state.{AppliedMetadata, TopicState}
import splice.kafka.internal.identity.IdentityEntries
import splice.source.{EnumeratorContext, LogPartition}

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
    * waits until the metadata has the topic under one name.
    *
    * @throws splice.source.errors.SpliceException
    *   if topics would be read under both names
    */
  def checked(
      applied: AppliedMetadata,
      position: DynamicPosition,
      responses: SortedMap[String, ClusterResponse]
  ): Checked = {
    val at     = applied.expecting(position)
    val shared = for {
      (name, reach) <- responses.toSeq
      id            <- reach.clusterId.toSeq
      // Most batches have a position of every topic, and do not need the list of all partitions.
      fresh = applied.read(name).filter(topic => reach.until.hasTopic(topic) && isFresh(applied, at, name, topic))
      if fresh.nonEmpty
      other <- applied.clusters.keysIterator.filter(_ != name)
      topics = fresh.filter(isOwner(applied, at, other, name, _))
      if topics.nonEmpty
      if idOf(other, responses).contains(id)
    } yield {
      def isListed(topic: String) = applied.streamOf.contains(ClusterTopic(name, topic))
      val (listed, unlisted)      = topics.partition(isListed)
      if (listed.nonEmpty && !warned(name -> other)) {
        warned += name -> other
        logger.warn(s"${DynamicErrors.sameCluster(Seq(name, other), id, listed).text} Splice does not read these " +
          s"topics until the metadata has the topics under the cluster name '$other' only.")
      }
      Shared(name, listed, unlisted)
    }
    val open = responses.map { case (name, reach) =>
      val topics = shared.filter(_.name == name).flatMap(of => of.listed ++ of.unlisted).toSet
      name -> (if (topics.isEmpty) reach else reach.without(topics))
    }
    reject(open.toSeq.map { case (name, reach) => (name, reach.clusterId, reach.until.topics) }) { (topic, one, two) =>
      !Seq(one, two).forall(at.of(_).hasTopic(topic)) || overlaps(applied, at, topic, one, two)
    }
    Checked(
      open,
      shared.flatMap(of => of.listed.map(ClusterTopic(of.name, _))).toSet,
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
    if (at.of(name).hasTopic(topic)) isListed(owner) && overlaps(applied, at, topic, owner, name)
    else isKept(owner, topic, at, is) || isLeft
  }

  /** Returns true if no row of a topic was read under a name. */
  private def isFresh(applied: AppliedMetadata, at: DynamicPosition, name: String, topic: String): Boolean =
    !at.of(name).hasTopic(topic) || isUnread(applied, at, ClusterTopic(name, topic))

  private def isKept(cluster: String, topic: String, at: DynamicPosition, is: TopicState): Boolean = is match {
    case _: Reading | _: Draining => at.of(cluster).hasTopic(topic)
    case is: Removed              => is.position.offsets.nonEmpty
    case _                        => false
  }

  private def isDrained(is: TopicState): Boolean = is match {
    case _: Draining | _: Pending => true
    case _                        => false
  }

  /** Returns the id of a cluster that has responded, in this run or an earlier run. */
  def idOf(cluster: String): Option[String] = new IdentityEntries(scope(cluster)().sideLog).known.cluster

  private def idOf(cluster: String, responses: SortedMap[String, ClusterResponse]): Option[String] =
    responses.get(cluster).fold(idOf(cluster))(_.clusterId)
}

private[dynamic] object SameClusters {
  private val logger = LoggerFactory.getLogger(classOf[SameClusters])

  /** Topics of a name that belong to another name. */
  final private case class Shared(
      name: String,
      listed: SortedSet[String],
      unlisted: SortedSet[String]
  )

  /** Responses that a batch may read.
    *
    * @param responses
    *   the responses of all clusters, without held topics
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

  /** Returns true if rows of a topic would be read under two names of one cluster, which both have a position of the
    * topic. A cutover by offsets from one name to the other name sets two ranges without common rows.
    */
  def overlaps(applied: AppliedMetadata, at: DynamicPosition, topic: String, one: String, two: String): Boolean = {
    val (first, second) = (ClusterTopic(one, topic), ClusterTopic(two, topic))
    val positions       = Seq(first, second).map(t => at.of(t.cluster).of(topic))
    positions.forall(_.nonEmpty) && positions.flatMap(_.keys).exists { p =>
      positions.map(_.getOrElse(p, 0L)).max < math.min(end(applied, first, p), end(applied, second, p))
    }
  }

  private def end(applied: AppliedMetadata, topic: ClusterTopic, partition: LogPartition): Long =
    applied.topics.get(topic) match {
      case Some(_: Reading | _: Waiting) => Long.MaxValue
      case Some(is: Draining)            => is.bound.limit match {
          case Bound.Ends(ends, _) => ends.get(partition).getOrElse(0L)
          case _                   => Long.MaxValue
        }
      case _ => 0L
    }

  /** Returns true if a topic that no stream contains is still at the start that a cutover set, so that no row was read.
    */
  def isUnread(applied: AppliedMetadata, at: DynamicPosition, topic: ClusterTopic): Boolean =
    applied.draining.get(topic).exists { is =>
      !applied.streamOf.contains(topic) &&
      at.of(topic.cluster).of(topic.topic).forall { case (p, next) => is.expected.get(p).exists(_ >= next) }
    }

  /** Rejects topics under two names of one cluster.
    *
    * @param clusters
    *   names, ids and topics
    * @param isTwice
    *   returns true if a topic of two names would be read under both names
    * @throws splice.source.errors.SpliceException
    *   if two names with the same id have the same topic
    */
  def reject(clusters: Seq[(String, Option[String], Iterable[String])])(
      isTwice: (String, String, String) => Boolean
  ): Unit = for {
    (id, several) <- clusters.groupBy(_._2)
    known         <- id if several.size > 1
    names = several.flatMap { case (name, _, topics) => topics.map(_ -> name) }.groupMap(_._1)(_._2)
    twice = names.collect {
      case (topic, all) if all.combinations(2).exists(two => isTwice(topic, two(0), two(1))) =>
        topic
    }
    if twice.nonEmpty
  } throw DynamicErrors.sameCluster(several.map(_._1), known, twice)
}
