// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.chain

import java.nio.file.Files

import scala.collection.immutable.ListMap

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{DataFrame, SaveMode}
import org.scalatest.funsuite.AnyFunSuite

import splice.source.SourceSpec
import splice.source.internal.entries.Json
import splice.spark.internal.checkpoint.CheckpointCommands
import splice.spark.internal.python.PythonApi
import splice.spark.{SourcePlan, WithSpark}
import splice.streams.fake.{FakeLog, FakeProvider}

/** Queries of Spark over streams of Spark, alone and as legs. */
final class StreamQueriesSuite extends AnyFunSuite with WithSpark {

  private def load(options: (String, String)*): DataFrame =
    spark.readStream.format("splice").options(options.toMap).load()

  test("a stream of Spark is read over several runs, each row once") {
    val rate = Seq("source" -> "stream", "format" -> "rate-micro-batch", "rowsPerBatch" -> "5")
    (1 to 3).foreach { runs =>
      drain(load(rate: _*).selectExpr("value as id"), "rate")
      assert(idsOut("rate") == (0L until runs * 5L))
    }
  }

  test("a bounded stream comes before another leg, and the tools of checkpoints ignore its files") {
    new FakeLog("before-files").grow(5)
    val options = Seq(
      "source"         -> "hybrid",
      "legs"           -> "before,after",
      "before.source"  -> "stream",
      "before.format"  -> FakeProvider.Format,
      "before.log"     -> "before-files",
      "before.bounded" -> "true",
      "before.select"  -> "id",
      "after.source"   -> "files",
      "after.format"   -> "parquet",
      "after.path"     -> numbers("after", 100, 110, 2)
    )
    assert(SourcePlan.of(spark, SourceSpec(ListMap.from(options))).batches.contains(3L))
    drain(load(options: _*), "chain")
    assert(idsOut("chain") == (0L until 5L) ++ (100L until 110L))
    val checkpoint = folder.resolve("chain-checkpoint")
    assert(Files.exists(checkpoint.resolve("sources/0/splice/leg-before/spark/0")))
    assert(!PythonApi.sideLogs(spark, checkpoint.toString).contains("leg-before/spark"))
    val commands = new CheckpointCommands(checkpoint.toString, new Configuration(false))
    assert(Json.items(commands.verify(Map.empty).get("findings")).isEmpty)
    drain(load(options: _*), "chain")
    assert(idsOut("chain") == (0L until 5L) ++ (100L until 110L))
  }

  test("Spark receives the metrics of the stream, and one batch of everything has no limit") {
    val log = new FakeLog("metrics-of-a-stream")
    log.grow(10)
    val frame = load("source" -> "stream", "format" -> FakeProvider.Format, "log" -> log.name).select("id")
    val query = drain(frame, "metrics")
    assert(idsOut("metrics") == (0L until 10L))
    val figures = query.recentProgress.flatMap(_.sources).map(_.metrics)
    assert(figures.exists(_.get("rowsLeft") == "0"))
    log.grow(10)
    @annotation.nowarn("cat=deprecation")
    val once = Trigger.Once()
    frame.writeStream.format("noop").option("checkpointLocation", folder.resolve("metrics-checkpoint").toString)
      .trigger(once).start().awaitTermination()
    assert(log.called.contains("plan 10 20"))
  }

  test("a bounded stream can be read as a batch") {
    val log = new FakeLog("batch-of-a-stream")
    log.grow(10)
    val rows = spark.read.format("splice").options(
      Map("source" -> "stream", "format" -> FakeProvider.Format, "log" -> log.name, "columnar" -> "true")
    ).load()
    rows.select("id").write.mode(SaveMode.Overwrite).parquet(folder.resolve("batch-out").toString)
    assert(idsOut("batch") == (0L until 10L))
    assert(rows.select("text").distinct().count() == 1)
  }
}
