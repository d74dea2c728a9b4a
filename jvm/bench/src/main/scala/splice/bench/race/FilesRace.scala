// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.race

import java.nio.file.{Files, Path}

import org.apache.spark.sql.{SaveMode, SparkSession}

import splice.bench.{BenchPlan, Contender, Queries, Race, Report}

/** Benchmark of a folder of Parquet files: Spark's scan and Splice. */
final class FilesRace(spark: SparkSession, queries: Queries, plan: BenchPlan) {

  def run(): String = {
    val folder = Files.createTempDirectory("bench-files")
    try race(folder)
    finally Queries.delete(folder)
  }

  private def race(folder: Path): String = {
    println("writing Parquet")
    spark
      .range(0, plan.rows, 1, 8)
      .selectExpr("id", "CAST(id AS STRING) AS name", "id * 0.5 AS amount", "timestamp_millis(id) AS event_time")
      .write
      .mode(SaveMode.Overwrite)
      .parquet(folder.toString)
    val parquet = Contender("Spark parquet", () => queries.batch("parquet", Map.empty, path = Some(folder.toString)))
    val splice  = Contender(
      "Splice files",
      () => queries.batch("splice-files", Map("format" -> "parquet", "path" -> folder.toString))
    )
    val timings = Race(plan.rows, plan.rounds, Seq(parquet, splice))
    Report.table(
      f"Parquet, all columns, batch: ${plan.rows}%,d rows of 4 columns in 8 files",
      timings,
      Seq(parquet.name)
    )
  }
}
