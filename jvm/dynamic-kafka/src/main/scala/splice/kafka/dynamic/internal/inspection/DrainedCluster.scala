// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.inspection

import com.fasterxml.jackson.databind.JsonNode

import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicPosition}
import splice.kafka.dynamic.internal.state.TopicState._
import splice.kafka.dynamic.internal.state.{AppliedMetadata, ChangeEntries, TopicState}
import splice.source.internal.entries.Json

/** Topics of a cluster that a checkpoint still reads, or waits for. Without such a topic, the query no longer needs the
  * cluster.
  *
  * @param cluster
  *   the latest name of the cluster
  * @param open
  *   the topics that the query still needs
  * @param notes
  *   facts about topics that the query no longer needs
  */
final private[dynamic] case class DrainedCluster(cluster: String, open: Seq[DrainedCluster.Open], notes: Seq[String]) {

  def json: JsonNode = Json.obj(
    "cluster" -> Json.text(cluster),
    "drained" -> Json.bool(open.isEmpty),
    "topics"  -> Json.array(open.map(_.json)),
    "notes"   -> Json.array(notes.map(Json.text))
  )
}

private[dynamic] object DrainedCluster {

  /** A topic that the query still needs.
    *
    * @param rows
    *   number of unread rows; None if the number is unknown
    */
  final case class Open(topic: String, state: String, rows: Option[Long], note: Option[String]) {
    def json: JsonNode = Json.obj(
      Seq("topic" -> Json.text(topic), "state" -> Json.text(state)) ++
        rows.map("rows" -> Json.number(_)) ++ note.map("note" -> Json.text(_)): _*
    )
  }

  /** Returns the topics of a cluster that the query needs; None if no change of the checkpoint contains the cluster.
    *
    * @param committed
    *   the last committed position; None if no batch is committed
    * @param unread
    *   returns the number of rows after a position, from a request to the cluster
    */
  def of(changes: ChangeEntries, committed: Option[DynamicPosition], cluster: String)(
      unread: (AppliedMetadata, ClusterTopic, DynamicPosition) => MetadataTrial.Drain
  ): Option[DrainedCluster] = {
    for (state <- changes.last if changes.cluster(cluster).nonEmpty || state.of(cluster).nonEmpty) yield {
      val at     = committed.getOrElse(DynamicPosition.of(0, Nil))
      val topics = state.of(cluster).toSeq.map { case (topic, is) => ClusterTopic(cluster, topic) -> is }
      val open   = topics.flatMap { case (topic, is) =>
        if (committed.isEmpty && is != Gone) Some(Open(topic.topic, is.word, None, Some("no batch is committed")))
        else opened(state, topic, is, at)(unread)
      }
      val notes = topics.flatMap { case (topic, is) =>
        is.abandoned.map(lost => s"$topic: ${lost.text}").toSeq ++
          (if (is.isInstanceOf[Removed] && state.streamOf.contains(topic))
             Seq(s"$topic: the metadata still lists the topic, which was read to its stop")
           else Nil)
      }
      DrainedCluster(cluster, open, notes)
    }
  }

  private def opened(state: AppliedMetadata, topic: ClusterTopic, is: TopicState, at: DynamicPosition)(
      unread: (AppliedMetadata, ClusterTopic, DynamicPosition) => MetadataTrial.Drain
  ): Option[Open] = {
    def open(found: MetadataTrial.Drain) = Some(Open(topic.topic, is.word, found.rows, found.note))
    is match {
      case is: Draining if is.bound.isReached(at.of(topic.cluster)) => None
      case is: Draining                                             => open(MetadataTrial.unread(is.bound, at, topic))
      case _: Reading                                               => open(unread(state, topic, at))
      case Waiting(_, time, _, _)                                   =>
        open(MetadataTrial.Drain(
          None,
          Some(time.fold("the start of the topic is not known")(cut => s"the stream moves here at ${cut.time}"))
        ))
      case _: Pending  => open(MetadataTrial.Drain(None, Some("the start of the topic is not known")))
      case is: Removed =>
        // The batch that reads the last rows may not be committed yet.
        val part = at.of(topic.cluster)
        val left = is.position.offsets.toSeq.flatMap { case (p, end) => part.get(p).filter(_ < end).map(end - _) }.sum
        if (left == 0) None else open(MetadataTrial.Drain(Some(left), Some("the last batch is not committed")))
      case Gone => None
    }
  }
}
