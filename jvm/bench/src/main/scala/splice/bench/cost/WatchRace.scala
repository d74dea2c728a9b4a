// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.cost

import java.nio.file.{Files, Path}

import org.apache.spark.sql.SparkSession

import splice.bench.{BenchPlan, Contender, Queries, Race, Report}

/** Benchmark of many JSON files of one row in 50 folders, 2,000 files per trigger: Spark's file stream, and a folder
  * that Splice watches.
  */
final class WatchRace(spark: SparkSession, queries: Queries, plan: BenchPlan) {

  private val Folders = 50
  private val Schema  = "id BIGINT, name STRING, day INT"
  private val files   = plan.files / 20

  def run(): String = {
    val folder = Files.createTempDirectory("bench-watch")
    try race(folder)
    finally Queries.delete(folder)
  }

  private def race(folder: Path): String = {
    println(s"writing $files JSON files")
    val days = (0 until Folders).map(day => Files.createDirectory(folder.resolve(s"day=$day")))
    (0 until files).foreach { i =>
      Files.writeString(days(i % Folders).resolve(f"part-$i%08d.json"), s"""{"id":$i,"name":"$i"}""")
    }
    val limit   = "maxFilesPerTrigger" -> "2000"
    val ofSpark = Contender(
      "Spark json",
      () =>
        Some(
          queries.untilRead(spark.readStream.format("json").schema(Schema).options(Map(limit)).load(folder.toString))
        )
    )
    val options = Map("source" -> "files", "format" -> "json", "discovery" -> "watch", "schema" -> Schema, limit) +
      ("path" -> folder.toString)
    val splice =
      Contender(
        "Splice watch",
        () => Some(queries.untilRead(spark.readStream.format("splice").options(options).load()))
      )
    val title = f"JSON, $files%,d files of one row in $Folders folders, 2,000 files per trigger"
    Report.table(title, Race(files.toLong, plan.rounds, Seq(ofSpark, splice)), Seq(ofSpark.name))
  }
}
