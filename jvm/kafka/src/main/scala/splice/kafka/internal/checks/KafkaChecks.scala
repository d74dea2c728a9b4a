// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.checks

import scala.util.{Try, Using}

import splice.kafka.internal.bounds.{SkipEntries, SkippedRanges}
import splice.kafka.internal.cluster.{ClusterClient, KafkaClusterClient}
import splice.kafka.internal.identity.{DeletionEntries, Identities, IdentityEntries, TopicOwner}
import splice.kafka.internal.options.KafkaSettings
import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition
import splice.source.errors.SpliceException
import splice.source.internal.checks.{CheckpointFinding, StoredOffset, StoredSource}
import splice.source.options.SourceOptions

/** Checks the positions of a Kafka source in a checkpoint: their order, their topics' generations, and the offsets that
  * the brokers still have.
  */
private[splice] object KafkaChecks {

  def isPosition(json: String): Boolean = Try(KafkaPosition.read(json)).isSuccess

  def apply(stored: StoredSource): Seq[CheckpointFinding] = {
    val (positions, damaged) = stored.positions(KafkaPosition.read)
    val identities           = new IdentityEntries(stored.log).known
    val next                 = stored.next.toSeq.flatMap { at =>
      Try(KafkaPosition.read(at.json)).toOption.map(position => at -> identities.meant(position))
    }
    damaged ++ StoredSource.order(positions) ++
      positions.lastOption.toSeq.flatMap { case (at, position) => generations(stored, at, position, identities) } ++
      (if (stored.kafka.isEmpty) Nil
       else next.flatMap { case (at, position) => reached(at, position, identities, stored) }) ++
      next.flatMap { case (at, position) => skipped(at, position, new SkipEntries(stored.log).known) }
  }

  /** Returns one fact per partition whose position is before a stored skip. Splice continues at the end of the skip. */
  private def skipped(at: StoredOffset, position: KafkaPosition, skips: SkippedRanges) =
    position.offsets.toSeq.flatMap { case (partition, offset) =>
      skips.of(partition, position.generation(partition.topic)).filter(offset < _.until).map { skip =>
        CheckpointFinding(
          s"partition $partition",
          s"${at.file} continues at offset $offset, and the entry skips-<n> skips the offsets ${skip.from} to ${skip.until -
              1}.",
          "The query does not read these offsets. To read the offsets, start with a new checkpoint location.",
          isProblem = false
        )
      }
    }

  private def reached(at: StoredOffset, position: KafkaPosition, known: Identities, stored: StoredSource) =
    try {
      val deleted = new DeletionEntries(stored.log)
      ofBrokers(at, position, known, stored.kafka).map { found =>
        val topic = found.where.stripPrefix("topic ")
        if (deleted.of(topic).isEmpty) found
        else found.copy(what = s"${found.what} The query knows the deletion.", isProblem = false)
      }
    } catch {
      case e: SpliceException if !e.condition.startsWith("SPLICE_CHECKPOINT.") =>
        Seq(CheckpointFinding("brokers", e.text, "Make the brokers available to the command, or omit --servers."))
    }

  private def generations(stored: StoredSource, at: StoredOffset, position: KafkaPosition, known: Identities) =
    position.generations.toSeq.filter { case (topic, number) => known.generation(topic, number).isEmpty }.map {
      case (topic, number) => CheckpointFinding.missing(
          stored.file("generation-<n>"),
          s"${at.file} has generation $number of topic $topic, and no side-log entry describes this generation."
        )
    }

  private def ofBrokers(at: StoredOffset, position: KafkaPosition, known: Identities, properties: Map[String, String]) =
    if (position.topics.isEmpty) Nil
    else {
      val options = properties.map { case (key, value) => s"kafka.$key" -> value } +
        ("subscribe" -> position.topics.toSeq.sorted.mkString(","))
      val settings = KafkaSettings(SourceOptions(options))
      Using.resource(new KafkaClusterClient(settings, "checkpoint"))(held(at, position, known, _))
    }

  /** Compares a position with the offsets in the log. */
  private[checks] def held(
      at: StoredOffset,
      position: KafkaPosition,
      known: Identities,
      log: ClusterClient
  ): Seq[CheckpointFinding] = {
    val seen      = log.describe()
    val missing   = position.topics.diff(seen.partitions.map(_.topic).toSet)
    val recreated = (position.topics -- missing).filter { topic =>
      val owner = Try(known.owner(topic, position.generation(topic))).getOrElse(TopicOwner(None, None))
      !owner.is(TopicOwner(seen.clusterId, seen.topicIds.get(topic)))
    }
    val compared = position.offsets.filterNot { case (p, _) => missing(p.topic) || recreated(p.topic) }
    val existing = compared.keySet.toSet.intersect(seen.partitions.toSet)
    val earliest = log.earliest(existing)
    val ends     = log.ends(existing)
    missing.toSeq.sorted.map(deletedTopic(at, _)) ++ recreated.toSeq.sorted.map(otherTopic(at, _)) ++
      compared.toSeq.flatMap { case (partition, offset) =>
        (earliest.get(partition), ends.get(partition)) match {
          case (Some(first), _) if offset < first => Some(removed(at, partition, offset, first))
          case (_, Some(end)) if offset > end     => Some(beyond(at, partition, offset, end))
          case (Some(_), Some(_))                 => None
          case _                                  => Some(deletedPartition(at, partition))
        }
      }
  }

  private def deletedTopic(at: StoredOffset, topic: String) = CheckpointFinding(
    s"topic $topic",
    s"The brokers do not have the topic, which is in ${at.file}.",
    "Create the topic again if records must follow. 'onTopicRemoved' sets the reaction of the query."
  )

  private def otherTopic(at: StoredOffset, topic: String) = CheckpointFinding(
    s"topic $topic",
    s"The brokers have another topic of this name than ${at.file}: the topic was recreated, or the address is of another cluster.",
    "Check the address. 'onTopicRecreated' sets the reaction of the query to a recreated topic."
  )

  private def deletedPartition(at: StoredOffset, partition: LogPartition) = CheckpointFinding(
    s"partition $partition",
    s"The brokers do not have the partition, which is in ${at.file}.",
    "Check whether the topic was recreated with fewer partitions."
  )

  private def removed(at: StoredOffset, partition: LogPartition, offset: Long, first: Long) = CheckpointFinding(
    s"partition $partition",
    s"${at.file} continues at offset $offset, and the first offset of the brokers is $first: ${first - offset} offsets are no longer available.",
    "The records are lost unless another copy has them. Set failOnDataLoss=false or onOutOfRange, or start a new checkpoint with startingOffsets."
  )

  private def beyond(at: StoredOffset, partition: LogPartition, offset: Long, end: Long) = CheckpointFinding(
    s"partition $partition",
    s"${at.file} continues at offset $offset, and the end of the partition is $end.",
    "Check the address and whether the partition lost records. Then start a new checkpoint with startingOffsets."
  )
}
