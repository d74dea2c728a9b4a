// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.legs

import scala.collection.immutable.SortedMap

import com.fasterxml.jackson.databind.JsonNode

import splice.source.internal.entries.Json
import splice.source.log.{LogOutlook, Outlook}
import splice.source.{Limits, LogPartition, Position, Source, SplitEnumerator}

/** Plan of one leg, or of a source without legs: the data that a query would read, as JSON.
  *
  * @param batches
  *   None if the start of the leg depends on rows that were not read
  */
final private[splice] case class LegPlan(json: JsonNode, batches: Option[BatchCount], warnings: Seq[String])

private[splice] object LegPlan {

  // Default limits of a leg that another leg follows.
  private val ManyBytes = 8L << 30
  private val ManyRows  = 10000000L

  /** @param start
    *   start of the leg, or None if the start depends on rows that were not read
    * @param batches
    *   batches that begin at `start`
    * @param handOver
    *   description of the hand-over to the leg; None if the leg has no hand-over
    * @param warnings
    *   further warnings to the user
    */
  def apply(
      name: Option[String],
      source: Source[_ <: Position],
      enumerator: SplitEnumerator[Position],
      outlook: Outlook,
      start: Option[Position],
      batches: Option[BatchCount],
      handOver: Option[JsonNode] = None,
      warnings: Seq[String] = Nil
  ): LegPlan = {
    val isLog  = outlook.logs.nonEmpty
    val rows   = outlook.rows.orElse(if (isLog) weight(enumerator, start, batches) else None)
    val limits = start.map(enumerator.limits)
    val all    = outlook.warnings ++ warnings ++
      limits.filter(_ == Limits.NotSet).flatMap(_ => oneBatch(rows, outlook.bytes))
    val fields = name.map("leg" -> Json.text(_)).toSeq ++
      Seq(
        "source" -> Json.text(source.kind),
        "reads"  -> Json.text(source.toString)
      ) ++ outlook.files.map("files" -> Json.number(_)) ++ outlook.bytes.map("bytes" -> Json.number(_)) ++
      rows.map("rows" -> Json.number(_)) ++ outlook.modified.map(t => "newestFile" -> Json.text(t.last.toString)) ++
      batches.map(count => "batches" -> Json.number(count.number)) ++
      batches.filter(_.isMore).map(_ => "moreBatches" -> Json.bool(true)) ++
      limits.map("limits" -> json(_)) ++ start.filter(_ => isLog).map("start" -> json(_)) ++
      Option.when(isLog)("topics" -> topics(outlook.logs)) ++ handOver.map("handOver" -> _)
    LegPlan(Json.obj(fields: _*), batches, all.map(text => name.fold(text)(leg => s"Leg '$leg': $text")))
  }

  /** Number of offsets to read. Equal to the number of rows if every offset has a record. */
  private def weight(
      enumerator: SplitEnumerator[Position],
      start: Option[Position],
      batches: Option[BatchCount]
  ): Option[Long] = for {
    from  <- start
    count <- batches
  } yield enumerator.splits(from, count.until).iterator.map(_.weight).sum

  private def oneBatch(rows: Option[Long], bytes: Option[Long]): Option[String] = {
    val large = bytes.filter(_ > ManyBytes).map(n => s"$n bytes").orElse(rows.filter(_ > ManyRows).map(n => s"$n rows"))
    large.map(size =>
      s"one batch reads $size, because no limit is set. A failure repeats the whole batch. Set a limit for the batches of the leg."
    )
  }

  private def json(limits: Limits.Limited): JsonNode = Json.obj(
    limits.files.map(n => "files" -> Json.number(n.toLong)).toSeq ++ limits.bytes.map("bytes" -> Json.number(_)) ++
      limits.rows.map("rows" -> Json.number(_)) ++ limits.minRows.map("minRows" -> Json.number(_)): _*
  )

  private def json(position: Position): JsonNode = Json.read(position.json).getOrElse(Json.text(position.json))

  private def topics(logs: SortedMap[LogPartition, LogOutlook]): JsonNode = {
    val byTopic = SortedMap.from(logs.groupBy(_._1.topic))
    Json.obj(byTopic.toSeq.map { case (topic, partitions) =>
      val offsets = partitions.valuesIterator.map(log => log.range.until - log.range.from).sum
      val ranges  = partitions.toSeq.map { case (p, log) =>
        p.partition.toString -> Json.array(Seq(Json.number(log.range.from), Json.number(log.range.until)))
      }
      val oldest = partitions.valuesIterator.flatMap(_.first).maxOption
      topic -> Json.obj(
        Seq("partitions" -> Json.number(partitions.size.toLong), "offsets" -> Json.number(offsets)) ++
          oldest.map(at => "completeSince" -> Json.text(at.toString)) :+ ("ranges" -> Json.obj(ranges: _*)): _*
      )
    }: _*)
  }
}

/** Leg that a hand-over counts, and that may return other rows each time it is read.
  *
  * @param settings
  *   [[splice.source.Source.skipSettings]]
  */
final private[splice] case class SkippingLeg(name: String, settings: Seq[(String, String)]) {

  /** The settings that have this effect. */
  def found: String = settings.map(_._1).mkString(" and ")

  /** The changes of the settings that remove the effect. */
  def remedy: String = settings.map(_._2).mkString(" and ")
}
