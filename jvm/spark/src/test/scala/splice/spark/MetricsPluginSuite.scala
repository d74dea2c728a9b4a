// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import java.net.URI
import java.nio.file.Files
import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.time.Duration

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.kafka.clients.producer.{KafkaProducer, ProducerRecord}
import org.apache.kafka.common.serialization.StringSerializer
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Millis, Seconds, Span}

import splice.source.internal.entries.Json
import splice.testkit.KafkaTopics
import splice.testkit.internal.broker.SharedKafka

/** The gauges of a query over two real clusters, as shown on the driver's page of Spark's metric system. */
final class MetricsPluginSuite extends AnyFunSuite with WithSpark with Eventually {

  implicit override val patienceConfig: PatienceConfig = PatienceConfig(Span(120, Seconds), Span(100, Millis))

  override protected def settings: Map[String, String] = super.settings ++ Map(
    "spark.plugins"                                     -> classOf[MetricsPlugin].getName,
    "spark.ui.enabled"                                  -> "true",
    "spark.ui.port"                                     -> "0",
    "spark.sql.streaming.noDataProgressEventInterval"   -> "100",
    "spark.sql.streaming.realTimeMode.minBatchDuration" -> "1000"
  )

  private lazy val clusters = Map("east" -> SharedKafka.east, "west" -> SharedKafka.west)

  private def write(cluster: String, topic: String, rows: Int, time: Option[Long] = None): Unit = {
    val settings = Map[String, Object](
      "bootstrap.servers" -> clusters(cluster).servers,
      "key.serializer"    -> classOf[StringSerializer].getName,
      "value.serializer"  -> classOf[StringSerializer].getName
    )
    Using.resource(new KafkaProducer[String, String](settings.asJava)) { out =>
      val stamp = time.map(Long.box).orNull
      (0 until rows).foreach(i => out.send(new ProducerRecord(topic, Int.box(i % 2), stamp, "k", "value")))
    }
  }

  private def publish(generation: Int, stream: String): Unit = {
    val servers = clusters.map { case (name, broker) => s"$name: {bootstrapServers: \"${broker.servers}\"}" }
    val next    = folder.resolve("streams.next")
    Files.writeString(
      next,
      s"""version: 1
         |generation: $generation
         |clusters: {${servers.mkString(", ")}}
         |streams: {s: {$stream}}
         |""".stripMargin
    )
    val _ = Files.move(next, folder.resolve("streams.yaml"), ATOMIC_MOVE)
  }

  private def gauges(query: StreamingQuery): Map[String, Long] = {
    val page = URI.create(s"${spark.sparkContext.uiWebUrl.get}/metrics/json").toURL
    val text = Using.resource(page.openStream())(in => new String(in.readAllBytes()))
    (for {
      all           <- Json.read(text).toSeq
      (name, gauge) <- Json.fields(all.get("gauges"))
      if name.contains(s"MetricsPlugin.${query.id}.") && gauge.get("value").isNumber
    } yield name.split(s"${query.id}.", 2)(1) -> gauge.get("value").asLong).toMap
  }

  private def stream(options: Map[String, String] = Map.empty): DataFrame = spark.readStream
    .format("splice-dynamic-kafka")
    .option("streams", "s")
    .option("metadata.file", folder.resolve("streams.yaml").toString)
    .option("startingOffsets", "earliest")
    .option("discoveryInterval", "100ms")
    .option("maxRemovalFraction", "1")
    .options(options)
    .load()

  private def start(name: String, rows: DataFrame): StreamingQuery = rows.writeStream
    .format("noop")
    .option("checkpointLocation", folder.resolve(name).toString)
    .start()

  test("gauges of clusters and topics appear, change, and disappear with their topics, clusters and query") {
    Seq("east", "west").foreach { name =>
      Using.resource(clusters(name).admin())(admin => Seq("a", "b").foreach(KafkaTopics.create(admin, _, 2)))
      write(name, "a", 10)
    }
    publish(1, "east: [a, b], west: [a]")
    val query = start("one", stream(Map("maxOffsetsPerTrigger" -> "1000", "cluster.west.maxOffsetsPerTrigger" -> "4")))
    try {
      eventually {
        val all = gauges(query)
        assert(all.get("0.clusters.east.topics.a.rowsBehind").contains(0L), all)
        assert(all.get("0.clusters.west.topics.a.rowsBehind").contains(0L) && all.get("0.rowsBehind").contains(0L), all)
        assert(all("0.clusters.east.available") == 1 && all("0.clusters.west.available") == 1)
        assert(all("0.clusters.east.topics.b.partitions") == 2 && all("0.clusters.east.splits") == 4)
        assert(all("0.clusters.east.responseAgeMs") >= 0 && all("0.topicsWithoutGauges") == 0)
        assert(!all.contains("0.clusters.west.topics.b.partitions"))
      }
      val batches = query.recentProgress.filter(_.numInputRows > 0)
      assert(batches.map(_.numInputRows).sum == 20 && batches.forall(_.numInputRows <= 14))
      assert(batches.length >= 3)
      write("west", "a", 100)
      eventually(assert(gauges(query).get("0.clusters.west.topics.a.rowsBehind").exists(_ > 0)))
      publish(2, "east: [b], west: [a]")
      eventually {
        val all = gauges(query)
        assert(!all.keys.exists(_.startsWith("0.clusters.east.topics.a.")) &&
          all.contains("0.clusters.east.topics.b.partitions"))
      }
      publish(3, "east: [b]")
      query.processAllAvailable()
      eventually(assert(!gauges(query).keys.exists(_.startsWith("0.clusters.west."))))
      assert(gauges(query).contains("0.clusters.east.rowsBehind"))
    } finally query.stop()
    assert(gauges(query).isEmpty)
  }

  test("two sources of a query with clusters of the same names have separate gauges") {
    Using.resource(clusters("east").admin())(admin => Seq("c", "d").foreach(KafkaTopics.create(admin, _, 2)))
    Seq("c" -> 10, "d" -> 100).foreach { case (topic, rows) => write("east", topic, rows) }
    publish(1, "east: [c]}, other: {east: [d]")
    val limited = Map("streams" -> "other", "maxOffsetsPerTrigger" -> "2")
    val query   = start("two", stream().union(stream(limited)))
    try {
      eventually {
        val all = gauges(query)
        assert(all.get("0.clusters.east.topics.c.rowsBehind").contains(0L), all)
        assert(all.get("1.clusters.east.topics.d.rowsBehind").exists(_ > 0), all)
        assert(all.get("1.clusters.east.rowsBehind").exists(_ > 0) && all.get("0.rowsBehind").contains(0L), all)
      }
    } finally query.stop()
    assert(gauges(query).isEmpty)
  }

  test("executors show the latency of rows in real-time mode and continuous mode while the tasks run") {
    val hour = Duration.ofHours(1).toMillis
    Seq("live" -> Trigger.RealTime("10 minutes"), "continuous" -> Trigger.Continuous("1 second")).foreach {
      case (topic, trigger) =>
        Using.resource(clusters("east").admin())(KafkaTopics.create(_, topic, 2))
        val query = spark.readStream
          .format("splice-kafka")
          .option("kafka.bootstrap.servers", clusters("east").servers)
          .option("subscribe", topic)
          .option("startingOffsets", "earliest")
          .load()
          .writeStream
          .format("console")
          .outputMode("update")
          .option("checkpointLocation", folder.resolve(topic).toString)
          .trigger(trigger)
          .start()
        try {
          val begun = System.currentTimeMillis()
          eventually {
            write("east", topic, 2, Some(System.currentTimeMillis() - hour))
            val all = gauges(query)
            Seq("latencyP50Ms", "latencyP95Ms", "latencyP99Ms").foreach { name =>
              assert(all.get(name).exists(age => age >= hour && age <= hour + System.currentTimeMillis() - begun), all)
            }
          }
          assert(query.recentProgress.isEmpty)
        } finally query.stop()
        eventually(assert(gauges(query).isEmpty))
    }
  }
}
