// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.race

import java.nio.file.Files
import java.util.concurrent.Executors

import scala.concurrent.duration.Duration.Inf
import scala.concurrent.{Await, ExecutionContext, Future}

import splice.bench.{BenchPlan, Columns, Contender, KafkaLoad, Queries, Race, Reading, Report, TopicSpec}

/** Benchmark of the same rows on one cluster and distributed over several clusters: plain consumers, KafkaSource and
  * DynamicKafkaSource.
  *
  * @param servers
  *   bootstrap servers of each cluster; the first cluster also has all rows
  */
final class ClustersRace(queries: Queries, servers: Seq[String], plan: BenchPlan) {

  private val PerTrigger    = 500000L
  private val MaxWaitMillis = 10

  // Each of several brokers receives fewer requests than one broker with all rows, so JIT compilation needs more
  // runs. An uncompiled broker takes CPU time from the query on the same machine.
  private val warmUps = 3 * servers.size

  private val part =
    TopicSpec(plan.rows / servers.size, plan.bytes, (plan.partitions + servers.size - 1) / servers.size)
  private val whole = part.copy(rows = part.rows * servers.size, partitions = part.partitions * servers.size)

  def run(): String = {
    println(s"filling ${whole.name} on one cluster, ${part.name} on ${servers.size}")
    new KafkaLoad(servers.head).fill(whole)
    servers.foreach(new KafkaLoad(_).fill(part))
    try Seq(Reading.Batch, Reading.OneBatch, Reading.Batches(PerTrigger)).map(race).mkString("\n\n")
    finally {
      new KafkaLoad(servers.head).delete(whole.name)
      servers.foreach(new KafkaLoad(_).delete(part.name))
    }
  }

  private def race(reading: Reading): String = {
    val title  = s"${servers.size} clusters, all columns, ${reading.title}: $whole in all"
    val folder = Files.createTempDirectory("bench-streams")
    println(title)
    try {
      val file  = new StreamsFile(folder)
      val limit = reading match {
        case Reading.Batches(rows) => Map("maxOffsetsPerTrigger" -> rows.toString)
        case _                     => Map.empty[String, String]
      }
      val single = Contender(
        "Splice kafka, one cluster",
        () =>
          read(
            reading,
            "splice-kafka",
            Map(
              "kafka.bootstrap.servers" -> servers.head,
              "subscribe"               -> whole.name,
              "startingOffsets"         -> "earliest"
            ) ++ limit
          )
      )
      def dynamic(where: String, topic: String, of: Seq[String]) = Contender(
        s"Splice dynamic-kafka, $where",
        () => {
          file.write(topic, of)
          read(reading, "splice-dynamic-kafka", file.options ++ limit)
        }
      )
      val several = s"${servers.size} clusters"
      val bare    = Contender(s"${servers.size} bare consumers, one cluster", () => Some(bareOfOne()))
      // More brokers take more CPU time on the same machine. The slowdown of plain consumers is therefore not a cost
      // of Splice.
      val bares      = Contender(s"${servers.size} bare consumers, $several", () => Some(bareOfSeveral()))
      val contenders =
        Seq(
          bare,
          bares,
          single,
          dynamic("one cluster", whole.name, servers.take(1)),
          dynamic(several, part.name, servers)
        )
      Report.table(title, Race(whole.rows, plan.rounds, contenders, warmUps), Seq(bare.name, single.name))
    } finally Queries.delete(folder)
  }

  private def bareOfOne(): Long =
    new BareConsumers(servers.head, whole.name, whole.partitions, servers.size, MaxWaitMillis).read()

  private def bareOfSeveral(): Long = {
    val pool                               = Executors.newFixedThreadPool(servers.size)
    implicit val context: ExecutionContext = ExecutionContext.fromExecutor(pool)
    try
      Await.result(
        Future.traverse(servers)(of =>
          Future(new BareConsumers(of, part.name, part.partitions, 1, MaxWaitMillis).read())
        ),
        Inf
      ).sum
    finally pool.shutdown()
  }

  private def read(reading: Reading, format: String, options: Map[String, String]): Option[Long] = reading match {
    case Reading.Batch => queries.batch(format, options)
    case _             => Some(queries.availableNow(format, options, Columns.All))
  }
}
