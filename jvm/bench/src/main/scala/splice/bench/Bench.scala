// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import org.apache.spark.sql.SparkSession

import splice.bench.cost._
import splice.bench.race._

/** `make bench`: compares Splice with Spark's sources, Flink's source and the plain client. All contenders run in
  * turns in one run.
  *
  * Each argument has the bootstrap servers of one cluster. Cases with one cluster use the first argument. Cases with
  * several clusters need three arguments. [[BenchPlan]] defines the size. The benchmark prints the tables and writes
  * them to the file in the environment variable `OUT`.
  */
object Bench {

  def main(arguments: Array[String]): Unit = {
    val servers = arguments.headOption.getOrElse(sys.error("the broker's bootstrap servers are missing"))
    def three   = if (arguments.length < 3) sys.error("three clusters are needed") else arguments.take(3).toSeq
    val plan    = BenchPlan.fromEnvironment()
    val spark   = SparkSession
      .builder()
      .master(s"local[${plan.cores}]")
      .config("spark.ui.enabled", "false")
      .config("spark.sql.shuffle.partitions", plan.cores.toLong)
      .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
      .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
      .getOrCreate()
    try {
      val queries = new Queries(spark)
      val race    = new KafkaRace(queries, servers, plan)
      val cases   = Seq[(String, () => String)](
        "kafka"    -> (() => race.run(KafkaCase.main(plan))),
        "matrix"   -> (() => race.run(KafkaCase.matrix(plan))),
        "steady"   -> (() => new Steady(spark, servers, plan).run()),
        "memory"   -> (() => new MemoryOverBatches(spark, queries, servers, plan).run()),
        "clusters" -> (() => new ClustersRace(queries, three, plan).run()),
        "away"     -> (() => new ClusterAway(spark, three, plan).run()),
        "late"     -> (() => new LateRows(spark, servers, plan).run()),
        "files"    -> (() => new FilesRace(spark, queries, plan).run()),
        "watch"    -> (() => new WatchRace(spark, queries, plan).run()),
        "listings" -> (() => new WatchCost(plan).run()),
        "tables"   -> (() => new TableCost(spark, queries, plan).run()),
        "handover" -> (() => new HandOverCost(spark, servers, plan).run()),
        "driver"   -> (() => new DriverCost(servers, plan.cores).run()),
        "plan"     -> (() => s"${new PlanCost(plan.cores).run()}\n\n${new ManyClustersCost(plan.cores).run()}"),
        // This case is last, because the case needs separate sessions and a JVM has one Spark context at a time.
        "realtime" ->
          (() => {
            spark.stop()
            new RealTimeRace(servers, plan).run()
          })
      )
      val chosen = cases.filter { case (name, _) => plan.cases.forall(_.contains(name)) }
      val head   = machine(spark, plan)
      val tables = (head +: chosen.map(_._2())).mkString("\n\n")
      println(tables)
      sys.env.get("OUT").foreach(file => Files.write(Path.of(file), tables.getBytes(UTF_8)))
    } finally spark.stop()
  }

  private def machine(spark: SparkSession, plan: BenchPlan): String =
    s"Spark ${spark.version}, Java ${System.getProperty("java.version")}, ${plan.cores} cores, " +
      s"${Runtime.getRuntime.maxMemory >> 20} MiB of heap, broker on the same machine; medians of ${plan.rounds} runs each, in turns."
}
