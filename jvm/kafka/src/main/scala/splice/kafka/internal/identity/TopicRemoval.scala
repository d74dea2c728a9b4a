// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.identity

import java.time.{Clock, Instant}

import scala.collection.immutable.SortedMap
import scala.util.Try

import splice.kafka.internal.cluster.LogDescription
import splice.kafka.internal.errors.{DataLoss, MissingRange, SkippedRows}
import splice.kafka.internal.options.{Subscription, TopicRemoved}
import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition
import splice.source.internal.entries.{Json, NumberedEntries, VersionedEntry}
import splice.source.runtime.SideLog

/** Applies the policy for topics that no longer exist (`onTopicRemoved`).
  *
  * @param lastEnd
  *   the last end of a partition that a broker returned
  * @param subscription
  *   the subscription; a pattern does not match topics that the user must not describe, because brokers do not list
  *   them
  * @param addUnread
  *   stores offsets that a restart at an older offset skips, and their position
  */
final private[identity] class TopicRemoval(
    deletions: DeletionEntries,
    policy: TopicRemoved,
    clock: Clock,
    lastEnd: LogPartition => Option[Long],
    subscription: Subscription,
    skipped: SkippedRows,
    addUnread: (Seq[MissingRange], KafkaPosition) => Unit
) {

  private val loss = DataLoss(policy == TopicRemoved.Fail, skipped)

  // A concurrent driver may have read the offsets before a deletion that it stored.
  private var earlier = deletions.all.map(_.topic).toSet

  /** True if the deletion of a topic was reported before, and the query continues without the topic. */
  def isKnown(topic: String): Boolean = policy != TopicRemoved.Fail && deletions.of(topic).nonEmpty

  /** The position without the topics that the policy removes. With `keep`, a topic is removed some time after its
    * deletion.
    */
  def apply(at: KafkaPosition): KafkaPosition =
    deletions.all.filter(forgotten).foldLeft(at)((position, deletion) => position.without(deletion.topic))

  /** Restores topics that exist again and are still in the position. */
  def back(seen: LogDescription, at: KafkaPosition): Unit = {
    val returned = deletions.all.map(_.topic).filter(t => at.hasTopic(t) && seen.partitions.exists(_.topic == t)).toSeq
    returned.foreach(deletions.restore)
  }

  /** Reports records that can no longer be read.
    *
    * @throws splice.source.errors.SpliceException
    *   when the policy is to fail
    */
  def report(lost: Set[LogPartition], seen: LogDescription, at: KafkaPosition): Unit = {
    val ranges = lost.toSeq.sorted.map { p =>
      val offset = at.get(p).getOrElse(0L)
      MissingRange(p, offset, lastEnd(p).filter(_ >= offset))
    }
    loss.report(
      s"the topic or partition no longer exists$hidden; unread: ${MissingRange.counted(ranges)}",
      ranges
    )
    // A topic cannot lose some of its partitions. A broker that returns fewer partitions has outdated metadata.
    val topics = lost.map(_.topic).filterNot(topic => seen.partitions.exists(_.topic == topic))
    topics.foreach(topic => deletions.delete(topic, at.only(topic), clock.instant()))
  }

  /** Reports, once per topic, the records between a position and the stored deletion of a topic that the policy removes
    * from the position. The reason is a restart at an older offset.
    */
  def reportOlder(at: KafkaPosition): Unit =
    deletions.all.filter(d => earlier(d.topic) && at.hasTopic(d.topic) && forgotten(d)).foreach { deletion =>
      val last   = deletion.at
      val unread = at.of(deletion.topic).toSeq.flatMap { case (p, offset) =>
        last.get(p).filter(end => offset < end && at.generation(p.topic) == last.generation(p.topic))
          .map(end => MissingRange(p, offset, Some(end)))
      }
      if (unread.nonEmpty) {
        addUnread(unread, at)
        loss.report("the query starts before the stored position of a deleted topic", unread)
      }
      earlier -= deletion.topic
    }

  private def hidden: String = subscription match {
    case _: Subscription.TopicPattern => ", or the user is no longer authorized to describe the topic"
    case _                            => ""
  }

  private def forgotten(deletion: DeletionEntries.Deletion): Boolean = policy match {
    case TopicRemoved.Drop        => true
    case TopicRemoved.Drain(time) => deletion.since.exists(since => !clock.instant().isBefore(since.plus(time)))
    case TopicRemoved.Fail        => false
  }
}

/** Entries of topics that were read and then deleted at the brokers, with the time and the position. The last entry of
  * a topic replaces its earlier entries.
  */
final private[kafka] class DeletionEntries(log: SideLog) {

  import DeletionEntries._

  private val entries = new NumberedEntries(log, "deleted")(read)

  private var stored: SortedMap[Int, Deletion] =
    SortedMap.from(entries.numbers.iterator.map(number => number -> entries(number)))

  private var deleted = stored.valuesIterator.foldLeft(Map.empty[String, Deletion])(including)

  /** The topics that do not exist now. */
  def all: Iterable[Deletion] = deleted.values

  /** A topic's deletion, until the topic exists again. */
  def of(topic: String): Option[Deletion] = deleted.get(topic)

  /** Stores the deletion of a topic, unless it is stored already. */
  def delete(topic: String, at: KafkaPosition, now: Instant): Unit =
    if (!deleted.contains(topic)) append(Deletion(topic, at, Some(now)))

  /** Stores that a topic exists again. */
  def restore(topic: String): Unit = deleted.get(topic).foreach(deletion => append(deletion.copy(since = None)))

  private def append(deletion: Deletion): Unit = {
    // If another driver has stored the same topic and state, its entry is used.
    val _ = entries.appendUntil(deletion.lines) { (number, durable) =>
      deleted = including(deleted, durable)
      stored += number -> durable
      purge(number)
    }(durable => durable.topic == deletion.topic && durable.since.isEmpty == deletion.since.isEmpty)
  }

  /** Removes entries that have no effect, except the entry `last`. The topic of such an entry has a later entry, or
    * exists again.
    */
  private def purge(last: Int): Unit = {
    val holding  = stored.map { case (number, deletion) => deletion.topic -> number }
    val replaced = stored.collect {
      case (n, deletion) if n < last && (deletion.since.isEmpty || holding(deletion.topic) > n) => n
    }
    entries.purge(replaced)
    stored --= replaced
  }
}

private[kafka] object DeletionEntries {

  /** A deleted topic.
    *
    * @param at
    *   the position in the topic at the time of its deletion
    * @param since
    *   the time when the deletion was detected; None if the topic exists again
    */
  final case class Deletion(topic: String, at: KafkaPosition, since: Option[Instant]) {
    def lines: Seq[String] = {
      val time = since.map(instant => "since" -> Json.text(instant.toString))
      VersionedEntry.write(Seq("topic" -> Json.text(topic)) ++ time, Seq(at.json))
    }
  }

  private def including(all: Map[String, Deletion], deletion: Deletion): Map[String, Deletion] =
    if (deletion.since.isEmpty) all - deletion.topic else all.updated(deletion.topic, deletion)

  private def read(entry: VersionedEntry): Deletion = {
    val since = entry.find("since").map { time =>
      Try(Instant.parse(time.asText)).getOrElse(entry.corrupt(s"'since' is $time"))
    }
    Deletion(entry.text("topic"), KafkaPosition.read(entry.line), since)
  }
}
