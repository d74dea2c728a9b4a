// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.identity

import scala.collection.immutable.SortedMap

import splice.kafka.internal.cluster.LogDescription
import splice.kafka.internal.split.KafkaPosition
import splice.source.internal.entries.{Json, NumberedEntries, VersionedEntry}
import splice.source.runtime.SideLog

/** The identities of the cluster and of topics. A topic that was recreated under the same name has another id.
  *
  * Kafka clients do not detect the recreation. The clients continue at the old offset in the new topic. If the query
  * continues to read the topic, a new [[Generation]] is stored before an offset depends on the generation.
  *
  * @param hasGenerations
  *   true if each position stores the generations of its topics ([[Identities]])
  */
final private[kafka] class IdentityEntries(log: SideLog, hasGenerations: Boolean = false) {

  private val identities  = new NumberedEntries(log, "identity")(LogIdentity.read)
  private val generations = new NumberedEntries(log, "generation")(Generation.read)

  private var all =
    generations.all.foldLeft(
      identities.all.foldLeft(Identities(hasGenerations = hasGenerations))(_.including(_))
    )(_.including(_))

  /** The identities that are durable. */
  def known: Identities = all

  /** Stores the owners of topics that have no stored owner. */
  def note(seen: LogDescription): Unit = {
    def isNew(topic: String) = all.latest(topic) == 0 && all.first.get(topic).forall(_.id.isEmpty)
    val topics               = seen.topicIds.filter { case (topic, _) => isNew(topic) }
    if (topics.nonEmpty || (all.cluster.isEmpty && seen.clusterId.nonEmpty)) {
      val now = LogIdentity(if (all.cluster == seen.clusterId) None else seen.clusterId, topics)
      all = all.including(identities.append(now.lines))
    }
  }

  /** Begins the next generation of a topic. The generation is durable when the method returns.
    *
    * @param was
    *   the offsets of the topic in the previous generation
    * @param starts
    *   the starts of the existing partitions; evaluated at most once
    */
  def renew(topic: String, owner: TopicOwner, was: KafkaPosition)(starts: => KafkaPosition): Generation = {
    lazy val first = starts
    // Another driver may have created an entry with this number, for this topic or for another topic.
    generations.appendUntil(Generation(topic, all.latest(topic) + 1, owner, was, first).lines) { (_, created) =>
      all = all.including(created)
    }(_.topic == topic)
  }
}

/** The id of a cluster and the ids of topics. */
final private[splice] case class LogIdentity(clusterId: Option[String], topicIds: SortedMap[String, String]) {

  def lines: Seq[String] = {
    val topics = Json.obj(topicIds.toSeq.map { case (topic, id) => topic -> Json.text(id) }: _*)
    VersionedEntry.write(clusterId.map("cluster" -> Json.text(_)).toSeq :+ ("topics" -> topics): _*)
  }
}

private[splice] object LogIdentity {

  def read(entry: VersionedEntry): LogIdentity = LogIdentity(
    entry.find("cluster").map(_.asText),
    SortedMap.from(Json.fields(entry("topics")).map { case (topic, id) => topic -> id.asText })
  )
}

/** A generation of a topic after the first generation. A topic that was recreated under the same name begins a new
  * generation.
  *
  * @param was
  *   the position in the previous generation; without partitions if the position was removed
  * @param starts
  *   the starts of the partitions that existed when the generation was detected
  */
final private[splice] case class Generation(
    topic: String,
    number: Int,
    owner: TopicOwner,
    was: KafkaPosition,
    starts: KafkaPosition
) {

  def lines: Seq[String] = VersionedEntry.write(
    Seq("topic" -> Json.text(topic), "number" -> Json.number(number.toLong)) ++
      owner.cluster.map("cluster" -> Json.text(_)) ++
      owner.id.map("id" -> Json.text(_)),
    Seq(was.json, starts.json)
  )
}

private[splice] object Generation {

  def read(entry: VersionedEntry): Generation = entry.lines match {
    case Seq(was, starts) => Generation(
        entry.text("topic"),
        entry.long("number").toInt,
        TopicOwner(entry.find("cluster").map(_.asText), entry.find("id").map(_.asText)),
        KafkaPosition.read(was),
        KafkaPosition.read(starts)
      )
    case lines => entry.corrupt(s"the entry has ${lines.size + 1} lines instead of 3")
  }
}

/** The cluster and the topic of offsets, by the ids that brokers return. */
final private[splice] case class TopicOwner(cluster: Option[String], id: Option[String]) {

  /** True if this topic and `other` may be the same topic. Compares ids only if both topics have ids. */
  def is(other: TopicOwner): Boolean = !TopicOwner.differ(cluster, other.cluster) && !TopicOwner.differ(id, other.id)

  /** True if both topics have ids and are the same topic. */
  def isSame(other: TopicOwner): Boolean = id.nonEmpty && other.id.nonEmpty && is(other)

  def sameCluster(other: TopicOwner): Boolean = !TopicOwner.differ(cluster, other.cluster)
}

private[splice] object TopicOwner {

  private def differ(a: Option[String], b: Option[String]): Boolean = a.exists(x => b.exists(_ != x))
}
