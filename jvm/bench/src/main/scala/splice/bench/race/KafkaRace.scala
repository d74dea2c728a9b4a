// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.race

import scala.util.Using

import org.apache.kafka.clients.consumer.ConsumerConfig

import splice.bench.{BenchPlan, Contender, KafkaCase, KafkaLoad, Queries, Race, Reading, Report}

/** Benchmark of whole topics: plain consumers, Flink, Spark's source and Splice. */
final class KafkaRace(queries: Queries, servers: String, plan: BenchPlan) {

  private val load = new KafkaLoad(servers)

  /** Runs the cases, grouped by topic. Each topic is created before its cases and deleted after them. */
  def run(all: Seq[KafkaCase]): String = Using.resource(new FlinkProcess) { flink =>
    val cases = all.filter(one => plan.only.forall(one.title.contains))
    cases.map(_.topic).distinct.flatMap { topic =>
      println(s"filling ${topic.name}")
      load.fill(topic)
      try cases.filter(_.topic == topic).map(race(_, flink))
      finally load.delete(topic.name)
    }.mkString("\n\n")
  }

  private def race(one: KafkaCase, flink: FlinkProcess): String = {
    println(one.title)
    val topic                                  = one.topic
    def bare(more: String, maxWaitMillis: Int) = Contender(
      s"${plan.cores} bare consumers$more",
      () => Some(new BareConsumers(servers, topic.name, topic.partitions, plan.cores, maxWaitMillis).read())
    )
    val bares     = Seq(bare("", ConsumerConfig.DEFAULT_FETCH_MAX_WAIT_MS), bare(", fetch.max.wait.ms=10", 10))
    val peer      = Contender("Flink KafkaSource", () => Some(flink.read(servers, topic.name, plan.cores)))
    val spark     = Contender("Spark kafka", () => read("kafka", one))
    val splice    = Contender("Splice kafka", () => read("splice-kafka", one))
    val splitting =
      Contender("Splice kafka, splitLargePartitions", () => read("splice-kafka", one, "splitLargePartitions" -> "true"))
    val contenders =
      bares ++ (Seq(peer).filter(_ => one.flink) ++ Seq(spark, splice) ++ Seq(splitting).filter(_ => one.splitting))
    val timings = Race(topic.rows, plan.rounds, contenders)
    Report.table(one.title, timings, contenders.map(_.name).filterNot(_.startsWith("Splice")))
  }

  private def read(format: String, one: KafkaCase, more: (String, String)*): Option[Long] = {
    val limit = one.reading match {
      case Reading.Batches(rows) => Seq("maxOffsetsPerTrigger" -> rows.toString)
      case _                     => Nil
    }
    val options = Map(
      "kafka.bootstrap.servers" -> servers,
      "subscribe"               -> one.topic.name,
      "startingOffsets"         -> "earliest"
    ) ++ limit ++ more
    one.reading match {
      case Reading.Batch => queries.batch(format, options, one.columns)
      case _             => Some(queries.availableNow(format, options, one.columns))
    }
  }
}
