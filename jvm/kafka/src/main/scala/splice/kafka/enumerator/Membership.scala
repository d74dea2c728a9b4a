// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import scala.collection.immutable.SortedSet

import splice.kafka.KafkaErrors
import splice.kafka.options.{KafkaSettings, Subscription}
import splice.kafka.split.KafkaPosition
import splice.source.LogPartition

/** Which partitions there are. A partition once known leaves only when brokers deny it again and again, and then by policy. */
final private[splice] class Membership(
    settings: KafkaSettings,
    discovery: Discovery,
    identity: IdentityLog,
    recreation: Recreation,
    removal: Removal,
    looks: SecondLook
) {

  // Other threads read it.
  @volatile private var seen: Option[LogDescription] = None

  private var compared                = false
  private var gone: Set[LogPartition] = Set.empty

  /** Where reading goes on from a position, and of which partitions; asks the cluster only the first time in a run.
    *
    * @param at
    *   the partitions that were read before
    * @throws splice.source.SpliceException
    *   when a topic is missing, was created again, or was deleted, and the policy is to fail
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

  /** Whether discovery has found other topics or partitions than [[settle]] returned last. Any thread may call it. */
  def isStale: Boolean = discovery.pending.exists { found =>
    seen.exists(known => found.partitions != known.partitions || found.topicIds != known.topicIds)
  }

  /** The same, as the cluster says it now. */
  def look(at: KafkaPosition): Settled = {
    review(discovery.now(), at)
    settled(at)
  }

  /** Makes sure that what is read was compared with the cluster in this run. */
  def once(at: KafkaPosition): Unit = if (!compared) { val _ = settle(at) }

  /** The partitions as they were last seen in this run. */
  def known: Option[SortedSet[LogPartition]] = seen.map(_.partitions)

  /** Topics that are subscribed to by name and that did not exist then. */
  def missing: SortedSet[String] = seen.fold(SortedSet.empty[String])(_.missing)

  /** The partitions before it is known what was read of them.
    *
    * @param needed
    *   partitions that should be among them
    */
  def first(needed: collection.Set[LogPartition] = Set.empty): SortedSet[LogPartition] = {
    // What was made just now is not known to every broker yet.
    def lacks(seen: LogDescription) = seen.missing.nonEmpty || !needed.subsetOf(seen.partitions)
    val description                 = looks.confirm(discovery.now())(lacks)(() => discovery.now())
    seen = Some(description)
    description.partitions
  }

  /** The same for where reading begins: the position is of the topics as they are now. */
  def begin(at: KafkaPosition): KafkaPosition = {
    recreation.check(described, KafkaPosition.Empty)
    identity.note(described)
    at.topics.foldLeft(at)((position, topic) => position.as(topic, identity.known.latest(topic)))
  }

  /** Fails when something that is subscribed to by name does not exist. */
  def requireAll(): Unit = {
    if (described.missing.nonEmpty) throw KafkaErrors.missingTopics(described.missing, settings.client.servers)
    settings.subscription match {
      case Subscription.Assigned(wanted) if (wanted -- described.partitions).nonEmpty =>
        throw KafkaErrors.missingPartitions(wanted -- described.partitions, settings.client.servers)
      case _ => ()
    }
  }

  /** Whether what was planned of a partition can still be read: its topic is there, and the same. */
  def holds(partition: LogPartition, generation: Int): Boolean =
    !gone(partition) && identity.known.latest(partition.topic) == generation

  /** Whether a partition is subscribed to, and its topic exists as far as that was compared in this run. */
  def reads(partition: LogPartition): Boolean = settings.subscription.covers(partition) && !gone(partition)

  private def described: LogDescription =
    seen.getOrElse(throw new IllegalStateException("asked for partitions before the first look"))

  private def settled(at: KafkaPosition): Settled =
    Settled(removal(recreation(identity.known.meant(at), exists)), described.partitions)

  private def exists(topic: String): Boolean = described.partitions.exists(_.topic == topic)

  private def review(description: LogDescription, before: KafkaPosition): Unit = {
    val whole    = identity.known.meant(before)
    val at       = removal(whole)
    val expected = whole.offsets.keySet.filter(settings.subscription.covers) ++ seen.toSeq.flatMap(_.partitions)
    def absent(d: LogDescription): Set[LogPartition] = (expected -- d.partitions).toSet
    def lost(d: LogDescription): Set[LogPartition]   = absent(d).filterNot(p => gone(p) || removal.isKnown(p.topic))
    def doubtful(d: LogDescription)                  = lost(d).nonEmpty || recreation.others(d).nonEmpty
    val now                                          = looks.confirm(description)(doubtful)(() => discovery.now())
    recreation.check(now, at)
    removal.back(now, at)
    identity.note(now)
    seen = Some(now)
    val missing = lost(now)
    gone = absent(now)
    if (missing.nonEmpty) {
      recreation.refuseElsewhere(missing.map(_.topic), now)
      removal.report(missing, now, at)
    }
    if (!compared) {
      compared = true
      val unread = now.missing.filterNot(topic => at.hasTopic(topic) || removal.isKnown(topic))
      if (unread.nonEmpty) throw KafkaErrors.missingTopics(unread, settings.client.servers)
    }
  }
}

/** Where reading goes on, and which partitions there are. */
final private[splice] case class Settled(position: KafkaPosition, partitions: SortedSet[LogPartition])
