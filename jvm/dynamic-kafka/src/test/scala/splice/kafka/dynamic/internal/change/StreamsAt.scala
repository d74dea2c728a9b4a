// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.change

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.Place
import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicPosition}
import splice.kafka.dynamic.internal.state.{AppliedMetadata, TopicState}
import splice.kafka.dynamic.{KafkaCluster, KafkaStream, StreamMetadata}
import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition

/** Creates metadata of one stream `s`, and positions in its topics, from `cluster/topic` texts. */
private[dynamic] object StreamsAt {

  def metadata(generation: Long, topics: String*): StreamMetadata = goesOver(generation, None, topics: _*)

  def goesOver(generation: Long, cutover: Option[Place], topics: String*): StreamMetadata = {
    val byCluster = topics.map(_.split("/")).groupMap(_(0))(_(1))
    val lies      = SortedMap.from(byCluster.map { case (c, ts) => c -> SortedSet.from(ts) })
    StreamMetadata(
      Some(generation),
      SortedMap.from(byCluster.keys.map(c => c -> KafkaCluster(c, SortedMap("bootstrap.servers" -> s"$c:9092")))),
      SortedMap("s" -> KafkaStream("s", lies, cutover))
    )
  }

  def applied(topics: String*): AppliedMetadata = {
    val found = metadata(1, topics: _*)
    AppliedMetadata.first(found)
  }

  /** Views of the states of topics. */
  implicit final class States(of: AppliedMetadata) {

    def removed: SortedMap[ClusterTopic, KafkaPosition] =
      of.topics.collect { case (topic, is: TopicState.Removed) => topic -> is.position }

    def gone: Set[ClusterTopic] = of.topics.collect { case (topic, TopicState.Gone) => topic }.toSet

    def after: SortedMap[ClusterTopic, Set[ClusterTopic]] = of.topics.collect {
      case (topic, is: TopicState.Reading) if is.after.nonEmpty  => topic -> is.after
      case (topic, is: TopicState.Draining) if is.after.nonEmpty => topic -> is.after
    }

    def times: SortedMap[ClusterTopic, Place.At] =
      of.waiting.flatMap { case (topic, is) => is.time.map(topic -> _) }

    def expected: SortedMap[ClusterTopic, KafkaPosition] = of.topics.collect {
      case (topic, is: TopicState.Reading) if is.expected.offsets.nonEmpty  => topic -> is.expected
      case (topic, is: TopicState.Draining) if is.expected.offsets.nonEmpty => topic -> is.expected
      case (topic, is: TopicState.Removed) if is.expected.offsets.nonEmpty  => topic -> is.expected
    }
  }

  def kafka(topic: String, offset: Long): KafkaPosition = KafkaPosition.of(Seq(LogPartition(topic, 0) -> offset))

  def at(change: Int, offsets: (String, Long)*): DynamicPosition =
    offsets.foldLeft(DynamicPosition.of(change, Nil)) { case (position, (name, offset)) =>
      val ClusterTopic(cluster, own) = topic(name)
      position.updated(cluster, position.of(cluster) ++ kafka(own, offset).offsets)
    }

  def topic(name: String): ClusterTopic =
    ClusterTopic(name.takeWhile(_ != '/'), name.dropWhile(_ != '/').drop(1))
}
