// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import scala.collection.immutable.SortedSet

import splice.kafka.options.{KafkaSettings, Subscription}
import splice.kafka.split.KafkaPosition
import splice.kafka.{DataLoss, KafkaErrors, MissingRange}
import splice.source.LogPartition

/** Which partitions there are. A partition once known leaves only when brokers deny it again and again, and then by policy. */
final private[splice] class Membership(
    settings: KafkaSettings,
    discovery: Discovery,
    identity: IdentityLog,
    looks: SecondLook,
    loss: DataLoss
) {

  private var seen: Option[LogDescription] = None
  private var compared                     = false
  private var gone: Set[LogPartition]      = Set.empty

  /** The partitions that can be read, of those that are subscribed to; asks the cluster only the first time in a run.
    *
    * @param at
    *   the partitions that were read before
    * @throws splice.source.SpliceException
    *   when a topic is missing, was created again, or was deleted although records of it must still be read
    */
  def partitions(at: KafkaPosition): SortedSet[LogPartition] = {
    val news = if (seen.isEmpty) Some(discovery.now()) else discovery.news()
    news match {
      case Some(description) => take(description, at)
      case None if !compared => compare(at, described)
      case None              => ()
    }
    described.partitions
  }

  /** The same, as the cluster says it now. */
  def look(at: KafkaPosition): SortedSet[LogPartition] = {
    take(discovery.now(), at)
    described.partitions
  }

  /** Makes sure that the cluster was looked at in this run. */
  def once(at: KafkaPosition): Unit = if (seen.isEmpty) { val _ = partitions(at) }

  /** The partitions as they were last seen in this run. */
  def known: Option[SortedSet[LogPartition]] = seen.map(_.partitions)

  /** The partitions before it is known what was read of them.
    *
    * @param needed
    *   partitions that should be among them
    */
  def first(needed: collection.Set[LogPartition] = Set.empty): SortedSet[LogPartition] = {
    // What was made just now is not known to every broker yet.
    def lacks(seen: LogDescription) = seen.missing.nonEmpty || !needed.subsetOf(seen.partitions)
    val description                 = looks.confirm(discovery.now())(lacks)(() => discovery.now())
    identity.check(description)
    seen = Some(description)
    description.partitions
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

  private def described: LogDescription =
    seen.getOrElse(throw new IllegalStateException("asked for partitions before the first look"))

  private def take(description: LogDescription, at: KafkaPosition): Unit = {
    identity.check(description)
    compare(at, description)
  }

  private def compare(at: KafkaPosition, description: LogDescription): Unit = {
    val expected = at.offsets.keySet.filter(settings.subscription.covers) ++ seen.toSeq.flatMap(_.partitions)
    def absent(d: LogDescription): Set[LogPartition] = (expected -- d.partitions).toSet -- gone
    val settled = looks.confirm(description)(absent(_).nonEmpty)(() => discovery.now())
    identity.check(settled)
    val lost = absent(settled)
    seen = Some(settled)
    gone = gone -- settled.partitions ++ lost
    if (lost.nonEmpty) {
      val ranges = lost.toSeq.sorted.map(p => MissingRange(p, at.get(p).getOrElse(0L), None))
      loss.report("the topic or partition does not exist any more", ranges)
    }
    if (!compared) {
      compared = true
      val unread = settled.missing.filterNot(topic => at.offsets.keysIterator.exists(_.topic == topic))
      if (unread.nonEmpty) throw KafkaErrors.missingTopics(unread, settings.client.servers)
    }
  }
}
