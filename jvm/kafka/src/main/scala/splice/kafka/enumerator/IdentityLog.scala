// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import scala.collection.immutable.SortedMap

import splice.kafka.KafkaErrors
import splice.source.{CheckpointErrors, Json, SideLog}

/** Which cluster and which topics the checkpoint's offsets belong to. A topic that was made again under its old name has another id.
  *
  * Kafka's clients do not notice that: they go on at the old offset of the new topic.
  */
final private[splice] class IdentityLog(log: SideLog, servers: String) {

  private val Prefix = "identity-"

  private var entries: Vector[LogIdentity] =
    log.keys(Prefix).flatMap(key => log.get(key).map(lines => LogIdentity.read(key, lines))).toVector

  private def known: LogIdentity = entries.foldLeft(LogIdentity(None, SortedMap.empty))(_ ++ _)

  /** Holds the cluster to what was seen before, and writes down what is new.
    *
    * @throws splice.source.SpliceException
    *   when it is another cluster, or a topic was created again
    */
  def check(seen: LogDescription): Unit = {
    val before = known
    for (was <- before.clusterId; is <- seen.clusterId if was != is) throw KafkaErrors.otherCluster(was, is, servers)
    val again = seen.topicIds.filter { case (topic, id) => before.topicIds.get(topic).exists(_ != id) }
    if (again.nonEmpty) throw KafkaErrors.recreated(again.keys)
    val now  = LogIdentity(seen.clusterId, seen.topicIds)
    val more = LogIdentity(if (before.clusterId.isEmpty) now.clusterId else None, now.topicIds -- before.topicIds.keys)
    if (more.clusterId.nonEmpty || more.topicIds.nonEmpty) {
      val key = f"$Prefix${entries.size}%08d"
      entries :+= LogIdentity.read(key, log.getOrCreate(key)(more.lines))
    }
  }
}

/** A cluster's id and topics' ids. */
final private[splice] case class LogIdentity(clusterId: Option[String], topicIds: SortedMap[String, String]) {

  def ++(more: LogIdentity): LogIdentity = LogIdentity(clusterId.orElse(more.clusterId), topicIds ++ more.topicIds)

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
