// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import java.time.Clock

import scala.collection.immutable.SortedSet

import splice.kafka.dynamic.change._
import splice.kafka.dynamic.split.{ClusterTopic, DynamicPosition}
import splice.kafka.dynamic.{KafkaCluster, StreamMetadata}
import splice.kafka.split.KafkaPosition

/** What clusters must be asked before a change can be made. */
final private[dynamic] class ChangeQuestions(rules: ChangeRules, probe: ClusterProbe, clock: Clock) {

  private val cutovers = rules.cutovers

  private var silent = SortedSet.empty[String]

  /** The clusters that a change waits for, since they do not answer. */
  def waitsFor: SortedSet[String] = silent

  /** What is to be asked next is all that can wait. */
  def begin(): Unit = silent = SortedSet.empty

  /** What an answer of the metadata service comes to: that it is not applied, or what holds after it; None while a cluster that must
    * be asked for that does not answer.
    */
  def take(
      here: AppliedMetadata,
      found: StreamMetadata,
      at: DynamicPosition
  ): Option[Either[Refusal, AppliedMetadata]] = {
    val clusters = here.clusters ++ found.clusters
    val times    = cutovers.times(here, found, at)
    val lost     = rules.forgotten(here, found, at)
    for {
      places <- all(grouped(clusters, times.view.mapValues(Option(_)).toMap) { topic =>
        at.of(topic.cluster).only(topic.topic)
      })
      begins <- all(grouped(clusters, lost.map(_ -> None).toMap)(_ => KafkaPosition.Empty))
    } yield cutovers.refusal(here, found, at, places).toLeft(rules.take(here, found, at, clock.instant()) { topic =>
      KafkaPosition.of(begins.get(topic).toSeq.flatMap(_.partitions).map { case (p, place) => p -> place.offset })
    })
  }

  /** What holds once streams go over whose time has come; None when nothing does, or clusters do not answer, or cannot say it yet. */
  def cut(here: AppliedMetadata, at: DynamicPosition): Option[AppliedMetadata] = {
    val due = cutovers.due(here, clock.instant())
    if (due.isEmpty) None
    else {
      val found  = ask(grouped(here.clusters, due.view.mapValues(Option(_)).toMap)(_ => KafkaPosition.Empty))
      val places = byTopic(found)
      val made   = cutovers.cut(here, at, clock.instant(), places)
      if (made.isEmpty) {
        val open = cutovers.open(here, clock.instant(), places)
        probe.drop(found.keys.filter(q => q.topics.exists(topic => open(ClusterTopic(q.cluster.name, topic)))))
      }
      made
    }
  }

  /** A change was made: whatever was asked before is of no use any more. */
  def made(): Unit = {
    begin()
    probe.clear()
  }

  private def all(questions: Seq[ProbeQuestion]): Option[Map[ClusterTopic, LogPlaces]] = {
    val found = if (questions.isEmpty) Map.empty[ProbeQuestion, LogPlaces] else ask(questions)
    if (found.size == questions.size) Some(byTopic(found)) else None
  }

  private def ask(questions: Seq[ProbeQuestion]): Map[ProbeQuestion, LogPlaces] = {
    val found = probe(questions)
    silent ++= questions.filter(probe.isSilent).map(_.cluster.name)
    found
  }

  /** One question a cluster and time. */
  private def grouped(clusters: Map[String, KafkaCluster], topics: Map[ClusterTopic, Option[Long]])(
      read: ClusterTopic => KafkaPosition
  ): Seq[ProbeQuestion] =
    topics.groupMap { case (topic, time) => topic.cluster -> time }(_._1).toSeq.flatMap { case ((name, time), some) =>
      clusters.get(name).map { cluster =>
        val position = some.foldLeft(KafkaPosition.Empty)((all, topic) => all.and(read(topic)))
        ProbeQuestion(cluster, SortedSet.from(some.map(_.topic)), time, position)
      }
    }

  private def byTopic(found: Map[ProbeQuestion, LogPlaces]): Map[ClusterTopic, LogPlaces] = for {
    (question, places) <- found
    topic              <- question.topics.toSeq
  } yield ClusterTopic(question.cluster.name, topic) ->
    places.copy(partitions = places.partitions.filter(_._1.topic == topic))
}
