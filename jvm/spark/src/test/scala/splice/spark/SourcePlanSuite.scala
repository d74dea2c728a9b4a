// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import java.net.URI
import java.nio.file.Files

import scala.collection.immutable.ListMap
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import org.apache.hadoop.fs.RawLocalFileSystem
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.streaming.Trigger
import org.scalatest.funsuite.AnyFunSuite

import splice.source.SourceSpec
import splice.source.errors.{SpliceException, SpliceOptionException}
import splice.source.internal.entries.Json
import splice.spark.internal.python.PythonApi
import splice.testkit.internal.memory.MemoryLog

/** Source plans on Spark, compared with the queries that run afterwards. */
final class SourcePlanSuite extends AnyFunSuite with WithSpark {

  /** A log of two partitions with 40 records, and an archive of the first 10 of partition 0 and the first 4 of partition 1. */
  private def spec(name: String, more: (String, String)*): SourceSpec = {
    val log  = new MemoryLog(name).addPartitions(2)
    val path = folder.resolve(s"$name-history").toString
    (0 until 40).foreach(i => log.append(i % 2, i.toLong))
    Seq(0 -> 10L, 1 -> 4L).foreach { case (p, until) =>
      spark.range(0, until, 1, 2)
        .selectExpr(s"'$name' AS topic", s"$p AS partition", "id AS offset", s"id * 2 + $p AS id")
        .write.mode("append").parquet(path)
    }
    SourceSpec(ListMap(
      "source"                     -> "hybrid",
      "legs"                       -> "history,live",
      "history.source"             -> "files",
      "history.format"             -> "parquet",
      "history.path"               -> path,
      "history.maxFilesPerTrigger" -> "3",
      "history.select"             -> "id",
      "live.source"                -> "memory",
      "live.log"                   -> name,
      "live.handOver"              -> "offsets",
      "live.maxRows"               -> "8",
      "live.select"                -> "id"
    ) ++ more)
  }

  private def json(plan: SourcePlan): JsonNode = Json.read(plan.json).get

  private def files: Seq[String] = {
    val walked = Files.walk(folder)
    try walked.iterator.asScala.map(_.toString).toSeq.sorted
    finally walked.close()
  }

  test("a plan with a scan has the batches and the hand-over of the query, starts no query, and writes no data") {
    val source = spec("planned")
    val before = files
    val known  = SparkSession.getActiveSession
    val plan   = SourcePlan.of(spark, source, scan = true)
    assert(files == before && spark.streams.active.isEmpty && SparkSession.getActiveSession == known)
    assert(plan.slots == 2 && plan.warnings.isEmpty)
    val legs = Json.items(json(plan).path("legs"))
    assert(legs.head.path("files").asInt == 4 && legs.head.path("rows").asInt == 14)
    val query    = drain(source.readStream(spark), "planned")
    val progress = query.recentProgress.filter(_.numInputRows > 0).map(_.sources.head.metrics.get("leg"))
    assert(plan.batches.contains(progress.length.toLong))
    assert(legs.map(_.path("batches").asInt) == Seq("history", "live").map(name => progress.count(_ == name)))
    val events = Json.items(Json.read(PythonApi.historyOf(query.id.toString)).get)
    assert(events.map(_.path("event").asText) == Seq("handOver"))
    assert(events.head.path("source").asText == "0/leg-live")
    assert(events.head.path("details").path("found") == legs(1).path("handOver").path("found"))
    assert(events.head.path("details").path("found").path(1).path("start").asInt == 4)
    val shown = QueryHistory.of(spark, folder.resolve("planned-checkpoint").toString).collect()
    assert(shown.map(row => (row.getString(0), row.getString(4))).toSeq == Seq("0/leg-live" -> "handOver"))
  }

  test(
    "the history of a checkpoint is read with the session of the caller or of the query, not with the active session"
  ) {
    val own = spark.newSession()
    own.conf.set("fs.own.impl", classOf[OwnFileSystem].getName)
    // A session without the settings would otherwise get the file system from the cache.
    own.conf.set("fs.own.impl.disable.cache", "true")
    val checkpoint = s"own:$folder/own-checkpoint"
    val query      = spec("own", "checkpointStore" -> "unsafe").readStream(own).writeStream.format("noop")
      .option("checkpointLocation", checkpoint).trigger(Trigger.AvailableNow()).start()
    query.awaitTermination()
    assert(SparkSession.active eq spark)
    assert(PythonApi.historyOf(query.id.toString).contains("handOver"))
    assert(PythonApi.history(own, checkpoint).contains("handOver"))
    assert(Json.items(Json.read(PythonApi.sideLogs(own, checkpoint)).get).length == 3)
  }

  test("without a scan, the start of the leg after the history is open") {
    val plan = SourcePlan.of(spark, spec("open"))
    assert(plan.batches.isEmpty)
    val live = json(plan).path("legs").path(1)
    assert(live.path("handOver").path("undecided").asText.nonEmpty && live.path("batches").isMissingNode)
    assert(live.path("topics").path("open").path("offsets").asInt == 40)
  }

  test("a source without legs, and footers that cannot be read") {
    val path = numbers("alone", 0, 100, 4)
    val own  = Map("source" -> "files", "format" -> "parquet", "path" -> path, "schema" -> "id BIGINT")
    val plan = SourcePlan.of(spark, SourceSpec(ListMap.from(own)))
    val leg  = json(plan).path("legs").path(0)
    assert(plan.batches.contains(1L) && leg.path("rows").asInt == 100 && leg.path("leg").isMissingNode)
    Files.writeString(folder.resolve("alone").resolve("broken.parquet"), "PAR")
    val broken = SourcePlan.of(spark, SourceSpec(ListMap.from(own)))
    assert(json(broken).path("legs").path(0).path("rows").isMissingNode)
    assert(broken.warnings.exists(text => text.contains("1 files") && text.contains("broken.parquet")), broken.warnings)
  }

  test("a plan fails with the error of the query at its start") {
    val missing = Map("source" -> "files", "format" -> "parquet", "path" -> folder.resolve("none").toString)
    val planned = intercept[SpliceException](SourcePlan.of(spark, SourceSpec(ListMap.from(missing))))
    val started = intercept[SpliceException](SourceSpec(ListMap.from(missing)).readStream(spark))
    assert(planned.getMessage == started.getMessage)
    assert(PythonApi.historyOf("unknown") == "[]")
  }

  test("a plan and a batch read reject a rule that never has a result, without a request") {
    val kafka = Map("source" -> "kafka", "subscribe" -> "t", "kafka.bootstrap.servers" -> "127.0.0.1:1")
    val rule  = Map("handOver" -> "eventTime", "handOver.column" -> "timestamp", "handOver.overlap" -> "1h")
    val legs  = Seq("first" -> (kafka + ("endingOffsets" -> "latest")), "live" -> (kafka ++ rule))
    val own   = SourceSpec(ListMap("source" -> "hybrid", "legs" -> "first,live") ++ legs.flatMap {
      case (leg, options) => options.map { case (key, value) => s"$leg.$key" -> value }
    })
    Seq[() => Any](() => SourcePlan.of(spark, own), () => own.read(spark).collect()).foreach { start =>
      assert(intercept[SpliceOptionException](start()).getMessage.contains("'eventTime' is not a valid value"))
    }
  }
}

/** The local file system with a scheme that only the settings of a session know. */
final class OwnFileSystem extends RawLocalFileSystem {
  override def getScheme: String = "own"
  override def getUri: URI       = URI.create("own:///")
}
