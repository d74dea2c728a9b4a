// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.state

import java.time.Instant

import scala.collection.immutable.{SortedMap, SortedSet}

import org.apache.kafka.clients.CommonClientConfigs

import splice.kafka.Place
import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicPosition}
import splice.kafka.dynamic.internal.state.TopicState._
import splice.kafka.dynamic.{KafkaCluster, KafkaStream, StreamMetadata}
import splice.kafka.internal.split.KafkaPosition

/** Metadata that the query uses, and the state of every topic. An entry `change-<number>` of the side log contains this
  * state.
  *
  * @param number
  *   number of the change; changes of the metadata and of the topic states are counted
  * @param generation
  *   the greatest generation of an applied document
  * @param generations
  *   the generation of the document from which each stream was applied
  * @param clusters
  *   clusters of topics that are read or may return
  * @param at
  *   the time at which the change was stored
  * @param topicsAbandoned
  *   number of topics that this change and all earlier changes abandoned
  */
final private[dynamic] case class AppliedMetadata(
    number: Int,
    generation: Option[Long],
    clusters: SortedMap[String, KafkaCluster],
    streams: SortedMap[String, KafkaStream],
    topics: SortedMap[ClusterTopic, TopicState],
    generations: SortedMap[String, Long] = SortedMap.empty,
    at: Option[Instant] = None,
    topicsAbandoned: Long = 0
) {

  /** The stream of each topic that a stream contains, including topics that were read to the stop of their stream. */
  lazy val streamOf: SortedMap[ClusterTopic, String] = AppliedMetadata.streamOf(streams.values)

  def stopOf(stream: String): Option[Place] = stops.get(stream)

  /** Returns the start that a document sets for a topic. A removed topic keeps the start of the last document that
    * contained the topic.
    */
  def startOf(topic: ClusterTopic): Option[Place] =
    pending.get(topic).fold(stream(topic).flatMap(streams.get).flatMap(_.start))(_.start)

  // Most documents have no stop, and each trigger needs the stop of each topic.
  private lazy val stops = streams.flatMap { case (name, stream) => stream.stop.map(name -> _) }

  /** Topics of each cluster for which requests are sent. */
  lazy val read: SortedMap[String, SortedSet[String]] = SortedMap.from(
    topics.iterator.collect { case (topic, _: Waiting | _: Pending | _: Reading | _: Draining) => topic }
      .to(SortedSet).groupBy(_.cluster).map { case (cluster, listed) => cluster -> listed.map(_.topic) }
  )

  /** Clusters of the topics of [[read]], by the name of the topic. */
  lazy val clustersOf: Map[String, Seq[String]] =
    read.toSeq.flatMap { case (cluster, topics) => topics.toSeq.map(_ -> cluster) }.groupMap(_._1)(_._2)

  lazy val draining: SortedMap[ClusterTopic, Draining] = topics.collect { case (topic, is: Draining) => topic -> is }

  lazy val waiting: SortedMap[ClusterTopic, Waiting] = topics.collect { case (topic, is: Waiting) => topic -> is }

  /** Removed topics whose start is not determined yet. */
  lazy val pending: SortedMap[ClusterTopic, Pending] = topics.collect { case (topic, is: Pending) => topic -> is }

  /** Topics whose start is not determined yet, including removed topics. */
  lazy val unbegun: SortedMap[ClusterTopic, Waiting] = waiting ++ pending.map { case (topic, is) =>
    topic -> is.waiting
  }

  /** The streams of topics that are drained, or that are drained after their start is determined. */
  lazy val leaving: SortedMap[ClusterTopic, String] =
    draining.map { case (topic, is) => topic -> is.stream } ++
      pending.map { case (topic, is) => topic -> is.waiting.stream }

  /** Returns the stream that contains a topic, or that contained it last. */
  def stream(topic: ClusterTopic): Option[String] = topics.get(topic).collect {
    case is: Waiting  => is.stream
    case is: Pending  => is.waiting.stream
    case is: Reading  => is.stream
    case is: Draining => is.stream
    case is: Removed  => is.stream
  }

  /** Returns the states of the topics of a cluster. */
  def of(cluster: String): SortedMap[String, TopicState] =
    byCluster.getOrElse(cluster, SortedMap.empty[String, TopicState])

  private lazy val byCluster: Map[String, SortedMap[String, TopicState]] =
    topics.toSeq.groupMap(_._1.cluster) { case (topic, is) => topic.topic -> is }.map { case (cluster, states) =>
      cluster -> SortedMap.from(states)
    }

  /** Returns the starts on a cluster that the logs of their topics may not have reached yet. */
  def expectedOn(cluster: String): KafkaPosition = of(cluster).valuesIterator.foldLeft(KafkaPosition.Empty) {
    case (all, is: Reading)  => all.and(is.expected)
    case (all, is: Draining) => all.and(is.expected)
    case (all, _)            => all
  }

  /** Returns the number of rows of removed topics that Splice did not read, without topics whose number is unknown. */
  def rowsAbandoned: Long = topics.valuesIterator.flatMap(_.abandoned).flatMap(_.rows).sum

  /** Returns true if rows of a removed topic remain to be read. */
  def isOpen(topic: ClusterTopic, position: DynamicPosition): Boolean = topics.get(topic).exists {
    case is: Draining => !is.bound.isReached(position.of(topic.cluster))
    case _            => pending.contains(topic)
  }

  /** Returns the position after this change.
    *
    * @param at
    *   the position before
    */
  def moved(at: DynamicPosition): DynamicPosition = {
    val left = at.clusters.map { case (name, position) =>
      val kept = read.getOrElse(name, Set.empty[String])
      name -> position.topics.filterNot(kept).foldLeft(position)(_ without _)
    }
    starts.filterNot { case (topic, _) => left.get(topic.cluster).exists(_.hasTopic(topic.topic)) }
      .foldLeft(DynamicPosition.of(number, left)) { case (position, (topic, start)) =>
        position.updated(topic.cluster, position.of(topic.cluster).and(start))
      }
  }

  /** Returns a position with the offsets at which topics without a start begin. */
  def expecting(at: DynamicPosition): DynamicPosition =
    unbegun.filter { case (_, is) => is.time.isEmpty && is.offsets.offsets.nonEmpty }.foldLeft(at) {
      case (position, (topic, is)) =>
        position.updated(topic.cluster, position.of(topic.cluster).and(is.offsets))
    }

  /** Returns the state without clusters that no topic needs. Topics no longer wait for topics that are not drained any
    * more.
    */
  def pruned: AppliedMetadata = {
    val needed = topics.collect {
      case (topic, _: Waiting | _: Pending | _: Reading | _: Draining | _: Removed) => topic.cluster
    }.toSet
    val left = new OncePerSet((set, _) => if (set.forall(leaving.contains)) set else set.filter(leaving.contains))
    copy(
      clusters = clusters.filter { case (name, _) => needed(name) },
      topics = topics.map { case (topic, is) =>
        topic ->
          (is match {
            case is: Reading  => is.copy(after = left(is.after))
            case is: Draining => is.copy(after = left(is.after))
            case other        => other
          })
      }
    )
  }

  /** Returns the starts that this change adds to the position. */
  def starts: SortedMap[ClusterTopic, KafkaPosition] =
    topics.collect {
      case (topic, Reading(_, _, Some(start), _))              => topic -> start
      case (topic, Draining(_, _, _, _, _, _, _, Some(start))) => topic -> start
    }

  /** Returns the position of a topic, including a topic that was read to the stop of its stream. */
  def positionOf(topic: ClusterTopic, at: DynamicPosition): KafkaPosition = topics.get(topic) match {
    case Some(is: Removed) => is.position
    case _                 => at.of(topic.cluster).only(topic.topic)
  }

  /** Returns true if Splice sends requests to a cluster. */
  def isActive(cluster: String): Boolean = clusters.get(cluster).forall(_.active)

  /** Returns the clusters with the properties of a document. A cluster that the document does not contain is active, so
    * that a drain of it can end.
    */
  def renewed(document: StreamMetadata): SortedMap[String, KafkaCluster] =
    clusters.map { case (name, cluster) => name -> document.clusters.getOrElse(name, cluster.copy(active = true)) }

  /** Returns the clusters with only the client properties and credentials of a document, except the addresses. A faulty
    * service may return the document of another environment, with the addresses of other clusters.
    */
  def renewedProperties(document: StreamMetadata): SortedMap[String, KafkaCluster] = clusters.map {
    case (name, cluster) => name -> document.clusters.get(name).fold(cluster) { now =>
        val addresses = cluster.properties.view.filterKeys(_ == CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG)
        cluster.copy(properties = now.properties ++ addresses, credentials = now.credentials)
      }
  }

  /** Returns true if a document has the same streams, and the same clusters of topics that are read or may return. */
  def equalsDocument(document: StreamMetadata): Boolean = document.streams == streams && renewed(document) == clusters
}

private[dynamic] object AppliedMetadata {

  /** State before the first document. */
  val Nothing: AppliedMetadata = AppliedMetadata(-1, None, SortedMap.empty, SortedMap.empty, SortedMap.empty)

  /** Returns the state after the first document. */
  def first(document: StreamMetadata): AppliedMetadata = AppliedMetadata(
    0,
    document.generation,
    document.clusters,
    document.streams,
    streamOf(document.streams.values).map { case (topic, stream) =>
      // The first start of the query has no positions for inactive clusters.
      val waits = document.streams(stream).start.nonEmpty && document.clusters.get(topic.cluster).exists(!_.active)
      topic -> (if (waits) Waiting(stream, None, None) else Reading(stream))
    },
    SortedMap.from(for (name <- document.streams.keys; generation <- document.generation) yield name -> generation)
  ).pruned

  def streamOf(streams: Iterable[KafkaStream]): SortedMap[ClusterTopic, String] = SortedMap.from(for {
    stream            <- streams.iterator
    (cluster, topics) <- stream.topics.iterator
    topic             <- topics.iterator
  } yield ClusterTopic(cluster, topic) -> stream.name)
}
