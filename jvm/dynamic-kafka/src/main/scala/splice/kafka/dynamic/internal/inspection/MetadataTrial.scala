// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.inspection

import scala.collection.immutable.SortedMap
import scala.util.Using

import com.fasterxml.jackson.databind.JsonNode

import splice.kafka.dynamic.internal.change.Rejection
import splice.kafka.dynamic.internal.cluster.SingleClusterCheckpoint
import splice.kafka.dynamic.internal.enumerator.{DynamicEnumerator, StreamGroup}
import splice.kafka.dynamic.internal.errors.DynamicErrors
import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicOffset, DynamicPosition, PositionEntries}
import splice.kafka.dynamic.internal.state.TopicState.{Bound, Draining, Pending, Removed}
import splice.kafka.dynamic.internal.state._
import splice.source.errors.SpliceException
import splice.source.internal.entries.Json
import splice.source.runtime.SideLog
import splice.source.{Limits, SplitEnumerator}

/** Changes that the next trigger of a query would make with a document.
  *
  * The trial runs the enumerator of the source once, from the last committed position. The enumerator writes its
  * entries to memory ([[TrialSideLog]]), and reads no record.
  *
  * @param before
  *   the last change of the checkpoint
  * @param events
  *   names of topics, clusters and streams by event, as in the change history
  * @param drains
  *   the topics that the document removes or stops, with the number of their unread rows
  * @param rejected
  *   streams that keep their previous metadata, and the reason; without streams: the whole document
  * @param waiting
  *   streams that wait for the response of clusters
  * @param error
  *   the error with which the query would fail
  */
final private[dynamic] case class MetadataTrial(
    before: AppliedMetadata,
    events: SortedMap[String, Seq[String]],
    drains: SortedMap[ClusterTopic, MetadataTrial.Drain],
    rejected: Seq[(StreamGroup, Rejection)],
    waiting: Seq[(StreamGroup, Seq[String])],
    error: Option[SpliceException]
) {

  def json: Seq[(String, JsonNode)] =
    Seq(
      "change"   -> Json.number(before.number.toLong),
      "events"   -> Json.obj(events.toSeq.map { case (event, names) => event -> Json.array(names.map(Json.text)) }: _*),
      "drains"   -> Json.array(drains.toSeq.map { case (topic, drain) => drain.json(topic) }),
      "rejected" -> Json.array(rejected.map { case (group, why) =>
        Json.obj("streams" -> MetadataTrial.names(group), "reason" -> Json.text(DynamicErrors.rejected(why).getMessage))
      }),
      "waiting" -> Json.array(waiting.map { case (group, clusters) =>
        Json.obj("streams" -> MetadataTrial.names(group), "clusters" -> Json.array(clusters.map(Json.text)))
      })
    ) ++ before.generation.map("appliedGeneration" -> Json.number(_)) ++
      error.map(e => "error" -> Json.text(e.getMessage))
}

private[dynamic] object MetadataTrial {

  /** A topic that the query would stop reading.
    *
    * @param rows
    *   number of unread rows; None if the cluster has not returned the end
    * @param note
    *   reason for an unknown number, or the time of a cutover
    */
  final case class Drain(rows: Option[Long], note: Option[String] = None) {
    def json(topic: ClusterTopic): JsonNode = Json.obj(
      Seq("cluster" -> Json.text(topic.cluster), "topic" -> Json.text(topic.topic)) ++
        rows.map("rows" -> Json.number(_)) ++ note.map("note" -> Json.text(_)): _*
    )
  }

  /** Runs the trial.
    *
    * @param log
    *   the side log of the source
    * @param from
    *   the last committed position
    * @param open
    *   creates the enumerator of the source over a side log, with the service of the document
    */
  def of(log: SideLog, from: DynamicOffset)(open: SideLog => SplitEnumerator[DynamicOffset]): MetadataTrial = {
    val trial  = new TrialSideLog(log)
    val before = new ChangeEntries(log).last.getOrElse(AppliedMetadata.Nothing)
    val groups = Using.resource(open(trial)) { enumerator =>
      val error =
        try { val _ = enumerator.advance(from, Limits.NotSet); None }
        catch { case e: SpliceException => Some(e) }
      val groups = enumerator match {
        case dynamic: DynamicEnumerator => (dynamic.groups.allRejected, dynamic.groups.allWaiting)
        case _                          => (Nil, Nil)
      }
      (groups, error)
    }
    val ((rejected, waiting), error) = groups
    val changes                      = new ChangeEntries(trial)
    val steps  = before +: changes.last.toSeq.flatMap(last => changes.between(before.number, last.number))
    val events = steps.zip(steps.drop(1)).flatMap { case (was, is) => ChangeDescription(was, is) }
    MetadataTrial(
      before,
      SortedMap.from(events.groupMapReduce(_.event)(_.names)((a, b) => (a ++ b).distinct)),
      position(trial, from, before).fold(SortedMap.empty[ClusterTopic, Drain])(drains(steps, _)),
      rejected,
      waiting.map { case (group, clusters) => group -> clusters.toSeq },
      error
    )
  }

  /** Returns the position of an offset, with the names of clusters; None if no name is stored. */
  def position(log: SideLog, offset: DynamicOffset, current: AppliedMetadata): Option[DynamicPosition] =
    new SingleClusterCheckpoint(log, current).find(new PositionEntries(log)(offset))

  private def drains(steps: Seq[AppliedMetadata], from: DynamicPosition): SortedMap[ClusterTopic, Drain] = {
    val was = steps.head.topics
    steps.last.topics.collect {
      case (topic, is: Draining) => topic -> unread(is.bound, from, topic)
      case (topic, _: Pending)   => topic -> Drain(None, Some("the cluster has not returned the start of the topic"))
      case (topic, is: Removed) if !isLeft(was, topic) =>
        val rows = is.abandoned.fold(Option(0L))(_.rows)
        topic -> Drain(rows, is.abandoned.map(_.text))
    }
  }

  private def isLeft(states: collection.Map[ClusterTopic, TopicState], topic: ClusterTopic): Boolean =
    states.get(topic).exists {
      case _: TopicState.Left => true
      case _                  => false
    }

  /** Returns the rows between a position and the end of a drain. */
  def unread(bound: Bound, at: DynamicPosition, topic: ClusterTopic): Drain = {
    val left = at.of(topic.cluster).only(topic.topic)
    bound match {
      case ends: Bound.Ends  => Drain(Abandoned.of(ends, left, "").fold(Option(0L))(_.rows))
      case Bound.At(time, _) => Drain(None, Some(s"read until the cutover at ${time.time}"))
      case _                 => Drain(None, Some("the cluster has not returned the end of the topic"))
    }
  }

  private def names(group: StreamGroup) = Json.array(group.streams.toSeq.sorted.map(Json.text))
}
