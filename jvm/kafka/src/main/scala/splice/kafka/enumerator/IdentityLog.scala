// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import scala.collection.immutable.SortedMap

import splice.kafka.split.KafkaPosition
import splice.source.{CheckpointErrors, Json, SideLog}

/** Which cluster and which topics the checkpoint's offsets belong to. A topic that was made again under its old name has another id.
  *
  * Kafka's clients do not notice that: they go on at the old offset of the new topic. A topic that is read on nevertheless is
  * of a next [[Generation]], which is written down before an offset relies on it.
  */
final private[splice] class IdentityLog(log: SideLog) {

  private val Identities  = "identity-"
  private val Generations = "generation-"

  private var count                        = 0
  private var firstCluster: Option[String] = None
  private var cluster: Option[String]      = None
  private var first: Map[String, Owner]    = Map.empty

  log.keys(Identities).foreach(key => log.get(key).foreach(lines => take(LogIdentity.read(key, lines))))

  private var later: Map[String, Vector[Generation]] =
    log.keys(Generations).flatMap(key => log.get(key).map(Generation.read(key, _))).foldLeft(
      Map.empty[String, Vector[Generation]]
    )(including)

  /** Whether anything is known of any cluster. */
  def isEmpty: Boolean = count == 0

  /** The cluster's id, as it was last seen. */
  def clusterId: Option[String] = cluster

  /** The last generation of a topic; 0 for one that was never created again. */
  def latest(topic: String): Int = later.get(topic).fold(0)(_.last.number)

  /** The generations of topics that have more than one. */
  def renewed: Iterable[Generation] = later.valuesIterator.map(_.last).to(Iterable)

  def generation(topic: String, number: Int): Option[Generation] = later.get(topic).flatMap(_.find(_.number == number))

  /** Who a topic's offsets of a generation belong to, as far as it is known. */
  def owner(topic: String, number: Int): Owner =
    if (number == 0) Owner(first.get(topic).flatMap(_.cluster).orElse(firstCluster), first.get(topic).flatMap(_.id))
    else
      generation(topic, number).map(_.owner).getOrElse(
        throw CheckpointErrors.missingEntry(s"side-log entry $Generations* of topic $topic, generation $number")
      )

  /** Whether a topic is another one than its latest generation. A broker that is behind may still tell of an earlier one. */
  def isOther(topic: String, now: Owner): Boolean = {
    val last   = latest(topic)
    val behind = now.sameCluster(owner(topic, last)) && (0 until last).exists(n => owner(topic, n).is(now))
    !owner(topic, last).is(now) && !behind
  }

  /** Writes down the owners of topics that were not known before. */
  def note(seen: LogDescription): Unit = {
    val topics = seen.topicIds.filter { case (topic, _) => latest(topic) == 0 && first.get(topic).forall(_.id.isEmpty) }
    if (topics.nonEmpty || (cluster.isEmpty && seen.clusterId.nonEmpty)) {
      val key = f"$Identities$count%08d"
      val now = LogIdentity(if (cluster == seen.clusterId) None else seen.clusterId, topics)
      take(LogIdentity.read(key, log.getOrCreate(key)(now.lines)))
    }
  }

  /** Begins a topic's next generation: durable when this returns.
    *
    * @param was
    *   the topic's offsets in the generation before
    * @param starts
    *   asked once: where the partitions that there are begin
    */
  def renew(topic: String, owner: Owner, was: KafkaPosition)(starts: => KafkaPosition): Generation = {
    val number = latest(topic) + 1
    val key    = f"$Generations${later.valuesIterator.map(_.size).sum}%08d"
    val lines  = log.getOrCreate(key)(Generation(topic, number, owner, was, starts).lines)
    val made   = Generation.read(key, lines)
    later = including(later, made)
    made
  }

  /** A position as it was meant: of no generation that this log does not know, as when it was deleted. Spark's own source
    * writes no generations, so offsets beyond the last of the generations before can only be of the latest.
    */
  def meant(at: KafkaPosition): KafkaPosition = {
    val unknown = at.generations.filter { case (topic, generation) => generation > latest(topic) }
    val known   = unknown.keysIterator.foldLeft(at)((position, topic) => position.as(topic, latest(topic)))
    renewed.foldLeft(known) { (position, generation) =>
      val topic  = generation.topic
      val beyond = position.of(topic).exists { case (p, offset) => generation.was.get(p).forall(_ < offset) }
      val plain  = position.generation(topic) == 0 && !unknown.contains(topic)
      if (plain && generation.was.hasTopic(topic) && beyond) position.as(topic, generation.number) else position
    }
  }

  private def take(more: LogIdentity): Unit = {
    count += 1
    cluster = more.clusterId.orElse(cluster)
    firstCluster = firstCluster.orElse(cluster)
    first = first ++ more.topicIds.map { case (topic, id) => topic -> Owner(cluster, Some(id)) }
  }

  private def including(all: Map[String, Vector[Generation]], one: Generation): Map[String, Vector[Generation]] =
    all.updated(one.topic, all.getOrElse(one.topic, Vector.empty) :+ one)
}

/** A cluster's id and topics' ids. */
final private[splice] case class LogIdentity(clusterId: Option[String], topicIds: SortedMap[String, String]) {

  def lines: Seq[String] = {
    val topics = Json.obj(topicIds.toSeq.map { case (topic, id) => topic -> Json.text(id) }: _*)
    Seq(Json.write(Json.obj(clusterId.map("cluster" -> Json.text(_)).toSeq :+ ("topics" -> topics): _*)))
  }
}

private[splice] object LogIdentity {

  def read(key: String, lines: Seq[String]): LogIdentity = lines.flatMap(Json.read) match {
    case Seq(node) =>
      val topics = Json.field(node, "topics").map(Json.fields).getOrElse(Nil)
      LogIdentity(
        Json.field(node, "cluster").map(_.asText),
        SortedMap.from(topics.map { case (topic, id) => topic -> id.asText })
      )
    case _ => throw CheckpointErrors.corrupt(s"side-log entry $key", "it is not one JSON object")
  }
}
