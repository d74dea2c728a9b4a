// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.change

import java.time.Instant

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode

import splice.kafka.dynamic.split.ClusterTopic
import splice.kafka.dynamic.{KafkaCluster, KafkaStream}
import splice.kafka.split.KafkaPosition
import splice.source.{Json, VersionedEntry}

/** [[AppliedMetadata]] as lines: a head, then one for each cluster, stream, and topic that is special. */
private[change] object AppliedMetadataFormat {

  def write(applied: AppliedMetadata): Seq[String] = {
    val head = Seq("number" -> Json.number(applied.number.toLong)) ++
      applied.generation.map("generation" -> Json.number(_)) ++
      applied.at.map(at => "at" -> Json.text(at.toString))
    val clusters = applied.clusters.values.map(c =>
      Seq("cluster" -> Json.text(c.name), "properties" -> Json.obj(texts(c.properties): _*))
    )
    val streams = applied.streams.values.map { s =>
      val topics = s.topics.toSeq.map { case (cluster, names) => cluster -> Json.array(names.toSeq.map(Json.text)) }
      Seq("stream" -> Json.text(s.name), "topics" -> Json.obj(topics: _*)) ++
        s.cutover.map("cutover" -> CutoverFormat.write(_))
    }
    val leaving = applied.leaving.map { case (topic, l) =>
      named("leaving", topic) ++ Seq("of" -> Json.text(l.stream), "since" -> Json.text(l.since.toString)) ++
        l.unavailable.map(t => "unavailable" -> Json.text(t.toString)) ++ plan(l.plan)
    }
    val tombstones = applied.tombstones.map { case (topic, t) =>
      named("tombstone", topic) ++ Seq("of" -> Json.text(t.stream), "since" -> Json.text(t.since.toString)) ++
        t.position.map("position" -> position(_))
    }
    val waiting = applied.waiting.flatMap { case (topic, all) =>
      all.toSeq.sorted.map(one =>
        named("waiting", topic) ++ Seq("for" -> Json.text(one.cluster), "of" -> Json.text(one.topic))
      )
    }
    val resumed = applied.resumed.map { case (topic, at) => named("resumed", topic) :+ ("position" -> position(at)) }
    val begins  = applied.begins.map { case (topic, at) => named("begins", topic) :+ ("at" -> CutoverFormat.write(at)) }
    val mapped  = applied.mapped.map { case (topic, at) => named("mapped", topic) :+ ("position" -> position(at)) }
    val lines   = Iterator(clusters, streams, leaving, tombstones, waiting, resumed, begins, mapped).flatten
    VersionedEntry.write(head, lines.map(f => Json.write(Json.obj(f: _*))).toSeq)
  }

  /** @throws splice.source.SpliceException when the lines are damaged */
  def read(entry: VersionedEntry): AppliedMetadata = {
    val nodes = entry.nodes
    if (!nodes.forall(_.isObject)) entry.corrupt("a line is not a JSON object")
    Try(applied(entry, nodes)).getOrElse(entry.corrupt("a field is missing, or is not a number, time or position"))
  }

  private def applied(head: VersionedEntry, nodes: Seq[JsonNode]): AppliedMetadata = {
    def all[A](kind: String)(read: JsonNode => A): Seq[A] = nodes.filter(_.has(kind)).map(read)
    AppliedMetadata(
      head.long("number").toInt,
      head.find("generation").map(_.asLong),
      SortedMap.from(all("cluster") { node =>
        val properties = Json.fields(node.get("properties")).map { case (k, v) => k -> v.asText }
        text(node, "cluster") -> KafkaCluster(text(node, "cluster"), SortedMap.from(properties))
      }),
      SortedMap.from(all("stream") { node =>
        val topics = Json.fields(node.get("topics")).map { case (c, list) =>
          c -> SortedSet.from(Json.items(list).map(_.asText))
        }
        val cutover = Json.field(node, "cutover").map(CutoverFormat.read)
        text(node, "stream") -> KafkaStream(text(node, "stream"), SortedMap.from(topics), cutover)
      }),
      SortedMap.from(all("leaving") { n =>
        val unavailable = Json.field(n, "unavailable").map(time => Instant.parse(time.asText))
        topic(n, "leaving") -> Leaving(text(n, "of"), since(n), plan(n), unavailable)
      }),
      SortedMap.from(all("tombstone")(n =>
        topic(n, "tombstone") -> Tombstone(text(n, "of"), since(n), Json.field(n, "position").map(position))
      )),
      SortedMap.from(
        all("waiting")(n => topic(n, "waiting") -> ClusterTopic(text(n, "for"), text(n, "of"))).groupMap(_._1)(_._2)
          .map { case (waits, some) => waits -> some.toSet }
      ),
      SortedMap.from(all("resumed")(n => topic(n, "resumed") -> position(n.get("position")))),
      SortedMap.from(all("begins")(n => topic(n, "begins") -> CutoverFormat.readTime(n.get("at")))),
      SortedMap.from(all("mapped")(n => topic(n, "mapped") -> position(n.get("position")))),
      head.find("at").map(n => Instant.parse(n.asText))
    )
  }

  private def texts(some: Iterable[(String, String)]): Seq[(String, JsonNode)] =
    some.toSeq.map { case (k, v) => k -> Json.text(v) }

  private def named(kind: String, topic: ClusterTopic): Seq[(String, JsonNode)] =
    Seq(kind -> Json.text(topic.cluster), "topic" -> Json.text(topic.topic))

  private def topic(node: JsonNode, kind: String): ClusterTopic = ClusterTopic(text(node, kind), text(node, "topic"))

  private def plan(of: LeavingPlan): Seq[(String, JsonNode)] = of match {
    case LeavingPlan.Keep        => Seq("keep" -> Json.bool(true))
    case LeavingPlan.Ask         => Nil
    case LeavingPlan.Until(at)   => Seq("until" -> CutoverFormat.write(at))
    case LeavingPlan.Drain(ends) => Seq("ends" -> position(ends))
  }

  private def plan(node: JsonNode): LeavingPlan =
    if (node.has("keep")) LeavingPlan.Keep
    else if (node.has("until")) LeavingPlan.Until(CutoverFormat.readTime(node.get("until")))
    else Json.field(node, "ends").fold[LeavingPlan](LeavingPlan.Ask)(ends => LeavingPlan.Drain(position(ends)))

  private def since(node: JsonNode): Instant = Instant.parse(text(node, "since"))

  private def position(at: KafkaPosition): JsonNode = Json.text(at.json)

  private def position(node: JsonNode): KafkaPosition = KafkaPosition.read(node.asText)

  private def text(node: JsonNode, field: String): String = node.get(field).asText
}
