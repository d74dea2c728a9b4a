// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.change

import java.time.Instant

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.dynamic.split.ClusterTopic
import splice.kafka.dynamic.{KafkaCluster, KafkaStream, StreamCutover, StreamMetadata}
import splice.kafka.split.KafkaPosition

/** What the query goes by: the last answer of the metadata service that was applied, and what came of all before it.
  *
  * @param number
  *   counts changes, of the metadata and of what became of removed topics
  * @param leaving
  *   topics that are in no stream any more, and are still read
  * @param tombstones
  *   topics that are not read any more
  * @param waiting
  *   topics that a stream was moved to, and what was drained of it then
  * @param resumed
  *   where topics go on that came back with this change, or begin that a stream goes over to
  * @param begins
  *   topics that are not read yet, since a stream goes over to them at a time
  * @param mapped
  *   where topics begin at offsets that a cutover named, and that their logs may not have come to yet
  * @param at
  *   when the change was written down
  * @param clusters
  *   all clusters that something is read of, or that may come back
  */
final private[dynamic] case class AppliedMetadata(
    number: Int,
    generation: Option[Long],
    clusters: SortedMap[String, KafkaCluster],
    streams: SortedMap[String, KafkaStream],
    leaving: SortedMap[ClusterTopic, Leaving] = SortedMap.empty,
    tombstones: SortedMap[ClusterTopic, Tombstone] = SortedMap.empty,
    waiting: SortedMap[ClusterTopic, Set[ClusterTopic]] = SortedMap.empty,
    resumed: SortedMap[ClusterTopic, KafkaPosition] = SortedMap.empty,
    begins: SortedMap[ClusterTopic, StreamCutover.At] = SortedMap.empty,
    mapped: SortedMap[ClusterTopic, KafkaPosition] = SortedMap.empty,
    at: Option[Instant] = None
) {

  /** The stream of each topic that is in one. */
  lazy val streamOf: SortedMap[ClusterTopic, String] = AppliedMetadata.streamOf(streams.values)

  /** The topics that are read of each cluster. */
  lazy val read: SortedMap[
    String,
    SortedSet[String]
  ] = (streamOf.keySet -- begins.keySet ++ leaving.keySet).groupBy(_.cluster).map { case (cluster, topics) =>
    cluster -> topics.map(_.topic)
  }
    .to(SortedMap)

  /** The stream that a topic is in, or was in last. */
  def stream(topic: ClusterTopic): Option[String] =
    streamOf.get(topic).orElse(leaving.get(topic).map(_.stream)).orElse(tombstones.get(topic).map(_.stream))

  /** Removed topics of a cluster that are still read. */
  def leavingOn(cluster: String): Map[String, Leaving] =
    leaving.iterator.collect { case (ClusterTopic(`cluster`, topic), own) => topic -> own }.toMap

  /** Where topics of a cluster begin that its log may not have come to yet. */
  def mappedOn(cluster: String): KafkaPosition =
    mapped.foldLeft(KafkaPosition.Empty) {
      case (all, (topic, start)) => if (topic.cluster == cluster) all.and(start) else all
    }

  /** Whether an answer says the same of streams and clusters. */
  def says(found: StreamMetadata): Boolean =
    found.streams == streams && found.clusters.forall { case (name, cluster) => clusters.get(name).contains(cluster) }
}

private[dynamic] object AppliedMetadata {

  /** What holds before anything was heard. */
  val Nothing: AppliedMetadata = AppliedMetadata(-1, None, SortedMap.empty, SortedMap.empty)

  def streamOf(streams: Iterable[KafkaStream]): SortedMap[ClusterTopic, String] = SortedMap.from(for {
    stream            <- streams.iterator
    (cluster, topics) <- stream.topics.iterator
    topic             <- topics.iterator
  } yield ClusterTopic(cluster, topic) -> stream.name)
}
