// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life.oracle

import java.time.Instant

import splice.kafka.dynamic.KafkaStream
import splice.kafka.dynamic.internal.split.{DynamicOffset, DynamicPosition}
import splice.kafka.dynamic.internal.state.{AppliedMetadata, ChangeEntries}
import splice.source.LogPartition
import splice.source.internal.entries.NumberedEntries
import splice.source.runtime.SideLog

/** Durable change of a query.
  *
  * @param topics
  *   stream of each topic, by cluster and topic
  * @param generations
  *   generation of the document of each stream
  * @param states
  *   name of the state of each topic
  * @param times
  *   times at which streams move to topics that wait
  * @param clusters
  *   clusters of topics that are read or may return
  * @param at
  *   the time at which the change was stored
  */
final private[life] case class LifeChange(
    number: Int,
    generation: Long,
    topics: Map[(String, String), String],
    streams: Map[String, KafkaStream],
    generations: Map[String, Long],
    states: Map[(String, String), String],
    times: Map[(String, String), Instant],
    clusters: Set[String],
    at: Instant
)

/** Parser of the entries of a checkpoint. Other test code does not depend on their format. */
private[life] object LifeChanges {

  /** Changes after the given number. */
  def after(number: Int, side: SideLog): Seq[LifeChange] = if (side.get(key(number + 1)).isEmpty) Nil
  else {
    val log = new ChangeEntries(side)
    Iterator.from(number + 1).map(log.find).takeWhile(_.nonEmpty).flatten.map(change).toSeq
  }

  /** Number of the first change of the source; None before the start is durable. */
  def started(side: SideLog): Option[Int] = side.get("initial").flatMap { lines =>
    Change.findFirstMatchIn(lines.mkString.replace("\\", "")).map(_.group(1).toInt)
  }

  private val Change = "\"change\":([0-9]+)".r

  private def key(number: Int): String = NumberedEntries.key("change", number)

  /** Text of the last change, without names of topics whose positions were removed. */
  def last(side: SideLog): String = side.keys("change-").lastOption.flatMap(side.get)
    .fold("")(_.filterNot(_.contains("\"state\":\"gone\"")).mkString("\n"))

  /** Offset of a partition in a position. */
  def offset(at: String, cluster: String, p: LogPartition): Option[Long] =
    (DynamicPosition.read(at): DynamicOffset) match {
      case position: DynamicPosition => position.of(cluster).get(p)
      case _                         => None
    }

  private def change(of: AppliedMetadata): LifeChange = LifeChange(
    of.number,
    of.generation.getOrElse(0L),
    of.streamOf.map { case (topic, stream) => (topic.cluster, topic.topic) -> stream }.toMap,
    of.streams.toMap,
    of.generations.toMap,
    of.topics.map { case (topic, is) => (topic.cluster, topic.topic) -> is.word }.toMap,
    of.waiting.toSeq.flatMap { case (topic, is) => is.time.map(cut => (topic.cluster, topic.topic) -> cut.time) }.toMap,
    of.clusters.keySet,
    of.at.getOrElse(Instant.EPOCH)
  )

  /** Removed topic that a warning reports as abandoned. */
  def abandoned(warning: String): Option[(String, String)] = Abandoned.findFirstMatchIn(warning).map { found =>
    found.group(1) -> found.group(2)
  }

  private val Abandoned = "abandons the removed topic ([^/ ]+)/([^, ]+),.* because the cluster has not responded".r
}
