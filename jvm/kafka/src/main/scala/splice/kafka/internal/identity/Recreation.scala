// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.identity

import org.slf4j.LoggerFactory

import splice.kafka.internal.cluster.{ClusterClient, DescribedTopic, LogDescription}
import splice.kafka.internal.errors.{KafkaErrors, MissingRange, SkippedRows}
import splice.kafka.internal.options.TopicRecreated
import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition

/** Applies the policy for topics that were recreated under the same name (`onTopicRecreated`).
  *
  * @param newStarts
  *   the starts of partitions that are new to the query
  * @param lastEnd
  *   the last end of a partition that a broker returned
  * @param addUnread
  *   stores offsets that a restart at an older offset skips, and their position
  */
final private[internal] class Recreation(
    log: ClusterClient,
    identity: IdentityEntries,
    deletions: DeletionEntries,
    policy: TopicRecreated,
    servers: String,
    newStarts: Set[LogPartition] => Map[LogPartition, Long],
    lastEnd: LogPartition => Option[Long],
    skipped: SkippedRows,
    addUnread: (Seq[MissingRange], KafkaPosition) => Unit
) {

  import Recreation._

  // A concurrent driver may have read the offsets before a generation that it stored.
  private var own      = identity.known.renewed.map(generation => generation.topic -> generation.number).toSet
  private var warned   = false
  private var reported = Set.empty[(String, Int)]

  /** The topics in a description that are not the stored topics. */
  def others(seen: LogDescription): Set[String] =
    seen.partitions.iterator.map(_.topic).toSet.filter(isOther(_, seen))

  private def isOther(topic: String, seen: LogDescription): Boolean =
    identity.known.isOther(topic, owner(seen, topic))

  /** True if topics are still the stored topics, by their current ids. */
  def owns(topics: Set[String], now: Map[String, DescribedTopic]): Boolean = topics.forall { topic =>
    // A broker that returns no id confirms only that the topic exists.
    identity.known.owner(topic).id.forall(id => now.get(topic).exists(_.id.forall(_ == id)))
  }

  /** Applies the policy to recreated topics, and adds topics that are not in the position.
    *
    * @param at
    *   the position of the query
    * @throws splice.source.errors.SpliceException
    *   when the policy is to fail, and the query has read a topic that was recreated
    */
  def check(seen: LogDescription, at: KafkaPosition): Unit = {
    if (seen.clusterId.isEmpty && !warned) {
      warned = true
      logger.warn(
        s"The brokers at $servers return no cluster id. Splice cannot detect whether the address later points to " +
          "another cluster."
      )
    }
    val changed           = others(seen)
    val (read, forgotten) = changed.partition(at.hasTopic)
    if (read.nonEmpty && policy == TopicRecreated.Fail) fail(read, seen)
    // While this driver stores the generation of one topic, another driver may store the generation of this topic.
    read.foreach(topic => if (isOther(topic, seen)) restart(topic, seen, at))
    val back = deletions.all.map(_.topic).filter(t => !at.hasTopic(t) && seen.partitions.exists(_.topic == t)).toSet
    (forgotten ++ back).foreach(topic => if (back(topic) || isOther(topic, seen)) adopt(topic, seen))
  }

  /** Throws an error if the policy is to fail, and topics are missing because another cluster responds. */
  def rejectElsewhere(missing: Set[String], seen: LogDescription): Unit = {
    val now       = TopicOwner(seen.clusterId, None)
    val elsewhere = missing.filterNot(topic => identity.known.owner(topic).sameCluster(now))
    if (elsewhere.nonEmpty && policy == TopicRecreated.Fail) fail(elsewhere, seen)
  }

  /** The position, with each topic of a later generation at the start of that generation.
    *
    * @param exists
    *   true if a topic is subscribed to and exists; another topic is added only if the position contains it
    * @throws splice.source.errors.SpliceException
    *   when the policy is to fail, and the driver that stored the generation of another topic had not read the previous
    *   topic, or had read more of it
    */
  def apply(at: KafkaPosition, exists: String => Boolean): KafkaPosition =
    identity.known.renewed.foldLeft(at) { (position, generation) =>
      val topic = generation.topic
      if (position.generation(topic) < generation.number && (position.hasTopic(topic) || exists(topic))) {
        if (position.isBefore(generation.was, topic)) abandon(topic, position, generation)
        position.renewed(topic, generation.number, generation.starts.offsets)
      } else position
    }

  private def fail(topics: Set[String], seen: LogDescription): Nothing = {
    val was = topics.flatMap(t => identity.known.owner(t).cluster)
    (was.find(id => seen.clusterId.exists(_ != id)), seen.clusterId) match {
      case (Some(before), Some(now)) => throw KafkaErrors.otherCluster(before, now, servers)
      case _                         => throw KafkaErrors.recreated(topics)
    }
  }

  private def restart(topic: String, seen: LogDescription, at: KafkaPosition): Unit = {
    val was = KafkaPosition.of(at.of(topic))
    val now = identity.renew(topic, owner(seen, topic), was)(KafkaPosition.of(log.earliest(partitions(seen, topic))))
    warn(topic, was, now)
  }

  /** Reports, once per generation, the unread records of a topic that were not reported when its generation was stored.
    * The reason is a restart at an older offset, or another driver. If two drivers use one checkpoint, the slower driver
    * does not detect that the other driver has read the topic.
    */
  private def abandon(topic: String, at: KafkaPosition, now: Generation): Unit = {
    val isReturned = now.owner.isSame(identity.known.owner(topic, now.number - 1))
    if (!isReturned && policy == TopicRecreated.Fail) throw KafkaErrors.recreated(Seq(topic))
    if (!reported(topic -> now.number)) {
      if (isReturned) warnOfReturn(topic, at, now) else warn(topic, KafkaPosition.of(at.of(topic)), now)
      reported += topic -> now.number
    }
  }

  private def warnOfReturn(topic: String, at: KafkaPosition, now: Generation): Unit = {
    val unread = at.of(topic).toSeq.flatMap { case (p, offset) =>
      now.starts.get(p).filter(offset < _).map(start => MissingRange(p, offset, Some(start)))
    }
    if (own(topic -> now.number)) addUnread(unread, at)
    skipped.add(unread)
    logger.warn(
      s"The query starts at ${KafkaPosition.of(at.of(topic)).json}, before the removal of topic $topic, which exists " +
        s"again. The query continues at ${now.starts.json}. Unread records: ${MissingRange.counted(unread)}."
    )
  }

  private def warn(topic: String, was: KafkaPosition, now: Generation): Unit = {
    val unread = was.offsets.toSeq.map { case (p, offset) => MissingRange(p, offset, lastEnd(p).filter(_ >= offset)) }
    skipped.add(unread)
    logger.warn(
      s"${KafkaErrors.recreated(Seq(topic)).text} 'onTopicRecreated' is 'restart', so Splice reads the topic from the " +
        s"beginning: ${now.starts.json}. Unread records of the previous topic: ${MissingRange.counted(unread)}."
    )
  }

  /** Adds a topic that is not in the position. The same topic continues at its old position, and another topic starts
    * as a new topic.
    */
  private def adopt(topic: String, seen: LogDescription): Unit = {
    val current  = owner(seen, topic)
    val known    = identity.known
    val left     = deletions.of(topic).map(_.at)
    val existing = partitions(seen, topic)
    // The driver may have stopped between the two entries.
    val isStored = known.generation(topic, known.latest(topic)).exists(g => left.contains(g.was) && g.owner.is(current))
    if (!isStored) {
      val next = identity.renew(topic, current, left.getOrElse(KafkaPosition.Empty)) {
        val same = left.filter(at => current.isSame(known.owner(topic, at.generation(topic))))
        // Also the offsets of partitions that the response lacks.
        val kept = same.fold(KafkaPosition.Empty)(_.only(topic))
        KafkaPosition.of(newStarts(existing -- kept.offsets.keySet) ++ kept.offsets)
      }
      own += topic -> next.number
    }
    deletions.restore(topic)
  }

  private def owner(seen: LogDescription, topic: String): TopicOwner =
    TopicOwner(seen.clusterId, seen.topicIds.get(topic))

  private def partitions(seen: LogDescription, topic: String): Set[LogPartition] =
    seen.partitions.iterator.filter(_.topic == topic).toSet
}

private[internal] object Recreation {
  private val logger = LoggerFactory.getLogger(classOf[Recreation])
}
