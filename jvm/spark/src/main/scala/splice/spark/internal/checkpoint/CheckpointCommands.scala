// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.checkpoint

import java.io.IOException
import java.time.ZoneOffset.UTC
import java.time.format.DateTimeFormatter
import java.time.{Clock, Instant}

import com.fasterxml.jackson.databind.JsonNode
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import splice.source.internal.checks.{CheckpointFinding, StoredOffset}
import splice.source.internal.entries.Json

/** Commands for the checkpoint of a query. Each result is JSON. No command starts a query. Only [[setPosition]] writes,
  * and only if the caller requests it.
  */
final private[spark] class CheckpointCommands(root: String, configuration: Configuration, clock: Clock) {

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

  /** Returns a change of the position of a source.
    *
    * @param write
    *   true to write the change, after a backup, unless a reason against it exists
    * @param backup
    *   a folder that does not exist, or None for a folder next to the checkpoint
    */
  def setPosition(
      source: Option[String],
      request: PositionRequest,
      write: Boolean,
      backup: Option[String]
  ): JsonNode = {
    val change  = PositionChange.of(content, select(source), request, clock.millis() - files.modified, files.hasState)
    val written = write && change.rejected.isEmpty
    val copy    = Option.when(written)(backUpAndWrite(change, backup))
    val more    = ("written" -> Json.bool(written)) +: copy.map(path => "backup" -> Json.text(path.toString)).toSeq
    Json.obj(Json.fields(change.json) ++ more: _*)
  }

  // The offsets of open batches are removed first. If the write stops in between, the query continues at the old
  // position, and no batch has a start that differs from the previous end.
  private def backUpAndWrite(change: PositionChange, backup: Option[String]): Path = {
    val copy = files.backUp(backup.fold(files.backup(CheckpointCommands.time(clock.instant())))(new Path(_)))
    val now  = files.content
    if (now.planned != content.planned || now.committed != content.committed)
      invalid("The query has planned or committed a batch since the start of the command. Stop the query.")
    val file =
      now.file(change.batch).getOrElse(invalid(s"offsets/${change.batch} cannot be read. Nothing was changed."))
    try {
      change.removed.sorted.reverse.foreach(files.removeOffset)
      files.replaceOffset(change.batch, file.updated(change.source, Json.write(change.after)))
    } catch {
      case e: IOException => throw new IOException(
          s"The change failed after the backup to $copy. Copy offsets and commits back. Reason: ${e.getMessage}",
          e
        )
    }
    copy
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

  private def time(at: Instant): String = DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(UTC).format(at)
}
