// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life

import splice.kafka.dynamic.KafkaStream
import splice.kafka.dynamic.internal.split.{DynamicOffset, DynamicPosition}
import splice.kafka.dynamic.internal.state.{AppliedMetadata, ChangeLog}
import splice.source.LogPartition
import splice.source.internal.entries.NumberedEntries
import splice.source.runtime.SideLog

/** A change that a query made durable.
  *
  * @param topics
  *   the stream of each topic, by cluster and topic
  * @param generations
  *   the generation of the document of each stream
  * @param states
  *   the word of the state of each topic
  */
final private[life] case class LifeChange(
    number: Int,
    generation: Long,
    topics: Map[(String, String), String],
    streams: Map[String, KafkaStream],
    generations: Map[String, Long],
    states: Map[(String, String), String]
)

/** The entries of a checkpoint. Only this file knows how they are read. */
private[life] object LifeChanges {

  /** The changes after one. */
  def after(number: Int, side: SideLog): Seq[LifeChange] = if (side.get(key(number + 1)).isEmpty) Nil
  else {
    val log = new ChangeLog(side)
    Iterator.from(number + 1).map(log.find).takeWhile(_.nonEmpty).flatten.map(change).toSeq
  }

  /** The number of the change that the source starts with; None before the start is durable. */
  def started(side: SideLog): Option[Int] = side.get("initial").flatMap { lines =>
    Change.findFirstMatchIn(lines.mkString.replace("\\", "")).map(_.group(1).toInt)
  }

  private val Change = "\"change\":([0-9]+)".r

  private def key(number: Int): String = NumberedEntries.key("change", number)

  /** The text of the last change, without the names of topics whose positions were forgotten. */
  def last(side: SideLog): String = side.keys("change-").lastOption.flatMap(side.get)
    .fold("")(_.filterNot(_.contains("\"state\":\"gone\"")).mkString("\n"))

  /** The offset of a partition in a position. */
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
    of.topics.map { case (topic, is) => (topic.cluster, topic.topic) -> is.word }.toMap
  )

  /** The removed topic that a warning reports as abandoned. */
  def abandoned(warning: String): Option[(String, String)] = Abandoned.findFirstMatchIn(warning).map { found =>
    found.group(1) -> found.group(2)
  }

  private val Abandoned = "abandons the removed topic ([^/ ]+)/([^, ]+),.* because the cluster has not responded".r
}
