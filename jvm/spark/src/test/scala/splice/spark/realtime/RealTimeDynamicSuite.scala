// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.realtime

import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.nio.file.{Files, Path}
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger

import scala.jdk.CollectionConverters._
import scala.util.{Try, Using}

import org.apache.kafka.clients.producer.{KafkaProducer, ProducerRecord}
import org.apache.kafka.common.serialization.StringSerializer
import org.apache.spark.scheduler.{SparkListener, SparkListenerJobStart}
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException, Trigger}
import org.apache.spark.sql.{ForeachWriter, Row}
import org.scalatest.funsuite.AnyFunSuite

import splice.testkit.internal.broker.SharedKafka
import splice.testkit.{KafkaBroker, KafkaTopics}

/** Queries in Spark's real-time mode over streams on two real clusters. */
final class RealTimeDynamicSuite extends AnyFunSuite with TimedQueries {

  import RealTimeDynamicSuite._

  private lazy val west    = KafkaBroker.start()
  private lazy val brokers = Map("east" -> SharedKafka.east, "west" -> west)

  override protected def afterAll(): Unit =
    try west.close()
    finally super.afterAll()

  /** A stream on some clusters. Its topic has the name of the stream. */
  final private class Stream(of: String) {
    private val name       = s"stream-$of"
    private val file       = folder.resolve(s"$name.yaml")
    private val checkpoint = folder.resolve(s"checkpoint-$name")
    private var generation = 0

    def lies(clusters: String*): Unit = {
      generation += 1
      val text =
        s"""version: 1
           |generation: $generation
           |clusters:
           |  east: {bootstrapServers: "${brokers("east").servers}", maxOffsetsPerTrigger: 7}
           |  west: {bootstrapServers: "${brokers("west").servers}"}
           |streams: {$name: {${clusters.map(c => s"$c: [$name]").mkString(", ")}}}
           |""".stripMargin
      val next: Path = Files.writeString(folder.resolve(s"$name.next"), text)
      val _          = Files.move(next, file, ATOMIC_MOVE)
    }

    def create(partitions: Int): Unit = brokers.values.foreach(broker =>
      Using.resource(broker.admin())(KafkaTopics.create(_, name, partitions))
    )

    def write(cluster: String, numbers: Range): Unit = {
      val settings = Map[String, Object](
        "bootstrap.servers" -> brokers(cluster).servers,
        "key.serializer"    -> classOf[StringSerializer].getName,
        "value.serializer"  -> classOf[StringSerializer].getName
      )
      Using.resource(new KafkaProducer[String, String](settings.asJava)) { out =>
        numbers.foreach(n => out.send(new ProducerRecord[String, String](name, s"$cluster-$n")))
      }
    }

    def start(trigger: Trigger, options: (String, String)*): StreamingQuery = spark.readStream.format("splice")
      .options(Map(
        "source"            -> "dynamicKafka",
        "streams"           -> name,
        "metadata.file"     -> file.toString,
        "startingOffsets"   -> "earliest",
        "discoveryInterval" -> "200ms",
        "clusterWait"       -> "500ms"
      ) ++ options)
      .load()
      .selectExpr("_stream", "_cluster", "cast(value as string)")
      .writeStream
      .foreach(new Collecting)
      .outputMode("update")
      .option("checkpointLocation", checkpoint.toString)
      .trigger(trigger)
      .start()

    /** The offset of the last committed epoch. */
    def committed: String = {
      val numbers = Option(checkpoint.resolve("commits").toFile.list).toSeq.flatten.flatMap(_.toLongOption)
      numbers.maxOption.fold("")(n => Files.readString(checkpoint.resolve(s"offsets/$n")))
    }

    /** The entries by which tasks detect that their batch is stale. */
    def staleEntries: Seq[String] =
      checkpoint.resolve("sources/0/splice").toFile.list.toSeq.filter(_.startsWith("stale-"))

    def values: Seq[String] = seen.asScala.toSeq.collect { case (`name`, cluster, value) =>
      assert(value.startsWith(cluster))
      value
    }.sorted

    def has(expected: Seq[String]*): Unit = eventually(assert(values == expected.flatten.sorted))

    /** Waits for rows in continuous mode, which reads the rows after the last committed epoch again when it plans new
      * tasks.
      */
    def hasAtLeastOnce(expected: Seq[String]*): Unit = eventually(assert(values.distinct == expected.flatten.sorted))
  }

  private def rows(cluster: String, numbers: Range): Seq[String] = numbers.map(n => s"$cluster-$n")

  private def offset(query: StreamingQuery): String =
    query.recentProgress.lastOption.fold("")(_.sources.head.endOffset)

  private val second = Trigger.RealTime("1 second")

  test("continuous mode: a stream on two clusters, with one cluster added while the query runs") {
    val stream = new Stream("continuous")
    stream.create(2)
    stream.lies("east")
    stream.write("east", 0 until 50)
    stream.write("west", 0 until 50)
    val query = stream.start(Trigger.Continuous("200 milliseconds"))
    try {
      stream.has(rows("east", 0 until 50))
      stream.lies("east", "west")
      stream.hasAtLeastOnce(rows("east", 0 until 50), rows("west", 0 until 50))
      stream.write("west", 50 until 60)
      stream.hasAtLeastOnce(rows("east", 0 until 50), rows("west", 0 until 60))
    } finally query.stop()
  }

  /** Runs a query in continuous mode, and counts its jobs. */
  private def continuously(stream: Stream, discoveryInterval: String)(check: Jobs => Unit): Unit = {
    val jobs  = new Jobs
    val query = stream.start(Trigger.Continuous("200 milliseconds"), "discoveryInterval" -> discoveryInterval)
    spark.sparkContext.addSparkListener(jobs)
    try check(jobs)
    finally {
      query.stop()
      spark.sparkContext.removeSparkListener(jobs)
    }
  }

  test("continuous mode: epochs are committed while a topic is drained, and the drain ends") {
    val stream = new Stream("drained")
    stream.create(2)
    stream.lies("east", "west")
    Seq("east", "west").foreach(stream.write(_, 0 until 20))
    stream.start(Trigger.AvailableNow()).awaitTermination()
    stream.write("east", 20 until 50)
    stream.lies("west")
    continuously(stream, "2s") { jobs =>
      eventually(assert(stream.committed.contains("west") && !stream.committed.contains("east")))
      stream.hasAtLeastOnce(rows("east", 0 until 50), rows("west", 0 until 20))
      assert(jobs.count < 10, "the tasks are not planned again before the discovery")
      stream.write("west", 20 until 30)
      stream.hasAtLeastOnce(rows("east", 0 until 50), rows("west", 0 until 30))
    }
  }

  test("continuous mode: epochs are committed while an added cluster is unavailable, and the cluster is read later") {
    val stream = new Stream("added")
    stream.create(2)
    stream.lies("east")
    stream.write("east", 0 until 20)
    stream.write("west", 0 until 20)
    continuously(stream, "1s") { jobs =>
      stream.has(rows("east", 0 until 20))
      brokers("west").stop()
      try {
        stream.lies("east", "west")
        // The tasks are planned again with the change, which waits for the cluster.
        val first = jobs.count
        eventually(assert(jobs.count > first + 1))
        stream.write("east", 20 until 40)
        val last = stream.committed
        eventually(assert(stream.values.toSet == rows("east", 0 until 40).toSet && stream.committed != last))
      } finally brokers("west").start()
      stream.hasAtLeastOnce(rows("east", 0 until 40), rows("west", 0 until 20))
    }
  }

  test("rows of two clusters arrive during one batch") {
    val stream = new Stream("both")
    stream.create(3)
    stream.lies("east", "west")
    Seq("east", "west").foreach(stream.write(_, 0 until 50))
    val query = stream.start(Trigger.RealTime("10 minutes"))
    try {
      stream.has(rows("east", 0 until 50), rows("west", 0 until 50))
      Seq("east", "west").foreach(stream.write(_, 50 until 90))
      stream.has(rows("east", 0 until 90), rows("west", 0 until 90))
      assert(query.recentProgress.isEmpty)
    } finally query.stop()
  }

  test("a document that adds a cluster ends the running batch, and no entry for its tasks remains after the query") {
    val stream = new Stream("extended")
    stream.create(2)
    stream.lies("east")
    Seq("east", "west").foreach(stream.write(_, 0 until 20))
    val query = stream.start(Trigger.RealTime("10 minutes"))
    try {
      stream.has(rows("east", 0 until 20))
      assert(query.recentProgress.isEmpty)
      stream.lies("east", "west")
      stream.has(rows("east", 0 until 20), rows("west", 0 until 20))
      // If the start on the added cluster was determined late, the next batch has ended too.
      assert(query.recentProgress.headOption.map(_.batchId).contains(0L))
    } finally query.stop()
    assert(stream.staleEntries.isEmpty)
  }

  test("a stream moves between batches, the query changes its trigger and back, and each row is read once") {
    val stream = new Stream("moves")
    stream.create(2)
    stream.lies("east")
    stream.write("east", 0 until 40)
    val one = stream.start(second)
    stream.has(rows("east", 0 until 40))
    stream.write("west", 0 until 30)
    stream.lies("west")
    stream.has(rows("east", 0 until 40), rows("west", 0 until 30))
    eventually(assert(offset(one).nonEmpty && !offset(one).contains("east")))
    stopAfterBatch(one)
    stream.write("west", 30 until 50)
    stream.start(Trigger.AvailableNow()).awaitTermination()
    stream.has(rows("east", 0 until 40), rows("west", 0 until 50))
    stream.lies("east", "west")
    stream.write("east", 40 until 60)
    val three = stream.start(second)
    stream.has(rows("east", 0 until 60), rows("west", 0 until 50))
    stopAfterBatch(three)
    stream.has(rows("east", 0 until 60), rows("west", 0 until 50))
  }

  test("during an outage of one cluster, the other cluster is read and committed, and no row is lost later") {
    val stream = new Stream("outage")
    stream.create(2)
    stream.lies("east", "west")
    Seq("east", "west").foreach(stream.write(_, 0 until 20))
    val query = stream.start(second)
    try {
      stream.has(rows("east", 0 until 20), rows("west", 0 until 20))
      brokers("west").stop()
      val before = query.recentProgress.lastOption.fold(-1L)(_.batchId)
      stream.write("east", 20 until 40)
      stream.has(rows("east", 0 until 40), rows("west", 0 until 20))
      eventually(assert(query.recentProgress.lastOption.exists(_.batchId > before + 2)))
      stream.write("east", 40 until 60)
      stream.has(rows("east", 0 until 60), rows("west", 0 until 20))
      stopAfterBatch(query)
    } finally {
      query.stop()
      brokers("west").start()
    }
    stream.write("west", 20 until 30)
    stream.start(Trigger.AvailableNow()).awaitTermination()
    stream.has(rows("east", 0 until 60), rows("west", 0 until 30))
  }

  test("while a cluster sends no response, rows of another cluster arrive in the same task") {
    val stream = new Stream("suspended")
    stream.create(1)
    stream.lies("east", "west")
    Seq("east", "west").foreach(stream.write(_, 0 until 20))
    val jobs = new Jobs
    spark.sparkContext.addSparkListener(jobs)
    // A task that waits for a response of the suspended cluster would wait for longer than this test.
    val patient = Seq("kafka.request.timeout.ms", "kafka.default.api.timeout.ms", "kafkaConsumer.pollTimeoutMs")
    val query   = stream.start(Trigger.RealTime("10 minutes"), ("slots" -> "1") +: patient.map(_ -> "600000"): _*)
    try {
      stream.has(rows("east", 0 until 20), rows("west", 0 until 20))
      eventually(assert(jobs.tasks == 1))
      brokers("west").suspend()
      try
        (20 until 40 by 5).foreach { from =>
          stream.write("east", from until from + 5)
          stream.has(rows("east", 0 until from + 5), rows("west", 0 until 20))
        }
      finally brokers("west").resume()
      stream.write("west", 20 until 30)
      stream.has(rows("east", 0 until 40), rows("west", 0 until 30))
      assert(query.recentProgress.isEmpty && jobs.count == 1)
    } finally {
      query.stop()
      spark.sparkContext.removeSparkListener(jobs)
    }
  }

  test("limits of batches, including limits of one cluster, are rejected by name") {
    val stream = new Stream("limited")
    stream.create(1)
    stream.lies("east")
    val limits  = Seq("maxBytesPerTrigger" -> "1m", "cluster.east.maxOffsetsPerTrigger" -> "10")
    val query   = Try(stream.start(second, limits: _*))
    val message = intercept[StreamingQueryException](query.get.awaitTermination()).getMessage
    assert(message.contains("[SPLICE_REAL_TIME.LIMIT_NOT_SUPPORTED]") &&
      message.contains("'maxBytesPerTrigger', 'cluster.east.maxOffsetsPerTrigger'"))
  }
}

object RealTimeDynamicSuite {

  /** Counts the jobs of a query, and the tasks of its last job. */
  final private class Jobs extends SparkListener {
    private val started = new AtomicInteger

    /** The number of tasks of the last job. */
    @volatile var tasks = 0

    def count: Int = started.get

    override def onJobStart(start: SparkListenerJobStart): Unit = {
      tasks = start.stageInfos.map(_.numTasks).sum
      val _ = started.incrementAndGet()
    }
  }

  private val seen = new ConcurrentLinkedQueue[(String, String, String)]

  /** Keeps rows of text in this JVM. */
  final private class Collecting extends ForeachWriter[Row] {
    override def open(partition: Long, epoch: Long): Boolean = true
    override def process(row: Row): Unit                     = {
      val _ = seen.add((row.getString(0), row.getString(1), row.getString(2)))
    }
    override def close(error: Throwable): Unit = ()
  }
}
