// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import java.util.concurrent.locks.LockSupport
import java.util.concurrent.{ConcurrentLinkedQueue, TimeUnit}

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

import splice.source.Json
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
    start(topic, trigger, new Collecting, options: _*)

  private def start(
      topic: String,
      trigger: Trigger,
      sink: ForeachWriter[Row],
      options: (String, String)*
  ): StreamingQuery =
    spark.readStream.format("splice-kafka")
      .option("kafka.bootstrap.servers", broker.servers)
      .option("subscribe", topic)
      .option("startingOffsets", "earliest")
      .option("discoveryInterval", "200ms")
      .options(options.toMap)
      .load()
      .selectExpr("topic", "cast(value as string)")
      .writeStream
      .foreach(sink)
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

  test("no partition waits for others if more slots are set than tasks can run") {
    create("slots", 3)
    (0 until 3).foreach(p => write("slots", p, numbers(p, 0 until 10)))
    val query = start("slots", Trigger.RealTime("1 second"), "slots" -> "3")
    try whole("slots", (0 until 3).flatMap(p => numbers(p, 0 until 10)))
    finally query.stop()
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
      grow("growing", 2)
      write("growing", 1, numbers(1, 0 until 10))
      whole("growing", numbers(0, 0 until 10) ++ numbers(1, 0 until 10))
    } finally query.stop()
  }

  test("the progress has the backlog at the end of the batch") {
    create("lag", 2)
    write("lag", 0, numbers(0, 0 until 10))
    write("lag", 1, numbers(1, 0 until 30))
    val query   = start("lag", Trigger.RealTime("1 second"))
    def metrics = query.recentProgress.map(_.sources.head.metrics)
    try {
      eventually(assert(metrics.exists(_.get("rowsBehind") == "0")))
      whole("lag", numbers(0, 0 until 10) ++ numbers(1, 0 until 30))
    } finally query.stop()
    // The sink is so slow that batches end before all rows are read.
    write("lag", 1, numbers(1, 30 until 230))
    val slow = start("lag", Trigger.RealTime("1 second"), new Collecting(pauseMillis = 20))
    try {
      val first = eventually {
        assert(slow.recentProgress.nonEmpty)
        slow.recentProgress.head.sources.head
      }
      val Some(read) = Json.read(first.endOffset).map(_.get("lag").get("1").asLong): @unchecked
      assert(read < 230 && first.metrics.get("rowsBehind").toLong == 230 - read)
    } finally slow.stop()
  }

  test("the progress has the latency of the rows of a batch") {
    create("late", 2)
    val settings = Map[String, Object](
      "bootstrap.servers" -> broker.servers,
      "key.serializer"    -> classOf[StringSerializer].getName,
      "value.serializer"  -> classOf[StringSerializer].getName
    )
    val written = System.currentTimeMillis()
    // Of 100 records, 94 are one hour old, and six are one day old.
    val hour = 3600000L
    Using.resource(new KafkaProducer[String, String](settings.asJava)) { out =>
      (0 until 100).foreach { i =>
        val time = written - (if (i % 50 < 47) hour else 24 * hour)
        out.send(new ProducerRecord[String, String]("late", Int.box(i / 50), Long.box(time), "k", s"$i"))
      }
    }
    val query = start("late", Trigger.RealTime("1 second"))
    try {
      whole("late", (0 until 100).map(_.toString))
      eventually(assert(query.recentProgress.nonEmpty))
      val figures = query.recentProgress.head.sources.head.metrics
      val most    = System.currentTimeMillis() - written
      Seq("latencyP50Ms" -> hour, "latencyP95Ms" -> 24 * hour, "latencyP99Ms" -> 24 * hour).foreach {
        case (name, age) =>
          val found = figures.get(name).toLong
          assert(found >= age && found <= age + most, name)
      }
      // A batch without rows has none.
      eventually(assert(!query.lastProgress.sources.head.metrics.containsKey("latencyP50Ms")))
    } finally query.stop()
  }

  private def grow(topic: String, partitions: Int): Unit = Using.resource(broker.admin()) { admin =>
    val _ = admin.createPartitions(Map(topic -> NewPartitions.increaseTo(partitions)).asJava).all().get()
  }

  test("a new partition ends the batch that is read, and each row is read once") {
    create("ended", 1)
    write("ended", 0, numbers(0, 0 until 10))
    val query = start("ended", long)
    try {
      whole("ended", numbers(0, 0 until 10))
      grow("ended", 2)
      write("ended", 1, numbers(1, 0 until 10))
      whole("ended", numbers(0, 0 until 10) ++ numbers(1, 0 until 10))
      assert(query.recentProgress.map(_.batchId).toSeq == Seq(0))
      assert(staleEntries("ended").isEmpty)
    } finally query.stop()
  }

  test("a new partition waits for the next batch if changes do not end batches") {
    create("unchanged", 1)
    write("unchanged", 0, numbers(0, 0 until 10))
    val query = start("unchanged", Trigger.RealTime("8 seconds"), "endBatchOnChange" -> "false")
    try {
      whole("unchanged", numbers(0, 0 until 10))
      grow("unchanged", 2)
      write("unchanged", 1, numbers(1, 0 until 10))
      whole("unchanged", numbers(0, 0 until 10) ++ numbers(1, 0 until 10))
      val first = query.recentProgress.head
      assert(first.durationMs.get("triggerExecution") >= 8000)
    } finally query.stop()
  }

  private def recreate(topic: String): Unit = Using.resource(broker.admin()) { admin =>
    admin.deleteTopics(List(topic).asJava).all().get()
    eventually(assert(!admin.listTopics().names().get().contains(topic)))
    KafkaTopics.create(admin, topic, 1)
  }

  test("a topic that is recreated while its batch is read is read from its first record, if the policy permits it") {
    create("restarted", 1)
    write("restarted", 0, numbers(0, 0 until 10))
    val query = start("restarted", long, "onTopicRecreated" -> "restart", "failOnDataLoss" -> "false")
    try {
      whole("restarted", numbers(0, 0 until 10))
      recreate("restarted")
      // More records than the old topic had, so that a reader that stayed at its offset would lose the first ones.
      write("restarted", 0, numbers(1, 0 until 30))
      whole("restarted", numbers(0, 0 until 10) ++ numbers(1, 0 until 30))
    } finally query.stop()
  }

  test("a topic that is recreated while its batch is read fails the query by default") {
    create("replaced", 1)
    write("replaced", 0, numbers(0, 0 until 10))
    val query = start("replaced", long)
    try {
      whole("replaced", numbers(0, 0 until 10))
      recreate("replaced")
      write("replaced", 0, numbers(1, 0 until 30))
      assert(failure(query).contains("SPLICE_KAFKA.RECREATED"))
      // No row of the new topic was taken for one of the old topic.
      assert(values("replaced") == numbers(0, 0 until 10))
    } finally query.stop()
  }

  test("rows of an open transaction wait, also over the end of a batch, and none is lost") {
    create("transactions", 1)
    val settings = Map[String, Object](
      "bootstrap.servers" -> broker.servers,
      "key.serializer"    -> classOf[StringSerializer].getName,
      "value.serializer"  -> classOf[StringSerializer].getName,
      "transactional.id"  -> "open"
    )
    Using.resource(new KafkaProducer[String, String](settings.asJava)) { out =>
      def send(values: Seq[String]) =
        values.foreach(v => out.send(new ProducerRecord[String, String]("transactions", Int.box(0), "k", v)).get())
      out.initTransactions()
      val query =
        start("transactions", Trigger.RealTime("500 milliseconds"), "kafka.isolation.level" -> "read_committed")
      try {
        out.beginTransaction()
        send(numbers(0, 0 until 10))
        eventually(assert(query.recentProgress.length >= 3))
        assert(values("transactions").isEmpty)
        out.commitTransaction()
        out.beginTransaction()
        send(numbers(1, 0 until 10))
        out.abortTransaction()
        out.beginTransaction()
        send(numbers(0, 10 until 20))
        out.commitTransaction()
        whole("transactions", numbers(0, 0 until 20))
        stopAfterBatch(query)
        assert(values("transactions") == numbers(0, 0 until 20).sorted)
      } finally query.stop()
    }
  }

  private def staleEntries(topic: String): Seq[String] =
    folder.resolve(topic).resolve("sources/0/splice").toFile.list().toSeq.filter(_.startsWith("stale-"))

  private def failure(query: StreamingQuery): String =
    intercept[StreamingQueryException](query.awaitTermination()).getMessage

  test("limits of batches that the user sets, and sources without real-time mode, are rejected by name") {
    create("limited", 1)
    val message = failure(start("limited", long, "maxOffsetsPerTrigger" -> "10", "minPartitions" -> "4"))
    assert(message.contains("[SPLICE_REAL_TIME.LIMIT_NOT_SUPPORTED]") &&
      message.contains("'minPartitions', 'maxOffsetsPerTrigger'"))
    val files = spark.readStream.format("splice").option("source", "files").option("format", "parquet")
      .option("path", numbers("history", 0, 10, files = 1)).load()
    val query = files.selectExpr("'x'", "'y'").writeStream.foreach(new Collecting).outputMode("update")
      .option("checkpointLocation", folder.resolve("files").toString).trigger(long).start()
    assert(failure(
      query
    ).contains("[SPLICE_REAL_TIME.SOURCE_NOT_SUPPORTED] The query cannot run in real-time mode. The files source"))
  }
}

object RealTimeSuite {

  private val seen = new ConcurrentLinkedQueue[(String, String)]

  /** Keeps rows of text in this JVM. */
  final private class Collecting(pauseMillis: Long = 0) extends ForeachWriter[Row] {
    override def open(partition: Long, epoch: Long): Boolean = true
    override def process(row: Row): Unit                     = {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(pauseMillis))
      val _ = seen.add(row.getString(0) -> row.getString(1))
    }
    override def close(error: Throwable): Unit = ()
  }
}
