// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.race

import java.nio.file.Files
import java.util.concurrent.atomic.AtomicLongArray

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.Using

import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{ForeachWriter, SparkSession}

import splice.bench.{BenchPlan, KafkaLoad, Median, Queries, Report}

// scalafix:off DisableSyntax.null; Kafka's clients define null for an absent argument

/** Benchmark of the age of records at the sink, with records that are produced at a constant rate and read
  * immediately.
  */
final class Steady(spark: SparkSession, servers: String, plan: BenchPlan) {

  private val RowsPerSecond = 20000
  private val Warm          = 15.seconds
  private val Measured      = 30.seconds

  private val load    = new KafkaLoad(servers)
  private val created = mutable.ArrayBuffer.empty[String]

  def run(): String = {
    val sources = Seq(
      ("Spark kafka", "kafka", Map.empty[String, String]),
      ("Splice kafka", "splice-kafka", Map.empty[String, String]),
      ("Splice kafka by event time", "splice-kafka", Map("admission" -> "eventTime"))
    )
    val laps = (1 to plan.rounds).flatMap(_ =>
      sources.map { case (name, format, more) => name -> measure(format, more) }
    )
    // A running task of Spark's source would wait one minute for a deleted topic.
    created.foreach(load.delete)
    val rows = sources.map { case (name, _, _) =>
      val latencies = laps.filter(_._1 == name).map(_._2)
      Seq(name, median(latencies.map(_.p50)), median(latencies.map(_.p99)), median(latencies.map(_.batch)))
    }
    (f"### Kafka, $RowsPerSecond%,d rows per second, trigger 0, ${plan.partitions} partitions" +: "" +:
      Report.lines(Seq("source", "p50, ms", "p99, ms", "batch p50, ms"), rows)).mkString("\n")
  }

  private def measure(format: String, more: Map[String, String]): Latency = {
    val topic      = s"bench-steady-${System.nanoTime()}"
    val checkpoint = Files.createTempDirectory("bench-checkpoint")
    load.create(topic, plan.partitions)
    created += topic
    val query = spark.readStream
      .format(format)
      .option("kafka.bootstrap.servers", servers)
      .option("subscribe", topic)
      .option("startingOffsets", "earliest")
      .options(more)
      .load()
      .selectExpr("unix_millis(timestamp) AS made")
      .writeStream
      .option("checkpointLocation", checkpoint.toString)
      .trigger(Trigger.ProcessingTime(0))
      .foreach(new AgeWriter)
      .start()
    try {
      produce(topic)
      val batches = query.recentProgress.filter(_.numInputRows > 0).map(_.batchDuration)
      val latency = Ages.latency(Median(batches.toSeq))
      println(f"  $format%-40s p50 ${latency.p50}%d ms, p99 ${latency.p99}%d ms, batch p50 ${latency.batch}%d ms")
      latency
    } finally {
      query.stop()
      Queries.delete(checkpoint)
    }
  }

  private def produce(topic: String): Unit = Using.resource(load.producer("none", lingerMillis = 0)) { producer =>
    val values          = KafkaLoad.values(1 << 10, plan.bytes)
    val rate            = new EvenRate(RowsPerSecond)
    def send(row: Long) = {
      val _ =
        producer.send(new ProducerRecord(
          topic,
          (row % plan.partitions).toInt,
          null,
          values((row % values.length).toInt)
        ))
    }
    rate.during(Warm)(send)
    Ages.clear()
    rate.during(Measured)(send)
  }

  private def median(of: Seq[Long]): String = Median(of).toString
}

/** Percentiles of the ages of records, and the median duration of the last batches if known, in milliseconds. */
final case class Latency(p50: Long, p99: Long, batch: Long)

/** Histogram of the ages of records, in milliseconds. Tasks run in this JVM. */
object Ages {

  private val counts = new AtomicLongArray(60000)

  def add(millis: Long): Unit = {
    val _ = counts.incrementAndGet(math.max(0L, math.min(millis, counts.length - 1L)).toInt)
  }

  def count: Long = (0 until counts.length).map(counts.get).sum

  def clear(): Unit = (0 until counts.length).foreach(counts.set(_, 0))

  def latency(batch: Long = 0): Latency = {
    val sums = (0 until counts.length).scanLeft(0L)((sum, i) => sum + counts.get(i)).tail
    assert(sums.last > 0, "the query has read nothing")
    def at(part: Double): Long = sums.indexWhere(_ >= sums.last * part).toLong
    Latency(at(0.5), at(0.99), batch)
  }
}

final class AgeWriter extends ForeachWriter[org.apache.spark.sql.Row] {
  override def open(partition: Long, epoch: Long): Boolean  = true
  override def process(row: org.apache.spark.sql.Row): Unit = Ages.add(System.currentTimeMillis() - row.getLong(0))
  override def close(error: Throwable): Unit                = ()
}
