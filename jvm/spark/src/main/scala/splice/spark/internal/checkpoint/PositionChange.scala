// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.checkpoint

import com.fasterxml.jackson.databind.JsonNode

import splice.source.internal.checks.{CheckpointFinding, StoredOffset}
import splice.source.internal.entries.Json

/** Request to begin the next batch of a source at other log offsets.
  *
  * @param offsets
  *   offset per topic and partition; other partitions keep their offsets. None with `batch`
  * @param batch
  *   a batch whose end becomes the position
  * @param discard
  *   true if the offsets of batches without a commit are removed
  * @param kafka
  *   properties of Kafka clients for the check of the offsets
  * @param unchecked
  *   true if the offsets may be written without this check
  * @param quiet
  *   milliseconds without a change of the checkpoint, after which the query counts as stopped
  */
final private[spark] case class PositionRequest(
    leg: Option[String],
    offsets: Option[JsonNode],
    batch: Option[Long],
    discard: Boolean,
    kafka: Map[String, String],
    unchecked: Boolean,
    quiet: Long
)

/** New position of a source, which no file has yet.
  *
  * @param hasState
  *   true if the query has aggregations or joins with state
  * @param facts
  *   findings about the new position that do not reject the change
  * @param rejected
  *   reasons not to write the position
  */
final private[spark] case class PositionChange(
    source: String,
    leg: Option[String],
    batch: Long,
    before: JsonNode,
    after: JsonNode,
    changes: Seq[LogOffsets.Change],
    removed: Seq[Long],
    hasState: Boolean,
    facts: Seq[CheckpointFinding],
    rejected: Seq[CheckpointFinding]
) {

  /** Effects of the change that a user must accept. */
  def warnings: Seq[String] = {
    val (forward, back)                 = changes.partition(change => change.after > change.before)
    def sum(of: Seq[LogOffsets.Change]) = of.map(change => math.abs(change.after - change.before)).sum
    Option.when(back.nonEmpty)(
      s"The query reads ${sum(back)} offsets again, so the sink may receive rows twice."
    ).toSeq ++
      Option.when(forward.nonEmpty)(
        s"The query skips ${sum(forward)} offsets. It never reads the rows of these offsets."
      ) ++
      Option.when(removed.nonEmpty)(
        s"Batch ${removed.mkString(", ")} has no commit, and is planned again with other rows. A sink that has already written this batch number, " +
          "such as a Delta table or a file sink, ignores the new batch."
      ) ++
      Option.when(hasState)(
        "The query has state. Aggregations and joins count the rows of repeated offsets again, and drop rows before the watermark. Use a rollback instead."
      ) ++ facts.map(fact => s"${fact.where}: ${fact.what}") :+
      "Stop the query before the change. Splice cannot detect a query that waits for rows, or that runs a batch for longer than --quiet."
  }

  def json: JsonNode = Json.obj(
    Seq("source" -> Json.text(source)) ++ leg.map("leg" -> Json.text(_)) ++ Seq(
      "file"     -> Json.text(s"offsets/$batch"),
      "before"   -> before,
      "after"    -> after,
      "changes"  -> Json.array(changes.map(_.json)),
      "removed"  -> Json.array(removed.map(batch => Json.text(s"offsets/$batch"))),
      "warnings" -> Json.array(warnings.map(Json.text)),
      "rejected" -> Json.array(rejected.map(_.json))
    ): _*
  )
}

private[spark] object PositionChange {

  /** Computes the change of the last committed batch.
    *
    * @param age
    *   milliseconds since the last change of the checkpoint
    * @param check
    *   returns findings about a position of the source
    * @throws IllegalArgumentException
    *   if the request does not match the checkpoint
    */
  def of(
      content: CheckpointContent,
      source: CheckpointSource,
      request: PositionRequest,
      age: Long,
      hasState: Boolean
  ): PositionChange = {
    val batch = content.committed.getOrElse(
      invalid("the checkpoint has no committed batch. Set the start in the options of a new checkpoint")
    )
    if (!content.offsets.contains(batch)) invalid(s"offsets/$batch is missing. Run 'splice checkpoint verify'")
    val file = content.file(batch).getOrElse(invalid(s"offsets/$batch cannot be read"))
    if (file.isEpoch) invalid("the query used continuous mode, which this command does not support")
    if (source.kind.contains(CheckpointSource.ManyClusters)) invalid("the positions of many clusters cannot be changed")
    request.leg.filterNot(source.leg.contains).foreach { leg =>
      invalid(s"leg '$leg' is not the current leg, which is ${source.leg.getOrElse("unknown")}")
    }
    val part    = source.logOffsets(request.leg)
    val before  = positionOf(content, source.name, batch)
    val offsets = request.offsets.getOrElse {
      val earlier = request.batch.getOrElse(invalid("no offset and no batch is given"))
      val wanted  = part.find(positionOf(content, source.name, earlier)).getOrElse(
        invalid(s"batch $earlier was in another leg")
      )
      rejectOthers(earlier, part.find(before).getOrElse(before), wanted)
      wanted
    }
    val (after, changes) = part.moved(before, offsets).fold(invalid, identity)
    if (changes.isEmpty) invalid("the position has these offsets already")
    val found             = source.checkAt(StoredOffset("the new position", Json.write(after)), request.kafka)
    val (problems, facts) = found.partition(_.isProblem)
    PositionChange(
      source.name,
      source.leg,
      batch,
      before,
      after,
      changes,
      content.uncommitted,
      hasState,
      facts,
      problems ++ rejections(content, request, age)
    )
  }

  /** Rejects a batch without an offset of each partition. The key of a partition also has the generation of its topic. */
  private def rejectOthers(batch: Long, current: JsonNode, earlier: JsonNode): Unit = {
    def keys(topics: JsonNode) = for {
      (topic, partitions) <- Json.fields(topics)
      (key, _)            <- Json.fields(partitions)
    } yield (topic, key)
    val others = keys(current).toSet.diff(keys(earlier).toSet).toSeq.sorted.map { case (topic, key) => s"$topic $key" }
    if (others.nonEmpty)
      invalid(
        s"batch $batch has no offset of ${others.mkString(", ")}, because Splice found the partition later, or because the topic was recreated. Set --offsets"
      )
  }

  private def positionOf(content: CheckpointContent, source: String, batch: Long): JsonNode =
    content.end(batch, source).flatMap(end => Json.read(end.json)).getOrElse(
      invalid(s"offsets/$batch has no readable position of source $source")
    )

  private def rejections(content: CheckpointContent, request: PositionRequest, age: Long): Seq[CheckpointFinding] = {
    val open = content.uncommitted
    Option.when(open.nonEmpty && !request.discard)(CheckpointFinding(
      s"offsets/${open.mkString(", offsets/")}",
      s"Batch ${open.mkString(", ")} has no commit, so the sink may have rows of the batch.",
      "Run the query until the batch is committed, and stop the query. If the batch always fails and the sink has none of its rows, use --discard-uncommitted."
    )).toSeq ++
      Option.when(age < request.quiet)(CheckpointFinding(
        "offsets, commits",
        s"A file changed $age ms ago, so the query seems to run.",
        "Stop the query. If the query is stopped, use --quiet 0."
      )) ++
      Option.when(request.kafka.isEmpty && !request.unchecked)(CheckpointFinding(
        "the new position",
        "The offsets were not compared with the brokers.",
        "Set --servers, or use --unchecked."
      ))
  }

  private def invalid(reason: String): Nothing = throw new IllegalArgumentException(s"No change: $reason.")
}
