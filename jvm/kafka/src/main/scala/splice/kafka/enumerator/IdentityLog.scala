// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import scala.collection.immutable.SortedMap

import splice.kafka.split.KafkaPosition
import splice.source.{Json, NumberedEntries, SideLog, VersionedEntry}

/** The identities of the cluster and of topics. A topic that was recreated under its old name has another id.
  *
  * Kafka's clients do not notice that: they continue at the old offset of the new topic. A topic that is read nevertheless is of a
  * next [[Generation]], which is durable before an offset depends on it.
  */
final private[splice] class IdentityLog(log: SideLog) {

  private val identities  = new NumberedEntries(log, "identity")(LogIdentity.read)
  private val generations = new NumberedEntries(log, "generation")(Generation.read)

  private var all =
    generations.all.foldLeft(identities.all.foldLeft(Identities())(_.including(_)))(_.including(_))

  /** What is durable. */
  def known: Identities = all

  /** Stores the owners of topics that were not known before. */
  def note(seen: LogDescription): Unit = {
    def isNew(topic: String) = all.latest(topic) == 0 && all.first.get(topic).forall(_.id.isEmpty)
    val topics               = seen.topicIds.filter { case (topic, _) => isNew(topic) }
    if (topics.nonEmpty || (all.cluster.isEmpty && seen.clusterId.nonEmpty)) {
      val now = LogIdentity(if (all.cluster == seen.clusterId) None else seen.clusterId, topics)
      all = all.including(identities.append(now.lines))
    }
  }

  /** Begins a topic's next generation: durable when this returns.
    *
    * @param was
    *   the topic's offsets in the generation before
    * @param starts
    *   called once at most: the starts of the partitions that exist
    */
  def renew(topic: String, owner: Owner, was: KafkaPosition)(starts: => KafkaPosition): Generation = {
    lazy val first = starts
    // Another driver may have created an entry of this number, for another topic or for this one.
    generations.appendUntil(Generation(topic, all.latest(topic) + 1, owner, was, first).lines) { (_, created) =>
      all = all.including(created)
    }(_.topic == topic)
  }
}

/** A cluster's id and topics' ids. */
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
