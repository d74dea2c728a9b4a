// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.race

import scala.util.Using

import org.apache.kafka.clients.consumer.ConsumerConfig

import splice.bench.{BenchPlan, Contender, KafkaCase, KafkaLoad, Queries, Race, Reading, Report}

/** Benchmark of whole topics: plain consumers, Flink, Spark's source and Splice. */
final class KafkaRace(queries: Queries, servers: String, plan: BenchPlan) {

  private val load = new KafkaLoad(servers)

  /** Runs the cases, grouped by topic. Each topic is created before its cases and deleted after its cases. */
  def run(all: Seq[KafkaCase]): String = Using.resource(new FlinkProcess) { flink =>
    val cases = all.filter(spec => plan.only.forall(spec.title.contains))
    cases.map(_.topic).distinct.flatMap { topic =>
      println(s"filling ${topic.name}")
      load.fill(topic)
      try cases.filter(_.topic == topic).map(race(_, flink))
      finally load.delete(topic.name)
    }.mkString("\n\n")
  }

  private def race(spec: KafkaCase, flink: FlinkProcess): String = {
    println(spec.title)
    val topic                                  = spec.topic
    def bare(more: String, maxWaitMillis: Int) = Contender(
      s"${plan.cores} bare consumers$more",
      () => Some(new BareConsumers(servers, topic.name, topic.partitions, plan.cores, maxWaitMillis).read())
    )
    val bares     = Seq(bare("", ConsumerConfig.DEFAULT_FETCH_MAX_WAIT_MS), bare(", fetch.max.wait.ms=10", 10))
    val peer      = Contender("Flink KafkaSource", () => Some(flink.read(servers, topic.name, plan.cores)))
    val spark     = Contender("Spark kafka", () => read("kafka", spec))
    val splice    = Contender("Splice kafka", () => read("splice-kafka", spec))
    val splitting =
      Contender(
        "Splice kafka, splitLargePartitions",
        () => read("splice-kafka", spec, "splitLargePartitions" -> "true")
      )
    val contenders =
      bares ++ (Seq(peer).filter(_ => spec.flink) ++ Seq(spark, splice) ++ Seq(splitting).filter(_ => spec.splitting))
    val timings = Race(topic.rows, plan.rounds, contenders)
    Report.table(spec.title, timings, contenders.map(_.name).filterNot(_.startsWith("Splice")))
  }

  private def read(format: String, spec: KafkaCase, more: (String, String)*): Option[Long] = {
    val limit = spec.reading match {
      case Reading.Batches(rows) => Seq("maxOffsetsPerTrigger" -> rows.toString)
      case _                     => Nil
    }
    val options = Map(
      "kafka.bootstrap.servers" -> servers,
      "subscribe"               -> spec.topic.name,
      "startingOffsets"         -> "earliest"
    ) ++ limit ++ more
    spec.reading match {
      case Reading.Batch => queries.batch(format, options, spec.columns)
      case _             => Some(queries.availableNow(format, options, spec.columns))
    }
  }
}
