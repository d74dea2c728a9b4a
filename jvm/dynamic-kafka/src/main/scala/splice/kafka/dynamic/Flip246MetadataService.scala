// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic

import java.util.{Collection => JCollection, Map => JMap, Properties, Set => JSet}

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.jdk.CollectionConverters._

import splice.kafka.dynamic.internal.errors.MetadataErrors

/** Adapts a service with the three methods of FLIP-246's `KafkaMetadataService` to Splice's [[KafkaMetadataService]].
  *
  * Splice calls all methods on the thread that polls the metadata. Each poll calls `isClusterActive` once for each
  * cluster of the streams. Each poll also calls it for each cluster of earlier streams, including streams of earlier
  * runs, because Splice may still drain topics of that cluster.
  *
  * In FLIP-246, each stream has its own client properties for a cluster. In Splice, the properties belong to the
  * cluster. Two streams with different properties for one cluster are therefore an error. Use two cluster names for two
  * sets of credentials.
  *
  * {{{
  * final class Inventory extends Flip246MetadataService {
  *   override def getAllStreams(): java.util.Set[Flip246MetadataService.Stream] = ...
  *   override def describeStreams(ids: java.util.Collection[String]) = ...
  *   override def isClusterActive(cluster: String): Boolean = ...
  * }
  * }}}
  */
abstract class Flip246MetadataService extends KafkaMetadataService {

  import Flip246MetadataService._

  private var seen = SortedMap.empty[String, KafkaCluster]

  /** Returns all streams. */
  def getAllStreams(): JSet[Stream]

  /** Returns the streams of these ids that exist, by id. */
  def describeStreams(ids: JCollection[String]): JMap[String, Stream]

  /** Returns true if Splice may send requests to a cluster. */
  def isClusterActive(cluster: String): Boolean

  /** Adds the fields to a stream that FLIP-246 does not have: `cutover`, `start` and `stop`. The default sets
    * none of these fields.
    *
    * {{{
    * override protected def extended(stream: KafkaStream) = stream.copy(start = Some(Place.Latest))
    * }}}
    */
  protected def extended(stream: KafkaStream): KafkaStream = stream

  final override def allStreams(): StreamMetadata = whole(getAllStreams().asScala)

  final override def describeStreams(names: Set[String]): StreamMetadata =
    whole(describeStreams(names.asJava: JCollection[String]).asScala.values)

  final override private[dynamic] def isUnlistedActive(cluster: String): Option[Boolean] =
    Some(isClusterActive(cluster))

  // Several queries may call one service at the same time.
  private def whole(streams: Iterable[Stream]): StreamMetadata = synchronized {
    val clusters = for {
      (name, parts) <- streams.toSeq.flatMap(s => s.clusters.asScala.map { case (c, entry) => c -> (s.id -> entry) })
        .groupMap(_._1)(_._2).toSeq
    } yield {
      val properties = parts.map { case (_, entry) => SortedMap.from(entry.properties.asScala) }.distinct
      if (properties.size > 1)
        throw MetadataErrors.invalidResponse(toString, differs(name, parts.map(_._1), properties))
      name -> KafkaCluster(name, properties.head)
    }
    seen = (seen ++ clusters).map { case (name, cluster) => name -> cluster.copy(active = isClusterActive(name)) }
    StreamMetadata(None, seen, SortedMap.from(streams.map(s => s.id -> stream(s))))
  }

  private def stream(of: Stream): KafkaStream =
    extended(KafkaStream(
      of.id,
      SortedMap.from(of.clusters.asScala.map { case (c, entry) => c -> SortedSet.from(entry.topics.asScala) })
    ))

  private def differs(cluster: String, streams: Seq[String], all: Seq[Map[String, String]]): String = {
    val keys = all.flatMap(_.keys).distinct.filter(key => all.map(_.get(key)).distinct.size > 1)
    s"streams ${streams.sorted.mkString(", ")} set different client properties for cluster '$cluster': " +
      s"${keys.sorted.mkString(", ")}. Use one name of the cluster for each set of properties"
  }
}

object Flip246MetadataService {

  /** Stream (FLIP-246's `KafkaStream`).
    *
    * @param clusters
    *   the parts of the stream, by the id of the cluster
    */
  final case class Stream(id: String, clusters: JMap[String, Cluster])

  /** Part of a stream on one cluster (FLIP-246's `ClusterMetadata`).
    *
    * @param properties
    *   properties of the Kafka client, including `bootstrap.servers`
    */
  final case class Cluster(topics: JSet[String], properties: Properties)
}
