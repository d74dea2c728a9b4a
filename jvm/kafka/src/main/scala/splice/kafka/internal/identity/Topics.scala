// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.identity

import scala.collection.immutable.SortedSet

import org.slf4j.LoggerFactory

import splice.kafka.internal.cluster.{ClusterAccess, LogDescription}
import splice.kafka.internal.errors.{KafkaErrors, MissingRange, SkippedRows}
import splice.kafka.internal.options.{KafkaSettings, Subscription}
import splice.kafka.internal.split.KafkaPosition
import splice.source.{EnumeratorContext, LogPartition}

/** The topics and partitions that the query reads, and their identities. The policy for recreated topics applies if
  * brokers return another id of a topic. If repeated responses of brokers do not contain a partition, the policy for
  * removed topics applies.
  *
  * @param lastEnd
  *   the last end of a partition that a broker returned
  * @param skipped
  *   counts the rows that the policies skip
  * @param addUnread
  *   stores offsets that a restart at an older offset skips, and their position
  */
final private[splice] class Topics(
    settings: KafkaSettings,
    cluster: ClusterAccess,
    context: EnumeratorContext,
    lastEnd: LogPartition => Option[Long],
    skipped: SkippedRows,
    addUnread: (Seq[MissingRange], KafkaPosition) => Unit
) {

  private val discovery  = cluster.discovery
  private val policies   = settings.policies
  private val identity   = new IdentityEntries(context.sideLog, settings.hasGenerations)
  private val deletions  = new DeletionEntries(context.sideLog)
  private val recreation = new Recreation(
    cluster.client,
    identity,
    deletions,
    policies.recreated,
    settings.client.servers,
    cluster.client.starts(policies.newPartitions, _),
    lastEnd,
    skipped,
    addUnread
  )
  private val removal =
    new TopicRemoval(deletions, policies.removed, context.steady, lastEnd, settings.subscription, skipped, addUnread)

  /** Compares the topics of a batch between two discoveries. */
  val check = new TopicCheck(cluster.client, recreation, settings.subscription, context.steady)

  // Other threads read this field.
  @volatile private var seen: Option[LogDescription] = None

  private var compared                   = false
  private var deleted: Set[LogPartition] = Set.empty

  /** Returns the position at which the query continues, and the existing partitions. Sends a request to the cluster
    * only in the first call of a run.
    *
    * @param at
    *   the partitions that the query has read already
    * @throws splice.source.errors.SpliceException
    *   when a topic is missing, was recreated, or was deleted, and the policy is to fail
    */
  def settle(at: KafkaPosition): Settled = {
    val news = if (seen.isEmpty) Some(discovery.now()) else discovery.news()
    news match {
      case Some(description) => review(description, at)
      case None if !compared => review(described, at)
      case None              => ()
    }
    settled(at)
  }

  /** True if discovery has found other topics or partitions than the last [[settle]]. Any thread may call it.
    */
  def isStale: Boolean = discovery.pending.exists { description =>
    seen.exists(known => description.partitions != known.partitions || description.topicIds != known.topicIds)
  }

  /** Returns the same as [[settle]], but requests topics and partitions from the cluster. */
  def refresh(at: KafkaPosition): Settled = {
    review(discovery.now(), at)
    settled(at)
  }

  /** Compares the position with the cluster, unless this run has compared a position before. */
  def once(at: KafkaPosition): Unit = if (!compared) { val _ = settle(at) }

  /** The durable identities of the cluster and of the topics. */
  def identities: Identities = identity.known

  /** The partitions in the last response of this run. */
  def partitions: Option[SortedSet[LogPartition]] = seen.map(_.partitions)

  /** Topics that are subscribed to by name and were missing from the last response. */
  def missing: SortedSet[String] = seen.fold(SortedSet.empty[String])(_.missing)

  /** The existing partitions, without a comparison to a position.
    *
    * @param needed
    *   partitions that the response should contain
    */
  def first(needed: collection.Set[LogPartition] = Set.empty): SortedSet[LogPartition] = {
    // Some brokers return a new topic only some time after its creation.
    def lacks(seen: LogDescription) = seen.missing.nonEmpty || !needed.subsetOf(seen.partitions)
    val description                 = cluster.recheck.confirm(discovery.now())(lacks)(() => discovery.now())
    seen = Some(description)
    description.partitions
  }

  /** The position at the start, with the current generations of its topics. */
  def begin(at: KafkaPosition): KafkaPosition = {
    recreation.check(described, KafkaPosition.Empty)
    identity.note(described)
    at.topics.foldLeft(at)((position, topic) => position.as(topic, identity.known.latest(topic)))
  }

  /** Throws an error if a topic or partition that is subscribed to by name does not exist. */
  def requireAll(): Unit = {
    if (described.missing.nonEmpty) throw KafkaErrors.missingTopics(described.missing, settings.client.servers)
    settings.subscription match {
      case Subscription.Assigned(wanted) if (wanted -- described.partitions).nonEmpty =>
        throw KafkaErrors.missingPartitions(wanted -- described.partitions, settings.client.servers)
      case _ => ()
    }
  }

  /** True if planned ranges of a partition can still be read, because its topic exists and has the same generation. */
  def holds(partition: LogPartition, generation: Int): Boolean =
    !deleted(partition) && identity.known.latest(partition.topic) == generation

  /** True if the deletion of a topic was reported before, and the query continues without the topic. */
  def isRemoved(topic: String): Boolean = removal.isKnown(topic)

  /** The position with the removed topics that it lacks, at their positions at the time of the deletion. */
  def withRemoved(at: KafkaPosition): KafkaPosition =
    deletions.all.filter(d => isRemoved(d.topic) && !at.hasTopic(d.topic)).map(_.at).foldLeft(at)(_ and _)

  /** The position in a partition at the end of a generation of its topic, if the topic was deleted or recreated. */
  def leftAt(p: LogPartition, generation: Int): Option[Long] =
    identity.known.generation(p.topic, generation + 1).map(_.was)
      .orElse(deletions.of(p.topic).map(_.at).filter(_.generation(p.topic) == generation))
      .flatMap(_.get(p))

  /** True if a partition is subscribed to, and its topic was not missing in a comparison of this run. */
  def reads(partition: LogPartition): Boolean = settings.subscription.covers(partition) && !deleted(partition)

  private def described: LogDescription =
    seen.getOrElse(throw new IllegalStateException("partitions are not available before the first discovery"))

  private def settled(at: KafkaPosition): Settled = {
    val current = recreation(identity.known.meant(at), exists)
    removal.reportOlder(current)
    Settled(removal(current), described.partitions)
  }

  // The offset of another source of a query has this form if the user has changed the order of the sources. Clusters of
  // a source with metadata may change all their topics.
  private def rejectReplaced(at: KafkaPosition): Unit = {
    val stored = at.offsets.keySet
    if (!settings.hasGenerations && stored.nonEmpty && !stored.exists(settings.subscription.covers)) {
      val error = KafkaErrors.topicsReplaced(stored.map(_.topic).toSet)
      if (settings.failOnDataLoss) throw error else Topics.logger.warn(error.text)
    }
  }

  private def exists(topic: String): Boolean = described.partitions.exists(_.topic == topic)

  private def review(description: LogDescription, before: KafkaPosition): Unit = {
    val whole    = identity.known.meant(before)
    val at       = removal(whole)
    val expected = whole.offsets.keySet.filter(settings.subscription.covers) ++ seen.toSeq.flatMap(_.partitions)
    def absent(d: LogDescription): Set[LogPartition] = (expected -- d.partitions).toSet
    def lost(d: LogDescription): Set[LogPartition]   = absent(d).filterNot(p => deleted(p) || removal.isKnown(p.topic))
    // Some brokers return only some partitions of a topic that has just returned.
    def isPartial(gone: DeletionEntries.Deletion, d: LogDescription) =
      d.partitions.exists(_.topic == gone.topic) && !gone.at.of(gone.topic).keysIterator.forall(d.partitions)
    def doubtful(d: LogDescription) =
      lost(d).nonEmpty || recreation.others(d).nonEmpty || deletions.all.exists(isPartial(_, d))
    val now = cluster.recheck.confirm(description)(doubtful)(() => discovery.now())
    recreation.check(now, at)
    removal.back(now, at)
    identity.note(now)
    seen = Some(now)
    val missing = lost(now)
    deleted = absent(now)
    if (missing.nonEmpty) {
      recreation.rejectElsewhere(missing.map(_.topic), now)
      removal.report(missing, now, at)
    }
    if (!compared) {
      compared = true
      rejectReplaced(whole)
      val unread = now.missing.filterNot(topic => at.hasTopic(topic) || removal.isKnown(topic))
      if (unread.nonEmpty) throw KafkaErrors.missingTopics(unread, settings.client.servers)
    }
  }
}

/** The position at which the query continues, and the existing partitions. */
final private[splice] case class Settled(position: KafkaPosition, partitions: SortedSet[LogPartition])

private object Topics {
  private val logger = LoggerFactory.getLogger(classOf[Topics])
}
