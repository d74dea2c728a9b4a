// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.kafka.clients.admin.NewPartitions
import org.apache.kafka.clients.producer.{KafkaProducer, ProducerRecord}
import org.apache.kafka.common.serialization.StringSerializer
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException, Trigger}
import org.apache.spark.sql.{ForeachWriter, Row, SparkSession}
import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Millis, Seconds, Span}

import splice.testkit.memory.MemoryLog
import splice.testkit.{KafkaBroker, KafkaTopics}

/** Queries in Spark's real-time mode over a real broker. */
final class RealTimeSuite extends AnyFunSuite with WithSpark with Eventually {

  import RealTimeSuite._

  implicit override val patienceConfig: PatienceConfig = PatienceConfig(Span(120, Seconds), Span(50, Millis))

  override protected lazy val spark: SparkSession = SparkSession.builder()
    .master("local[2]")
    .config("spark.sql.streaming.realTimeMode.minBatchDuration", "500")
    .getOrCreate()

  private lazy val broker = KafkaBroker.start()

  override protected def afterAll(): Unit =
    try broker.close()
    finally super.afterAll()

  private def create(topic: String, partitions: Int): Unit =
    Using.resource(broker.admin())(KafkaTopics.create(_, topic, partitions))

  private def write(topic: String, partition: Int, values: Seq[String]): Unit = {
    val settings = Map[String, Object](
      "bootstrap.servers" -> broker.servers,
      "key.serializer"    -> classOf[StringSerializer].getName,
      "value.serializer"  -> classOf[StringSerializer].getName
    )
    Using.resource(new KafkaProducer[String, String](settings.asJava)) { out =>
      values.foreach(value => out.send(new ProducerRecord[String, String](topic, Int.box(partition), "k", value)))
    }
  }

  private def start(topic: String, trigger: Trigger, options: (String, String)*): StreamingQuery =
    spark.readStream.format("splice-kafka")
      .option("kafka.bootstrap.servers", broker.servers)
      .option("subscribe", topic)
      .option("startingOffsets", "earliest")
      .option("discoveryInterval", "200ms")
      .options(options.toMap)
      .load()
      .selectExpr("topic", "cast(value as string)")
      .writeStream
      .foreach(new Collecting)
      .outputMode("update")
      .option("checkpointLocation", folder.resolve(topic).toString)
      .trigger(trigger)
      .start()

  private def values(topic: String): Seq[String] =
    seen.asScala.toSeq.collect { case (`topic`, value) => value }.sorted

  private def numbers(partition: Int, range: Range): Seq[String] = range.map(n => f"$partition-$n%05d")

  private def whole(topic: String, expected: Seq[String]): Unit =
    eventually(assert(values(topic) == expected.sorted))

  /** Stops once a batch is committed that ends after all rows so far, so that no row is read again. */
  private def stopAfterBatch(query: StreamingQuery): Unit = {
    val last = query.recentProgress.lastOption.fold(-1L)(_.batchId)
    eventually(assert(query.recentProgress.lastOption.exists(_.batchId > last + 1)))
    query.stop()
  }

  private val long = Trigger.RealTime("10 minutes")

  test("more partitions than cores are read while one batch lasts, with rows of different columns") {
    create("many", 5)
    (0 until 5).foreach(p => write("many", p, numbers(p, 0 until 100)))
    val query = start("many", long)
    try {
      val first = (0 until 5).flatMap(p => numbers(p, 0 until 100))
      whole("many", first)
      (0 until 5).foreach(p => write("many", p, numbers(p, 100 until 200)))
      whole("many", (0 until 5).flatMap(p => numbers(p, 0 until 200)))
      assert(query.recentProgress.isEmpty)
    } finally query.stop()
  }

  test("batches follow one another, and the query continues with another trigger and back") {
    create("modes", 3)
    def next(from: Int) = (0 until 3).foreach(p => write("modes", p, numbers(p, from until from + 50)))
    def all(until: Int) = (0 until 3).flatMap(p => numbers(p, 0 until until))
    next(0)
    val one = start("modes", Trigger.RealTime("1 second"))
    whole("modes", all(50))
    stopAfterBatch(one)
    next(50)
    val two = start("modes", Trigger.AvailableNow())
    two.awaitTermination()
    whole("modes", all(100))
    next(100)
    val three = start("modes", Trigger.RealTime("1 second"))
    whole("modes", all(150))
    stopAfterBatch(three)
    assert(values("modes") == all(150).sorted)
  }

  test("a batch that is stopped is read again from its start, and no row is lost") {
    create("stopped", 2)
    (0 until 2).foreach(p => write("stopped", p, numbers(p, 0 until 50)))
    val one = start("stopped", long)
    whole("stopped", (0 until 2).flatMap(p => numbers(p, 0 until 50)))
    one.stop()
    (0 until 2).foreach(p => write("stopped", p, numbers(p, 50 until 60)))
    val two = start("stopped", long)
    try {
      val again = (0 until 2).flatMap(p => numbers(p, 0 until 50) ++ numbers(p, 0 until 60))
      whole("stopped", again)
    } finally two.stop()
  }

  test("a new partition is read from its first record by the next batch") {
    create("growing", 1)
    write("growing", 0, numbers(0, 0 until 10))
    val query = start("growing", Trigger.RealTime("1 second"))
    try {
      whole("growing", numbers(0, 0 until 10))
      Using.resource(broker.admin()) { admin =>
        admin.createPartitions(Map("growing" -> NewPartitions.increaseTo(2)).asJava).all().get()
      }
      write("growing", 1, numbers(1, 0 until 10))
      whole("growing", numbers(0, 0 until 10) ++ numbers(1, 0 until 10))
    } finally query.stop()
  }

  private def failure(query: StreamingQuery): String =
    intercept[StreamingQueryException](query.awaitTermination()).getMessage

  test("limits of batches that the user sets, and sources without real-time mode, are rejected by name") {
    create("limited", 1)
    val message = failure(start("limited", long, "maxOffsetsPerTrigger" -> "10", "minPartitions" -> "4"))
    assert(message.contains("[SPLICE_REAL_TIME.LIMIT_NOT_SUPPORTED]") &&
      message.contains("'minPartitions', 'maxOffsetsPerTrigger'"))
    val memory = spark.readStream.format("splice").option("source", "memory")
      .option("log", new MemoryLog("limited").addPartitions(1).name).load()
    val query = memory.selectExpr("'x'", "'y'").writeStream.foreach(new Collecting).outputMode("update")
      .option("checkpointLocation", folder.resolve("memory").toString).trigger(long).start()
    assert(failure(query).contains(
      "[SPLICE_REAL_TIME.SOURCE_NOT_SUPPORTED] The query cannot run in real-time mode. The memory source"
    ))
  }
}

object RealTimeSuite {

  private val seen = new ConcurrentLinkedQueue[(String, String)]

  /** Keeps rows of text in this JVM. */
  final private class Collecting extends ForeachWriter[Row] {
    override def open(partition: Long, epoch: Long): Boolean = true
    override def process(row: Row): Unit                     = {
      val _ = seen.add(row.getString(0) -> row.getString(1))
    }
    override def close(error: Throwable): Unit = ()
  }
}
