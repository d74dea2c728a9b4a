// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import java.nio.file.{Files, Path}
import java.util.Comparator

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}
import org.scalatest.funsuite.AnyFunSuite

import splice.source.internal.entries.Json
import splice.spark.internal.checkpoint.CheckpointCommands

final class MicroBatchSuite extends AnyFunSuite with WithSpark {

  private def files(path: String, more: (String, String)*): DataFrame =
    spark.readStream.format("splice-files").option("format", "parquet").option("path", path).options(more.toMap).load()

  test("AvailableNow reads all rows in batches of the source's own limit") {
    val query = drain(files(numbers("limits", 0, 1000, 6), "maxFilesPerTrigger" -> "2"), "limits")
    assert(query.recentProgress.count(_.numInputRows > 0) == 3)
    assert(idsOut("limits") == (0L until 1000L))
  }

  test("a second start has no rows to read, and reports its position") {
    val path = numbers("again", 0, 50, 2)
    drain(files(path), "again")
    val query = drain(files(path), "again")
    assert(query.recentProgress.forall(_.numInputRows == 0))
    assert(idsOut("again") == (0L until 50L))
  }

  test("the progress has position and backlog") {
    val query    = drain(files(numbers("metrics", 0, 50, 4), "maxFilesPerTrigger" -> "2"), "metrics")
    val reported = query.recentProgress.filter(_.numInputRows > 0).map(_.sources.head.metrics.asScala)
    assert(reported.forall(_.contains("position")))
    assert(reported.last.get("bytesBehind").contains("0"))
  }

  test("several batches read a large file, with a restart and other options between them") {
    val file = folder.resolve("large.csv")
    Files.writeString(file, (0 until 500).mkString("\n"))
    def run(batches: Int, maxPartitionBytes: String, maxBytes: String): Unit = {
      val rows = spark.readStream.format("splice-files").option("format", "csv").option("path", file.toString)
        .option("schema", "id BIGINT").option("maxPartitionBytes", maxPartitionBytes)
        .option("maxBytesPerTrigger", maxBytes).load()
      val query = rows.writeStream
        .foreachBatch((batch: DataFrame, n: Long) =>
          if (n >= batches) throw new IllegalStateException("the run ends here")
          else batch.write.mode("append").parquet(folder.resolve("large-out").toString)
        )
        .option("checkpointLocation", folder.resolve("large-checkpoint").toString)
        .trigger(Trigger.AvailableNow())
        .start()
      query.awaitTermination()
    }
    intercept[StreamingQueryException](run(2, "100", "250"))
    val offset = Files.readString(folder.resolve("large-checkpoint/offsets/1"))
    assert(offset.contains("""{"files":1,"partly":{"0:400":0,"0:500":0,"""))
    run(Int.MaxValue, "64", "700")
    assert(idsOut("large") == (0L until 500L))
  }

  test("a union of a source with itself reads each row twice") {
    val frame = files(numbers("union", 0, 20, 2))
    drain(frame.union(frame), "union")
    assert(idsOut("union") == (0L until 20L).flatMap(i => Seq(i, i)))
    // Spark logs one offset for each use of the source, and keeps one folder for the source.
    val commands =
      new CheckpointCommands(s"$folder/union-checkpoint", new Configuration(false))
    val findings = Json.items(commands.verify(Map.empty).get("findings"))
    assert(findings.map(_.get("problem").asBoolean) == Seq(false))
    val error = intercept[IllegalArgumentException](commands.offsets(None, Some("1"), None))
    assert(error.getMessage.contains("uses a source more than once"))
  }

  test("the lost folder of a second source is a problem, and not a repeated source") {
    drain(files(numbers("two", 0, 20, 2)).union(files(numbers("three", 20, 40, 3))), "lost-second")
    val second = folder.resolve("lost-second-checkpoint/sources/1")
    Files.walk(second).sorted(Comparator.reverseOrder[Path]()).forEach(p => Files.delete(p))
    val commands =
      new CheckpointCommands(s"$folder/lost-second-checkpoint", new Configuration(false))
    val findings = Json.items(commands.verify(Map.empty).get("findings"))
    assert(findings.exists(_.get("problem").asBoolean))
  }

  test("a checkpoint of another source is rejected, and the error names the difference") {
    val first = numbers("first", 0, 5, 1)
    drain(files(first), "changed")
    val other = numbers("other", 0, 5, 1)
    val error = intercept[StreamingQueryException](drain(files(other), "changed"))
    assert(error.getMessage.contains("SPLICE_CHECKPOINT.SOURCE_CHANGED"))
    assert(error.getMessage.contains("/first'") && error.getMessage.contains("/other'"))
  }

  test("a checkpoint with offsets and without its side log is rejected and not changed") {
    val path = numbers("lost", 0, 5, 1)
    drain(files(path), "lost")
    val sideLog = folder.resolve("lost-checkpoint/sources/0/splice")
    Files.move(sideLog, folder.resolve("lost-side-log"))
    val error = intercept[StreamingQueryException](drain(files(path), "lost"))
    assert(error.getMessage.contains("SPLICE_CHECKPOINT.ENTRY_NOT_FOUND") &&
      error.getMessage.contains("chain-00000000"))
    assert(!Files.exists(sideLog))
    Files.move(folder.resolve("lost-side-log"), sideLog)
    drain(files(path), "lost")
    assert(idsOut("lost") == (0L until 5L))
  }
}
