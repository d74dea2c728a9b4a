// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.checkpoint

import com.fasterxml.jackson.databind.JsonNode
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import splice.source.internal.checks.{CheckpointFinding, StoredOffset}
import splice.source.internal.entries.Json

/** Commands for the checkpoint of a query. Each result is JSON. No command starts a query or changes a file. */
final private[spark] class CheckpointCommands(root: String, configuration: Configuration) {

  private val files   = new CheckpointFiles(new Path(root), configuration)
  private val content = files.content
  private val sources = content.sources.map(new CheckpointSource(_, content, files, configuration))

  private def isRepeated = files.hasRepeatedSource(content)

  def show: JsonNode = CheckpointViews.state(content, sources)

  /** Returns all findings.
    *
    * @param kafka
    *   properties of Kafka clients, without the prefix `kafka.`; without properties, no request is sent
    */
  def verify(kafka: Map[String, String]): JsonNode = {
    val found = BatchChecks(content) ++
      (if (isRepeated) Seq(CheckpointCommands.Repeated) else sources.flatMap(_.check(kafka)))
    Json.obj(
      "batches"  -> Json.number(content.offsets.size.toLong),
      "entries"  -> Json.number(sources.map(_.entries.size.toLong).sum),
      "compared" -> Json.bool(kafka.nonEmpty),
      "findings" -> Json.array(found.map(_.json))
    )
  }

  /** Returns the log offsets of a source in the format of `startingOffsets`.
    *
    * @param batch
    *   a batch, or None for the last committed batch
    * @param part
    *   the leg or the cluster of the offsets, or None for the current leg or the only cluster
    */
  def offsets(batch: Option[Long], source: Option[String], part: Option[String]): JsonNode = {
    val chosen   = batch.orElse(content.committed).getOrElse(invalid("The checkpoint has no committed batch."))
    val from     = select(source)
    val position = content.end(chosen, from.name).flatMap(end => Json.read(end.json)).getOrElse(
      invalid(s"Batch $chosen has no readable offset of source ${from.name}.")
    )
    val offsets = from.logOffsets(part).starting(position).getOrElse(invalid(s"Batch $chosen was in another leg."))
    from.filling(part, offsets).foreach { case (partition, end) =>
      invalid(
        s"Batch $chosen reads offsets that the history lacks, and the history has the other offsets of $partition before " +
          s"$end. A query that starts at the end of this batch would read these rows again. Use a later batch."
      )
    }
    offsets
  }

  /** Returns the changes of positions between two batches. */
  def difference(from: Long, until: Long): JsonNode = CheckpointViews.difference(ends(from), ends(until))

  /** Returns the changes of positions from the last committed batch to that of another checkpoint. */
  def difference(other: CheckpointCommands): JsonNode = CheckpointViews.difference(last, other.last)

  private def last = content.committed.fold(Map.empty[String, StoredOffset])(ends)

  private def ends(batch: Long): Map[String, StoredOffset] = {
    if (!content.offsets.contains(batch)) {
      val range = content.offsets.headOption.zip(content.planned).map { case ((first, _), last) => s"$first to $last" }
      invalid(s"Batch $batch is not in the checkpoint. Batches: ${range.getOrElse("none")}.")
    }
    content.offsets(batch).left.foreach(reason => invalid(s"offsets/$batch cannot be read: $reason."))
    sources.flatMap(source => content.end(batch, source.name).map(source.name -> _)).toMap
  }

  private def select(name: Option[String]): CheckpointSource = {
    if (isRepeated) invalid(CheckpointCommands.Repeated.what)
    name match {
      case Some(wanted) => sources.find(_.name == wanted).getOrElse(
          invalid(s"Source '$wanted' is not in the checkpoint. Sources: ${sources.map(_.name).mkString(", ")}.")
        )
      case None => sources.filter(_.kind.nonEmpty) match {
          case Seq(single) => single
          case several     =>
            invalid(s"The checkpoint has ${several.size} sources of Splice or Kafka. Set --source to one of " +
              s"${sources.map(_.name).mkString(", ")}.")
        }
    }
  }

  private def invalid(reason: String): Nothing = throw new IllegalArgumentException(reason)
}

private[spark] object CheckpointCommands {

  private val Repeated = CheckpointFinding(
    "offsets, sources",
    "The query uses a source more than once, so the checkpoint does not show which offset belongs to which source.",
    "Compare the offsets with the sources of the query yourself.",
    isProblem = false
  )
}
