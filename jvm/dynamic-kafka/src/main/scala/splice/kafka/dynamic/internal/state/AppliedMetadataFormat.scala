// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.state

import java.time.{Duration, Instant}

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode

import splice.kafka.Place
import splice.kafka.dynamic.internal.split.ClusterTopic
import splice.kafka.dynamic.internal.state.TopicState._
import splice.kafka.dynamic.{KafkaCluster, KafkaStream}
import splice.kafka.internal.split.KafkaPosition
import splice.source.errors.CheckpointErrors
import splice.source.internal.entries.{Json, VersionedEntry}

/** Format of [[AppliedMetadata]]: a head line, then one line per cluster, stream and topic. A topic without a line has
  * the state `reading`. The field `after` of the first topic that waits for a set of topics contains the set. The field
  * `after` of other topics that wait for the same set contains the number of such fields before the first topic.
  */
private[splice] object AppliedMetadataFormat {

  def write(applied: AppliedMetadata): Seq[String] = {
    val head = Seq("number" -> Json.number(applied.number.toLong)) ++
      applied.generation.map("generation" -> Json.number(_)) ++
      applied.at.map(at => "at" -> Json.text(at.toString)) ++
      Option.when(applied.topicsAbandoned > 0)("topicsAbandoned" -> Json.number(applied.topicsAbandoned))
    val clusters = applied.clusters.values.map(c =>
      Seq("cluster" -> Json.text(c.name), "properties" -> Json.obj(texts(c.properties): _*)) ++
        Option.when(!c.active)("active" -> Json.bool(false)) ++
        c.maxOffsetsPerTrigger.map("maxOffsetsPerTrigger" -> Json.number(_)) ++
        c.maxBytesPerTrigger.map("maxBytesPerTrigger" -> Json.number(_)) ++
        c.credentials.map("credentials" -> Json.text(_))
    )
    val streams = applied.streams.values.map { s =>
      val topics = s.topics.toSeq.map { case (cluster, names) => cluster -> Json.array(names.toSeq.map(Json.text)) }
      Seq("stream" -> Json.text(s.name), "topics" -> Json.obj(topics: _*)) ++
        Seq("cutover" -> s.cutover, "start" -> s.start, "stop" -> s.stop).flatMap { case (field, place) =>
          place.map(field -> CutoverFormat.write(_))
        } ++
        applied.generations.get(s.name).map("generation" -> Json.number(_))
    }
    val numbers = new OncePerSet((_, number) => number)
    val topics  = applied.topics.toSeq.collect { case (topic, is) if special(is) => state(topic, is, numbers) }
    val deleted = applied.topics.keys.filter(applied.topics(_) == Gone).groupMap(_.cluster)(_.topic).map {
      case (cluster, names) =>
        Seq(
          "state"   -> Json.text(Gone.word),
          "cluster" -> Json.text(cluster),
          "topics"  -> Json.array(names.toSeq.map(Json.text))
        )
    }
    val lines = Iterator(clusters, streams, topics, deleted).flatten
    VersionedEntry.write(head, lines.map(f => Json.write(Json.obj(f: _*))).toSeq)
  }

  /** Returns true if a topic needs its own line. The line of a stream implies the state of a topic that is read and
    * waits for no other topic.
    */
  private def special(is: TopicState): Boolean = is match {
    case Reading(_, after, start, expected) => after.nonEmpty || start.nonEmpty || expected.offsets.nonEmpty
    case Gone                               => false
    case _                                  => true
  }

  private def state(topic: ClusterTopic, is: TopicState, sets: OncePerSet[Int]): Seq[(String, JsonNode)] = {
    val head =
      Seq("state" -> Json.text(is.word), "cluster" -> Json.text(topic.cluster), "topic" -> Json.text(topic.topic))
    head ++
      (is match {
        case Waiting(stream, time, before, offsets) => Seq("of" -> Json.text(stream)) ++
            time.map("at" -> CutoverFormat.write(_)) ++
            Option.when(offsets.offsets.nonEmpty)("offsets" -> position(offsets)) ++
            before.map(left => "before" -> Json.obj(state(topic, left, sets): _*))
        case Pending(waiting, since, start, stop, unavailable) =>
          Seq("waiting" -> Json.obj(state(topic, waiting, sets): _*), "since" -> Json.text(since.toString)) ++
            Seq("start" -> start, "stop" -> stop).flatMap { case (field, place) =>
              place.map(field -> CutoverFormat.write(_))
            } ++
            unavailable.map(t => "unavailable" -> Json.text(t.toString))
        case Reading(_, after, start, expected) =>
          waits(after, sets) ++ start.map("start" -> position(_)) ++ expects(expected)
        case Draining(stream, since, bound, after, expected, unavailable, abandoned, start) =>
          Seq("of" -> Json.text(stream), "since" -> Json.text(since.toString)) ++
            unavailable.map(t => "unavailable" -> Json.text(t.toString)) ++ write(bound) ++ waits(after, sets) ++
            expects(expected) ++ lost(abandoned) ++ start.map("start" -> position(_))
        case Removed(stream, since, left, expected, abandoned) =>
          Seq("of" -> Json.text(stream), "since" -> Json.text(since.toString), "position" -> position(left)) ++
            expects(expected) ++ lost(abandoned)
        case Gone => Nil
      })
  }

  /** Parses an entry.
    *
    * @throws splice.source.errors.SpliceException
    *   if the lines are damaged, or contain a cluster with a new name
    */
  def read(entry: VersionedEntry): AppliedMetadata = {
    val nodes = entry.nodes
    if (!nodes.forall(_.isObject)) entry.corrupt("a line is not a JSON object")
    nodes.find(_.has("scope")).foreach(node =>
      throw CheckpointErrors.changed(
        s"the metadata renamed the cluster ${node.get("scope")} to ${node.get("cluster")}. " +
          "Splice does not support new names of clusters"
      )
    )
    Try(applied(entry, nodes)).getOrElse(entry.corrupt("a field is missing, or is not a number, time or position"))
  }

  private def applied(head: VersionedEntry, nodes: Seq[JsonNode]): AppliedMetadata = {
    def all[A](kind: String)(read: JsonNode => A): Seq[A] = nodes.filter(_.has(kind)).map(read)
    val clusters                                          = SortedMap.from(all("properties")(cluster))
    val streams                                           = SortedMap.from(all("stream") { node =>
      val topics = Json.fields(node.get("topics")).map { case (c, list) =>
        c -> SortedSet.from(Json.items(list).map(_.asText))
      }
      def place(field: String) = Json.field(node, field).map(CutoverFormat.readPlace)
      text(node, "stream") -> KafkaStream(
        text(node, "stream"),
        SortedMap.from(topics),
        Json.field(node, "cutover").map(CutoverFormat.read),
        place("start"),
        place("stop")
      )
    })
    val read = AppliedMetadata.streamOf(streams.values).map { case (topic, stream) => topic -> Reading(stream) }
    val (deletedLines, states) = nodes.filter(_.has("state")).partition(text(_, "state") == Gone.word)
    val sets                   = states.map(Json.field(_, "after").filter(_.isObject).map(topics))
    val known                  = sets.flatten.toVector
    val special                = states.zip(sets).map { case (node, set) =>
      def after = set.orElse(Json.field(node, "after").map(number => known(number.asText.toInt)))
      topic(node) -> state(node, read.get(topic(node)).map(_.stream), after.getOrElse(SortedSet.empty[ClusterTopic]))
    }
    val deleted = for (node <- deletedLines; name <- Json.items(node.get("topics")))
      yield ClusterTopic(text(node, "cluster"), name.asText) -> Gone
    AppliedMetadata(
      head.long("number").toInt,
      head.find("generation").map(_.asLong),
      clusters,
      streams,
      (read: SortedMap[ClusterTopic, TopicState]) ++ special ++ deleted,
      SortedMap.from(for (node <- nodes if node.has("stream"); generation <- Json.field(node, "generation"))
        yield text(node, "stream") -> generation.asLong),
      head.find("at").map(n => Instant.parse(n.asText)),
      head.find("topicsAbandoned").fold(0L)(_.asLong)
    )
  }

  private def cluster(node: JsonNode): (String, KafkaCluster) = {
    val properties = Json.fields(node.get("properties")).map { case (k, v) => k -> v.asText }
    text(node, "cluster") ->
      KafkaCluster(
        text(node, "cluster"),
        SortedMap.from(properties),
        Json.field(node, "active").forall(_.asBoolean),
        Json.field(node, "maxOffsetsPerTrigger").map(_.asLong),
        Json.field(node, "maxBytesPerTrigger").map(_.asLong),
        Json.field(node, "credentials").map(_.asText)
      )
  }

  private def state(
      node: JsonNode,
      stream: Option[String],
      after: SortedSet[ClusterTopic]
  ): TopicState = text(node, "state") match {
    case "waiting" =>
      val before = Json.field(node, "before").map(state(_, None, SortedSet.empty[ClusterTopic])).collect {
        case left: Left => left
      }
      Waiting(
        text(node, "of"),
        Json.field(node, "at").map(CutoverFormat.readTime),
        before,
        Json.field(node, "offsets").fold(KafkaPosition.Empty)(position)
      )
    case "pending" =>
      val waiting = Json.field(node, "waiting").map(state(_, None, SortedSet.empty[ClusterTopic])).collect {
        case is: Waiting => is
      }
      Pending(
        waiting.getOrElse(throw new NoSuchElementException("waiting")),
        since(node),
        Json.field(node, "start").map(CutoverFormat.readPlace),
        Json.field(node, "stop").map(CutoverFormat.readPlace),
        unavailable(node)
      )
    case "reading" =>
      Reading(stream.getOrElse(text(node, "of")), after, start(node), expected(node))
    case "draining" =>
      Draining(
        text(node, "of"),
        since(node),
        bound(node),
        after,
        expected(node),
        unavailable(node),
        abandoned(node),
        start(node)
      )
    case "removed" =>
      Removed(text(node, "of"), since(node), position(node.get("position")), expected(node), abandoned(node))
    case "gone" => Gone
  }

  private def lost(abandoned: Option[Abandoned]): Seq[(String, JsonNode)] = abandoned.toSeq.flatMap { rows =>
    rows.rows.map(n => "rows" -> Json.number(n)).toSeq :+ ("abandoned" -> Json.text(rows.text))
  }

  private def abandoned(node: JsonNode): Option[Abandoned] =
    Json.field(node, "abandoned").map(text => Abandoned(Json.field(node, "rows").map(_.asLong), text.asText))

  private def texts(pairs: Iterable[(String, String)]): Seq[(String, JsonNode)] =
    pairs.toSeq.map { case (k, v) => k -> Json.text(v) }

  private def waits(after: SortedSet[ClusterTopic], sets: OncePerSet[Int]): Option[(String, JsonNode)] = {
    def topics = after.toSeq.groupMap(_.cluster)(t => Json.text(t.topic)).toSeq.sortBy(_._1).map {
      case (cluster, names) => cluster -> Json.array(names)
    }
    val isNew = !sets.contains(after)
    Option.when(after.nonEmpty)(sets(after)).map(number =>
      "after" -> (if (isNew) Json.obj(topics: _*) else Json.number(number.toLong))
    )
  }

  private def topics(node: JsonNode): SortedSet[ClusterTopic] = SortedSet.from(for {
    (cluster, list) <- Json.fields(node)
    name            <- Json.items(list)
  } yield ClusterTopic(cluster, name.asText))

  private def expects(start: KafkaPosition): Option[(String, JsonNode)] =
    Option.when(start.offsets.nonEmpty)("expected" -> position(start))

  private def expected(node: JsonNode): KafkaPosition =
    Json.field(node, "expected").fold(KafkaPosition.Empty)(position)

  private def topic(node: JsonNode): ClusterTopic = ClusterTopic(text(node, "cluster"), text(node, "topic"))

  private def write(bound: Bound): Seq[(String, JsonNode)] = bound match {
    case Bound.Requested      => Nil
    case Bound.At(time, ends) =>
      Seq("until" -> CutoverFormat.write(time)) ++ Option.when(ends.offsets.nonEmpty)("ends" -> position(ends))
    case Bound.Ends(ends, isSet) => Seq("ends" -> position(ends)) ++ Option.when(isSet)("set" -> Json.bool(true))
    case Bound.Within(limit)     => write(limit) :+ ("asked" -> Json.bool(true))
  }

  private def bound(node: JsonNode): Bound = {
    val ends  = Json.field(node, "ends").map(position)
    val limit =
      if (node.has("until"))
        Bound.At(CutoverFormat.readTime(node.get("until")), ends.getOrElse(KafkaPosition.Empty))
      else ends.fold[Bound](Bound.Requested)(Bound.Ends(_, node.has("set")))
    if (node.has("asked")) Bound.Within(limit) else limit
  }

  private def start(node: JsonNode): Option[KafkaPosition] = Json.field(node, "start").map(position)

  private def unavailable(node: JsonNode): Option[Instant] =
    Json.field(node, "unavailable").map(time => Instant.parse(time.asText))

  private def since(node: JsonNode): Instant = Instant.parse(text(node, "since"))

  private def position(at: KafkaPosition): JsonNode = Json.text(at.json)

  private def position(node: JsonNode): KafkaPosition = KafkaPosition.read(node.asText)

  private def text(node: JsonNode, field: String): String = node.get(field).asText
}

/** Format of a [[splice.kafka.Place]] in a line of [[AppliedMetadataFormat]]. */
private[splice] object CutoverFormat {

  def write(place: Place): JsonNode = place match {
    case Place.Earliest              => Json.text("earliest")
    case Place.Latest                => Json.text("latest")
    case Place.At(time, lateness, _) =>
      Json.obj("time" -> Json.text(time.toString), "lateness" -> Json.text(lateness.toString))
    case Place.Offsets(clusters) =>
      val all = clusters.toSeq.map { case (name, offsets) => name -> Json.text(KafkaPosition(offsets).json) }
      Json.obj("offsets" -> Json.obj(all: _*))
    case other => throw new IllegalArgumentException(s"$other is not a place of a document")
  }

  def readPlace(node: JsonNode): Place = node.asText match {
    case "earliest" => Place.Earliest
    case "latest"   => Place.Latest
    case _          => read(node)
  }

  def read(node: JsonNode): Place = Json.field(node, "offsets").fold[Place](readTime(node)) { all =>
    Place.Offsets(SortedMap.from(Json.fields(all).map { case (name, offsets) =>
      name -> KafkaPosition.read(offsets.asText).offsets
    }))
  }

  def readTime(node: JsonNode): Place.At =
    Place.At(Instant.parse(node.get("time").asText), Duration.parse(node.get("lateness").asText))
}
