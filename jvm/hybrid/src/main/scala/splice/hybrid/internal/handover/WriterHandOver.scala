// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.handover

import java.io.FileNotFoundException
import java.nio.charset.StandardCharsets.UTF_8
import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.util.Using

import com.fasterxml.jackson.databind.JsonNode
import org.apache.hadoop.fs.Path

import splice.hybrid.HandOver
import splice.hybrid.internal.chain.Leg
import splice.hybrid.internal.errors.HandOverErrors
import splice.source.internal.HadoopConfiguration
import splice.source.internal.entries.Json
import splice.source.log.LogRange
import splice.source.{Evidence, LogPartition}

/** Decision of [[HandOver.WriterCheckpoint]]: the offsets of the last batch of the writing query that the history has. */
final private[hybrid] class WriterHandOver(
    before: Leg,
    leg: Leg,
    rule: HandOver.WriterCheckpoint,
    end: Evidence,
    now: Instant
) {

  /** @throws splice.source.errors.SpliceException
    *   if the history has no batch of the query, or if the checkpoint does not have the offsets of the batch
    */
  def decide(log: SortedMap[LogPartition, Long] => SortedMap[LogPartition, LogRange]): HandOverDecision = {
    val query = Json.readObject(read("metadata")).flatMap(Json.field(_, "id")).fold(missing("metadata"))(_.asText)
    val batch =
      end.lastBatch(query).getOrElse(throw HandOverErrors.noWriter(before.name, leg.name, rule.checkpoint, query))
    val topics = ends(s"offsets/$batch")
    val result = Json.write(Json.obj("offsets" -> topics))
    val start  = new ReturnedStart(before, leg, rule.name, now)
    val known  = SortedMap.from(start.partitions(topics).getOrElse(Nil))
    val proof  = Json.obj("batch" -> Json.number(batch), "query" -> Json.text(query), "offsets" -> topics)
    HandOverDecision(start.read(result, log(known)), now, Seq(Json.write(proof)))
  }

  /** Offsets of the source in a file of Spark's offset log: the version, the metadata of the batch, and one line per
    * source. In later versions than the first, a line begins with the name of its source.
    */
  private def ends(file: String): JsonNode = {
    val line = read(file).linesIterator.toSeq.drop(2).lift(rule.source)
    line.flatMap(text => Json.readObject(text.drop(text.indexOf('{')))).filterNot(_.has("v"))
      .getOrElse(throw HandOverErrors.noWriterSource(before.name, leg.name, s"${rule.checkpoint}/$file", rule.source))
  }

  private def read(file: String): String = {
    val path = new Path(rule.checkpoint, file)
    try
      Using.resource(path.getFileSystem(HadoopConfiguration.active).open(path))(in =>
        new String(in.readAllBytes(), UTF_8)
      )
    catch { case _: FileNotFoundException => missing(file) }
  }

  private def missing(file: String): Nothing =
    throw HandOverErrors.noWriterFile(before.name, leg.name, rule.checkpoint, file)
}
