// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.race

import java.nio.charset.StandardCharsets.US_ASCII
import java.nio.file.Files
import java.time.Duration
import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.LockSupport
import java.util.{Map => JMap}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.kafka.clients.consumer.KafkaConsumer
import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.serialization.ByteArrayDeserializer
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.streaming.Trigger

import splice.bench.{BenchPlan, KafkaLoad, Median, Queries, Report, TopicSpec}

// scalafix:off DisableSyntax.null; Kafka's clients define null for an absent argument

/** Compares Splice with Spark's Kafka source in real-time mode and with plain clients, from Kafka to Kafka, in turns.
  *
  * The latency of a record is the difference between its timestamp and the timestamp of its copy, which the producer
  * of the sink sets. A consumer reads all copies after the stop of the query. Each turn has a separate session,
  * because Spark's source needs one core per partition.
  */
final class RealTimeRace(servers: String, plan: BenchPlan) {

  private val Few      = 2
  private val Many     = 64
  private val Rates    = Seq(10000, 50000)
  private val Warm     = 10.seconds
  private val Measured = 20.seconds

  private val MaxWaitMillis = 10

  private val load = new KafkaLoad(servers)

  private case class Source(name: String, format: String, cores: Int => Int)

  private val splice = Source("Splice kafka", "splice-kafka", _ => Few)
  private val spark  = Source("Spark kafka", "kafka", partitions => partitions)

  def run(): String = {
    val latencies = for {
      rate       <- Rates
      partitions <- Seq(Few, Many)
    } yield f"Real-time mode, Kafka to Kafka, $rate%,d rows per second, $partitions partitions" ->
      (() => latency(rate, partitions))
    val backlogTopic = TopicSpec(plan.rows, plan.bytes, Few)
    val all          = latencies :+ s"Real-time mode, a backlog: $backlogTopic" -> (() => backlog(backlogTopic))
    all.collect {
      case (title, lines) if plan.only.forall(title.contains) =>
        (s"### $title" +: "" +: lines()).mkString("\n")
    }.mkString("\n\n")
  }

  /** Runs the contenders in turns. The order rotates from round to round. */
  private def turns[A](contenders: (String, () => A)*): Seq[(String, Seq[A])] = {
    val laps = (0 until plan.rounds).flatMap { round =>
      val (later, first) = contenders.splitAt(round % contenders.size)
      (first ++ later).map { case (name, run) =>
        val measured = run()
        println(s"  $name: $measured")
        name -> measured
      }
    }
    contenders.map { case (name, _) => name -> laps.collect { case (`name`, measured) => measured } }
  }

  private def latency(rate: Int, partitions: Int): Seq[String] = {
    val queries = Seq(spark, splice).map { source =>
      s"${source.name}, local[${source.cores(partitions)}]" ->
        (() => measure(rate, partitions)((from, to, load) => query(source, partitions, from, to)(load)))
    }
    val bare = s"$Few bare consumers" ->
      (() => measure(rate, partitions)((from, to, load) => bareCopy(partitions, from, to)(load)))
    val rows = turns(queries :+ bare: _*).map { case (name, all) =>
      Seq(name, Median(all.map(_.p50)).toString, Median(all.map(_.p99)).toString, all.map(_.p99).sorted.mkString(", "))
    }
    Report.lines(Seq("source", "p50, ms", "p99, ms", "p99 of each turn, ms"), rows)
  }

  /** Measures a copy of a topic during a constant rate of records.
    *
    * @param during
    *   copies the first topic to the second topic while the load runs
    */
  private def measure(rate: Int, partitions: Int)(during: (String, String, () => Long) => Long): Latency = {
    val (from, to) = (s"bench-rt-from-${System.nanoTime()}", s"bench-rt-to-${System.nanoTime()}")
    load.create(from, partitions)
    load.create(to, Few)
    try ages(to, during(from, to, () => produce(from, rate, partitions)))
    finally Seq(from, to).foreach(load.delete)
  }

  private def query(source: Source, partitions: Int, from: String, to: String)(load: () => Long): Long =
    running(source, partitions, from, "cast(unix_millis(timestamp) as string) AS value") { (frame, at) =>
      val query = frame.writeStream
        .format("kafka")
        .option("kafka.bootstrap.servers", servers)
        .option("topic", to)
        .option("checkpointLocation", at)
        .outputMode("update")
        .trigger(Trigger.RealTime("10 minutes"))
        .start()
      try load()
      finally query.stop()
    }

  private def bareCopy(partitions: Int, from: String, to: String)(load: () => Long): Long = {
    val copy = new BareCopy(servers, from, partitions, to, Few)
    try load()
    finally copy.stop()
  }

  /** Writes at a constant rate. Returns the time at which the measurement begins. */
  private def produce(topic: String, rate: Int, partitions: Int): Long =
    Using.resource(load.producer("none", lingerMillis = 0)) { producer =>
      val values                = KafkaLoad.values(1 << 10, plan.bytes)
      val even                  = new EvenRate(rate)
      def send(row: Long): Unit = {
        val value = values((row % values.length).toInt)
        val _     = producer.send(new ProducerRecord(topic, (row % partitions).toInt, null, value))
      }
      even.during(Warm)(send)
      val begin = System.currentTimeMillis()
      even.during(Measured)(send)
      begin
    }

  /** Returns the latencies of records that were written at `begin` or later. */
  private def ages(topic: String, begin: Long): Latency = {
    Ages.clear()
    Using.resource(consumer()) { consumer =>
      val assigned = (0 until Few).map(new TopicPartition(topic, _)).asJava
      consumer.assign(assigned)
      consumer.seekToBeginning(assigned)
      val ends = consumer.endOffsets(assigned)
      while (assigned.asScala.exists(p => consumer.position(p) < ends.get(p)))
        consumer.poll(Duration.ofSeconds(1)).forEach { record =>
          val written = new String(record.value, US_ASCII).toLong
          if (written >= begin) Ages.add(record.timestamp - written)
        }
    }
    Ages.latency()
  }

  private def consumer(): KafkaConsumer[Array[Byte], Array[Byte]] = {
    val settings: JMap[String, AnyRef] = Map[String, AnyRef]("bootstrap.servers" -> servers).asJava
    new KafkaConsumer(settings, new ByteArrayDeserializer, new ByteArrayDeserializer)
  }

  /** Measures a backlog that is complete before the start of the query. A filter passes only the last record of each
    * partition, so the sink has no cost. Plain consumers, one per partition, read the same topic.
    */
  private def backlog(topic: TopicSpec): Seq[String] = {
    load.fill(topic)
    try {
      val last    = plan.rows / Few - 1
      val queries = Seq(spark, splice).map { source =>
        source.name ->
          (() =>
            running(source, Few, topic.name, "offset")((frame, at) => toEnd(frame.where(s"offset = $last"), at))
          )
      }
      val bare  = s"$Few bare consumers" -> (() => readBare(topic))
      val rows  = turns(queries :+ bare: _*).map { case (name, all) => name -> Median(all) }
      val base  = rows.head._2
      val lines = rows.map { case (name, median) =>
        Seq(name, f"$median%.2f", f"${plan.rows / median}%,.0f", f"${base / median}%.2f")
      }
      Report.lines(Seq("source", "median s", "rows/s", s"÷ ${spark.name}"), lines)
    } finally load.delete(topic.name)
  }

  private def readBare(topic: TopicSpec): Double = {
    val begin = System.nanoTime()
    val _     = new BareConsumers(servers, topic.name, Few, Few, MaxWaitMillis).read()
    secondsSince(begin)
  }

  private def secondsSince(begin: Long): Double = (System.nanoTime() - begin) / 1e9

  // The measured time includes the first start of a query in a session, for both sources.
  private def toEnd(frame: org.apache.spark.sql.DataFrame, checkpoint: String): Double = {
    Ages.clear()
    val begin = System.nanoTime()
    val query = frame.selectExpr("0L").writeStream
      .foreach(new AgeWriter)
      .option("checkpointLocation", checkpoint)
      .outputMode("update")
      .trigger(Trigger.RealTime("10 minutes"))
      .start()
    try {
      while (Ages.count < Few) {
        query.exception.foreach(throw _)
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5))
      }
      secondsSince(begin)
    } finally query.stop()
  }

  private def running[A](source: Source, partitions: Int, topic: String, columns: String)(
      work: (org.apache.spark.sql.DataFrame, String) => A
  ): A = {
    val session = SparkSession.builder()
      .master(s"local[${source.cores(partitions)}]")
      .config("spark.ui.enabled", "false")
      .getOrCreate()
    val checkpoint = Files.createTempDirectory("bench-checkpoint")
    try
      work(
        session.readStream
          .format(source.format)
          .option("kafka.bootstrap.servers", servers)
          .option("subscribe", topic)
          .option("startingOffsets", "earliest")
          .load()
          .selectExpr(columns),
        checkpoint.toString
      )
    finally {
      session.stop()
      Queries.delete(checkpoint)
    }
  }
}
