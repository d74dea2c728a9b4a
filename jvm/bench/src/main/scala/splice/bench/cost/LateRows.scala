// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.cost

import java.nio.file.Files
import java.util.concurrent.TimeUnit

import scala.util.Using

import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions.{col, window}
import org.apache.spark.sql.streaming.{StreamingQueryProgress, Trigger}

import splice.bench.{BenchPlan, Contender, KafkaLoad, Queries, Race, Report}

/** Benchmark of a backlog whose partitions cover different times, in windows of 10 minutes: eight partitions with the
  * same number of records, half of them of 24 hours and half of the last six hours, in 16 batches.
  *
  * Each query reports the rows that its watermark drops.
  */
final class LateRows(spark: SparkSession, servers: String, plan: BenchPlan) {

  private val Each       = 40000
  private val Partitions = 8
  private val Rows       = Each.toLong * Partitions
  private val Hour       = 3600000L

  private val load  = new KafkaLoad(servers)
  private val topic = s"bench-late-${System.nanoTime()}"

  private var dropped = Map.empty[String, Long]

  def run(): String = {
    load.create(topic, Partitions)
    try {
      fill()
      val byLag = contender("lag, delay of 24 hours", "24 hours", "splice-kafka", "admission" -> "lag")
      val all   = Seq(
        contender("Spark's source, delay of 10 minutes", "10 minutes", "kafka"),
        contender("lag, delay of 10 minutes", "10 minutes", "splice-kafka", "admission" -> "lag"),
        byLag,
        contender("eventTime, delay of 10 minutes", "10 minutes", "splice-kafka", "admission" -> "eventTime")
      )
      val timings = Race(Rows, plan.rounds, all)
      val ratio   = (t: Long) => f"${t.toDouble / timings.find(_.name == byLag.name).fold(1L)(_.median)}%.2f"
      val lines   = timings.map(t =>
        Seq(t.name, f"${t.median / 1e9}%.2f", ratio(t.median), f"${dropped(t.name)}%,d")
      )
      (f"### A backlog of $Rows%,d records in windows" +: "" +:
        Report.lines(Seq("query", "median s", s"÷ ${byLag.name}", "rows dropped"), lines)).mkString("\n")
    } finally load.delete(topic)
  }

  private def fill(): Unit = Using.resource(load.producer("none")) { producer =>
    val end    = System.currentTimeMillis() - Hour / 60
    val values = KafkaLoad.values(1 << 10, plan.bytes)
    for (i <- 0 until Each; p <- 0 until Partitions) {
      val hours = if (p < Partitions / 2) 24 else 6
      val time  = end - hours * Hour * (Each - i) / Each
      producer.send(new ProducerRecord(topic, p, time, Array.emptyByteArray, values(i % values.length)))
    }
    producer.flush()
  }

  private def contender(name: String, delay: String, format: String, options: (String, String)*): Contender =
    Contender(
      name,
      () => {
        val progress = query(delay, format, options.toMap)
        // Operators count rows after a partial aggregation of their batch, so the number is a lower bound.
        dropped += name -> progress.flatMap(_.stateOperators).map(_.numRowsDroppedByWatermark).sum
        Some(progress.map(_.numInputRows).sum)
      }
    )

  private def query(delay: String, format: String, options: Map[String, String]): Seq[StreamingQueryProgress] = {
    val checkpoint = Files.createTempDirectory("bench-checkpoint")
    val rows       = spark.readStream
      .format(format)
      .option("kafka.bootstrap.servers", servers)
      .option("subscribe", topic)
      .option("startingOffsets", "earliest")
      .option("maxOffsetsPerTrigger", Rows / 16)
      .options(options)
      .load()
    val running = rows
      .withWatermark("timestamp", delay)
      .groupBy(window(col("timestamp"), "10 minutes"))
      .count()
      .writeStream
      .format("noop")
      .outputMode("update")
      .option("checkpointLocation", checkpoint.toString)
      .trigger(Trigger.AvailableNow())
      .start()
    try {
      if (!running.awaitTermination(TimeUnit.MINUTES.toMillis(10))) sys.error(s"$format: the query does not end")
      running.recentProgress.toSeq
    } finally {
      running.stop()
      Queries.delete(checkpoint)
    }
  }
}
