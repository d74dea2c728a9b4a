// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.document

import java.time.Instant

import scala.collection.immutable.SortedSet

import org.apache.kafka.common.internals.Topic

import splice.kafka.Place
import splice.kafka.dynamic.internal.options.ClusterNames
import splice.kafka.dynamic.{KafkaCluster, KafkaStream, StreamMetadata}
import splice.kafka.internal.options.AdmissionOptions.MaxBytes
import splice.kafka.internal.options.KafkaOptions.MaxOffsets

/** Part of metadata that is not valid.
  *
  * @param path
  *   names of the fields of the part, as in a document
  */
final private[dynamic] case class MetadataProblem(path: Seq[String], reason: String)

/** Checks metadata of documents and of services: names, references between streams and clusters, client properties,
  * limits and places.
  *
  * @param rules
  *   decides which client properties and credentials the metadata may set
  */
final private[dynamic] class MetadataCheck(rules: DocumentProperties) {

  import MetadataCheck._

  /** Returns the first problem; None if the metadata is valid. */
  def problem(metadata: StreamMetadata): Option[MetadataProblem] = {
    val clusters = metadata.clusters.iterator.flatMap { case (key, cluster) => of(key, cluster) }
    val streams  = metadata.streams.iterator.flatMap { case (key, stream) => of(key, stream, metadata.clusters.keySet) }
    (clusters ++ streams).nextOption()
  }

  private def of(key: String, cluster: KafkaCluster): Iterator[MetadataProblem] = {
    def at(field: String*)                                          = MetadataProblem("clusters" +: key +: field, _)
    val KafkaCluster(name, properties, _, rows, bytes, credentials) = cluster
    val properly                                                    = properties.keysIterator.flatMap { property =>
      val path = if (property == DocumentProperties.Servers) Seq("bootstrapServers") else Seq("properties", property)
      rules.rejection(key, properties, property).map(at(path: _*))
    }
    Option.when(key != name)(at()(s"the name of the cluster is '$name'")).iterator ++
      Option.unless(ClusterNames.isValid(key))(
        at()(s"'$key' is not a valid cluster name. Use ${ClusterNames.Allowed}")
      ) ++
      Option.when(properties.get(DocumentProperties.Servers).forall(_.trim.isEmpty))(
        at("bootstrapServers")(s"the property ${DocumentProperties.Servers} is missing")
      ) ++
      Seq(MaxOffsets -> rows, MaxBytes -> bytes).flatMap { case (option, limit) =>
        limit.filter(_ < 1).map(n => at(option.key)(s"'$n' is not a valid limit. Use a whole number, 1 or more"))
      } ++
      properly ++
      credentials.flatMap(rules.rejection).map(at("credentials"))
  }

  private def of(key: String, stream: KafkaStream, clusters: collection.Set[String]): Iterator[MetadataProblem] = {
    def at(fields: String*) = MetadataProblem("streams" +: key +: fields, _)
    val topics              = stream.topics.iterator.flatMap { case (cluster, names) =>
      Option.unless(clusters(cluster))(
        at(cluster)(s"cluster '$cluster' does not exist; the clusters are ${clusters.mkString(", ")}")
      ).iterator ++
        Option.when(names.isEmpty)(at(cluster)("no topic is named. Remove the cluster from the stream")) ++
        names.iterator.filterNot(Topic.isValid).map(topic =>
          // The rule of Kafka. Splice would read a name such as "a,b" as two topics.
          at(cluster, topic)(s"'$topic' is not a valid topic name. Use $TopicNames")
        )
    }
    Option.when(key != stream.name)(at()(s"the name of the stream is '${stream.name}'")).iterator ++
      Option.when(key.isEmpty || key.length > LongestStream)(
        at()(s"the name of a stream has at least 1 and at most $LongestStream characters. Correct the name")
      ) ++
      topics ++
      Seq("cutovers" -> stream.cutover, "starts" -> stream.start, "stops" -> stream.stop).flatMap {
        case (section, place) => place.flatMap(of(section, _, stream)).map { reason =>
            val field = place.collect { case _: Place.Offsets => "offsets" }
            MetadataProblem(Seq(section, key) ++ field, reason)
          }
      }
  }

  private def of(section: String, place: Place, stream: KafkaStream): Option[String] = place match {
    // Records have no timestamps before 1970 and no negative offsets.
    case Place.At(time, _, _) if time.isBefore(Instant.EPOCH) || time.isAfter(Last) =>
      Some(s"'$time' is not a valid time. Use a time from ${Instant.EPOCH} to $Last")
    case Place.At(_, lateness, _) if lateness.isNegative =>
      Some(s"'$lateness' is not a valid lateness. Use a duration of 0 or more")
    case _: Place.At                           => None
    case of: Place.Offsets                     => negative(of).orElse(foreign(section, of, stream))
    case Place.Latest if section != "cutovers" => None
    case Place.Earliest if section == "starts" => None
    case other                                 => Some(s"$other is not a valid place. Use a time or offsets")
  }

  private def negative(place: Place.Offsets): Option[String] = (for {
    (cluster, offsets) <- place.clusters.iterator
    (p, offset)        <- offsets.iterator if offset < 0 || p.partition < 0
  } yield s"'$offset' is not a valid offset of partition $p of cluster '$cluster'. Use partitions and offsets of 0 or more")
    .nextOption()

  // A cutover by offsets also names topics that the stream leaves. A stop needs offsets of every topic, because a topic
  // without offsets would stop at its current position.
  private def foreign(section: String, place: Place.Offsets, stream: KafkaStream): Option[String] = {
    def text(topic: (String, String)) = s"${topic._1}/${topic._2}"
    val topics = for { (cluster, names) <- stream.topics.toSeq; topic <- names } yield cluster -> topic
    val named  = for { (cluster, offsets) <- place.clusters.toSeq; p <- offsets.keysIterator } yield cluster -> p.topic
    val (isTopic, isNamed) = (SortedSet.from(topics), SortedSet.from(named))
    val unknown            = named.find(!isTopic(_)).map(text) ++ place.clusters.keys.find(!stream.topics.contains(_))
    if (section == "cutovers")
      Option.unless(named.exists(isTopic))(s"the entry names no topic of stream '${stream.name}'")
    else
      unknown.headOption.map(name =>
        s"$name is not a topic of stream '${stream.name}'. Use ${topics.map(text).mkString(", ")}"
      ).orElse(topics.find(topic => section == "stops" && !isNamed(topic)).map(topic =>
        s"a stop needs offsets of every topic, and ${text(topic)} has no offsets"
      ))
  }
}

private[dynamic] object MetadataCheck {

  val TopicNames = "1 to 249 ASCII letters, digits, '.', '_' and '-', but not '.' or '..'"

  /** Maximum number of characters of the name of a stream. The checkpoint repeats the name for each topic. */
  val LongestStream = 249

  private val Last = Instant.parse("9999-12-31T23:59:59Z")
}
