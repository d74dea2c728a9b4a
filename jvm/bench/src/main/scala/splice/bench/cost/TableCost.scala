// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.cost

import java.nio.file.{Files, Path}
import java.time.Clock

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions.col

import splice.bench.{BenchPlan, Columns, Contender, Median, Queries, Race, Report}
import splice.coordinator.internal.sidelog.MemorySideLog
import splice.source.options.SourceOptions
import splice.source.{EnumeratorContext, ReadMode, SourceProvider, SplitEnumerator, StartPosition}

/** Benchmark of a table of Delta with 50 days: Spark's read of a version, and Splice in slices. */
final class TableCost(spark: SparkSession, queries: Queries, plan: BenchPlan) {

  private val Days = 50

  def run(): String = {
    val folder = Files.createTempDirectory("bench-tables")
    try race(folder.resolve("table"))
    finally Queries.delete(folder)
  }

  private def race(table: Path): String = {
    println("writing Delta")
    spark
      .range(0, plan.rows, 1, plan.cores)
      .selectExpr(
        "id",
        "CAST(id AS STRING) AS name",
        "id * 0.5 AS amount",
        s"CAST(id * $Days DIV ${plan.rows} AS INT) AS day"
      )
      .repartitionByRange(Days, col("day"))
      .write
      .format("delta")
      .partitionBy("day")
      .save(table.toString)
    val options = Map("source" -> "table", "format" -> "delta", "path" -> table.toString)
    val version = Map("versionAsOf" -> "0")
    def batch(name: String, format: String, options: Map[String, String], path: Option[String]) =
      // The tasks of a table report the rows of both scans.
      Contender(name, () => { queries.batch(format, options, path = path); None })
    def stream(name: String, more: (String, String)*) =
      Contender(name, () => Some(queries.availableNow("splice", options ++ more, Columns.All)))
    val ofSpark    = batch("Spark delta, versionAsOf", "delta", version, Some(table.toString))
    val contenders = Seq(
      ofSpark,
      batch("Splice table, batch", "splice", options, None),
      stream("Splice table, stream by day, one batch"),
      stream("Splice table, stream by day, 10 batches", "maxBytesPerTrigger" -> (size(table) / 9).toString),
      stream("Splice table, stream by id, 50 slices", "sliceBy"              -> "id", "slices" -> Days.toString)
    )
    val timings = Race(plan.rows, plan.rounds, contenders)
    val title   = f"Delta, all columns: ${plan.rows}%,d rows of 4 columns in $Days days, ${size(table) >> 20} MiB"
    Seq(Report.table(title, timings, Seq(ofSpark.name)), planning(table, options)).mkString("\n\n")
  }

  /** Time to plan a batch, and the time of Spark to plan the same rows. */
  private def planning(table: Path, options: Map[String, String]): String = {
    def millis(body: => Any): Double = {
      val begin = System.nanoTime()
      body
      (System.nanoTime() - begin) / 1e6
    }
    val frame    = () => spark.read.format("delta").option("versionAsOf", 0).load(table.toString).where("day < 5")
    val ofSpark  = (0 until plan.rounds * 3).map(_ => millis(frame().queryExecution.executedPlan))
    val source   = SourceProvider.create(SourceOptions(options + ("maxBytesPerTrigger" -> (size(table) / 10).toString)))
    val ofSplice = (0 until plan.rounds * 3).map { _ =>
      val log        = new MemorySideLog
      val context    = EnumeratorContext(log, ReadMode.Stream, Clock.systemUTC(), plan.cores, "bench")
      val enumerator = SplitEnumerator.untyped(source, context)
      val start      = enumerator.start(StartPosition.Configured)
      val first      = enumerator.advance(start, enumerator.limits(start))
      millis {
        val until  = enumerator.advance(first, enumerator.limits(first))
        val ranges = enumerator.splits(first, until)
        enumerator.readers(source.schema, ranges)
      }
    }
    def median(all: Seq[Double]) = Median(all.map(ms => (ms * 1000).toLong)) / 1000.0
    f"Planning of 5 of $Days days: Spark ${median(ofSpark)}%.0f ms, Splice ${median(ofSplice)}%.0f ms " +
      f"(${median(ofSplice) / median(ofSpark)}%.2f times)"
  }

  private def size(table: Path): Long = {
    val files = Files.walk(table)
    try files.filter(_.toString.endsWith(".parquet")).mapToLong(Files.size(_)).sum
    finally files.close()
  }
}
