// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.chain

import java.nio.file.{Files, Path}

import org.apache.commons.io.FileUtils
import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}
import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.funsuite.AnyFunSuite

import splice.spark.WithSpark

/** Restarts of a stream of files with other options, columns or settings. */
final class FileRestartSuite extends AnyFunSuite with WithSpark {

  private def write(name: String, text: String): Unit = {
    val file = folder.resolve(name)
    Files.createDirectories(file.getParent)
    val _ = Files.writeString(file, text)
  }

  private def checkpoint(name: String): Path = folder.resolve(s"$name-checkpoint")

  /** Runs batches until `last`. Batch `last` is planned, and its rows are not written. */
  private def run(name: String, last: Int, options: (String, String)*): Unit = {
    val stream = spark.readStream.format("splice-files").option("format", "csv")
      .option("path", folder.resolve(name).toString).option("maxFilesPerTrigger", "1").option("orderBy", "path")
      .options(options.toMap).load()
    val query = stream.writeStream
      .foreachBatch((batch: DataFrame, n: Long) =>
        if (n >= last) throw new IllegalStateException("the run ends here")
        else batch.write.mode("append").parquet(folder.resolve(s"$name-out").toString)
      )
      .option("checkpointLocation", checkpoint(name).toString)
      .trigger(Trigger.AvailableNow())
      .start()
    query.awaitTermination()
  }

  private def rows(name: String): Seq[Row] = spark.read.parquet(folder.resolve(s"$name-out").toString).collect().toSeq

  private def rejected(name: String, options: (String, String)*)(words: String*): Unit = {
    val error = intercept[StreamingQueryException](run(name, Int.MaxValue, options: _*))
    words.foreach(word => assert(error.getMessage.contains(word)))
  }

  test("a restart in another time zone reads the same instants, in a repeated and in a new batch") {
    Seq("a", "b", "c").foreach(file => write(s"zone/$file.csv", "2026-01-01 00:00:00\n"))
    val key    = "spark.sql.session.timeZone"
    val before = spark.conf.get(key)
    intercept[StreamingQueryException](run("zone", 1, "schema" -> "t TIMESTAMP"))
    spark.conf.set(key, "Asia/Tokyo")
    try run("zone", Int.MaxValue, "schema" -> "t TIMESTAMP")
    finally spark.conf.set(key, before)
    assert(rows("zone").size == 3 && rows("zone").distinct.size == 1)
  }

  test("another option of the format is rejected from the first planned batch on") {
    Seq("a", "b").foreach(file => write(s"options/$file.csv", "id\n1\n"))
    intercept[StreamingQueryException](run("options", 0, "schema" -> "id STRING"))
    rejected(
      "options",
      "schema" -> "id STRING",
      "header" -> "true"
    )("READER_OPTION_CHANGED", "'header'", "Remove 'header'")
    run("options", Int.MaxValue, "schema" -> "id STRING")
    assert(rows("options").map(_.getString(0)) == Seq("id", "1", "id", "1"))
  }

  test("a checkpoint that is reset to its start lists files again, with other options") {
    Seq("a", "b").foreach(file => write(s"back/$file.csv", "id\n1\n"))
    run("back", Int.MaxValue, "inferSchema" -> "true")
    Seq("offsets", "commits").foreach(part => FileUtils.deleteDirectory(checkpoint("back").resolve(part).toFile))
    FileUtils.deleteDirectory(folder.resolve("back-out").toFile)
    run("back", Int.MaxValue, "inferSchema" -> "true", "header" -> "true")
    assert(rows("back") == Seq(Row(1), Row(1)))
    assert(Files.readString(checkpoint("back").resolve("offsets/0")).contains("""{"files":1,"list":1,"v":1}"""))
  }

  test("another inferred type is rejected, and the schema of the first list may be set") {
    Seq("a", "b").foreach(file => write(s"types/$file.csv", "1\n"))
    intercept[StreamingQueryException](run("types", 1, "inferSchema" -> "true"))
    write("types/c.csv", "1.5\n")
    rejected("types", "inferSchema" -> "true")("COLUMN_CHANGED", "'_c0'", "DOUBLE", "INT", "'_c0 INT'")
    run("types", Int.MaxValue, "inferSchema" -> "true", "schema" -> "_c0 INT")
    assert(rows("types") == Seq(Row(1), Row(1)))
  }
}
