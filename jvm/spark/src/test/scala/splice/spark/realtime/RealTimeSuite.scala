// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.realtime

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.kafka.clients.admin.RecordsToDelete
import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.TopicPartition
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.read.streaming.ReadLimit
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.HadoopSideLog
import splice.source.internal.entries.Json
import splice.spark.internal.read.RealTimeReader
import splice.spark.internal.stream.SpliceMicroBatchStream
import splice.spark.internal.table.SpliceTable
import splice.testkit.internal.memory.MemoryLog

/** Queries in Spark's real-time mode over a real broker. */
final class RealTimeSuite extends AnyFunSuite with LiveQueries {

  import LiveQueries._

  test("more partitions than cores are read during one batch, with rows of different columns") {
    val first = filled("cores", 5, 0 until 100)
    val query = start("cores", long)
    try {
      whole("cores", first)
      (0 until 5).foreach(p => write("cores", p, numbers(p, 100 until 200)))
      whole("cores", (0 until 5).flatMap(p => numbers(p, 0 until 200)))
      assert(query.recentProgress.isEmpty)
    } finally query.stop()
  }

  test("no partition waits for other partitions if more slots are set than tasks can run") {
    val all   = filled("slots", 3, 0 until 10)
    val query = start("slots", Trigger.RealTime("1 second"), "slots" -> "3")
    try whole("slots", all)
    finally query.stop()
  }

  test("batches follow one another, and the query continues with another trigger and then back in real-time mode") {
    create("mixed", 3)
    def next(from: Int) = (0 until 3).foreach(p => write("mixed", p, numbers(p, from until from + 50)))
    def all(until: Int) = (0 until 3).flatMap(p => numbers(p, 0 until until))
    next(0)
    val one = start("mixed", Trigger.RealTime("1 second"))
    whole("mixed", all(50))
    stopAfterBatch(one)
    next(50)
    val two = start("mixed", Trigger.AvailableNow())
    two.awaitTermination()
    whole("mixed", all(100))
    next(100)
    val three = start("mixed", Trigger.RealTime("1 second"))
    whole("mixed", all(150))
    stopAfterBatch(three)
    assert(values("mixed") == all(150).sorted)
  }

  test("a batch that is stopped is read again from its start, and no row is lost") {
    create("stopped", 2)
    (0 until 2).foreach(p => write("stopped", p, numbers(p, 0 until 50)))
    val one = start("stopped", long)
    whole("stopped", (0 until 2).flatMap(p => numbers(p, 0 until 50)))
    stop(one)
    (0 until 2).foreach(p => write("stopped", p, numbers(p, 50 until 60)))
    val two = start("stopped", long)
    try {
      val again = (0 until 2).flatMap(p => numbers(p, 0 until 50) ++ numbers(p, 0 until 60))
      whole("stopped", again)
    } finally two.stop()
  }

  test("a new partition is read from its first record by the next batch") {
    create("grown", 1)
    write("grown", 0, numbers(0, 0 until 10))
    val query = start("grown", Trigger.RealTime("1 second"))
    try {
      whole("grown", numbers(0, 0 until 10))
      grow("grown", 2)
      write("grown", 1, numbers(1, 0 until 10))
      whole("grown", numbers(0, 0 until 10) ++ numbers(1, 0 until 10))
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
    // The sink is slow, so batches end before all rows are read.
    write("lag", 1, numbers(1, 30 until 230))
    val slow = startInto(new Collecting(pauseMillis = 20), "lag", Trigger.RealTime("1 second"))
    try {
      // A batch that ends before its tasks start has no figures.
      val first =
        eventually(slow.recentProgress.map(_.sources.head).filter(_.metrics.containsKey("rowsBehind")).head)
      val Some(read) = Json.read(first.endOffset).map(_.get("lag").get("1").asLong): @unchecked
      assert(read < 230 && first.metrics.get("rowsBehind").toLong == 230 - read)
    } finally slow.stop()
  }

  test("the progress has the slots of the last batch, also after batches of another trigger") {
    create("resized", 2)
    (0 until 2).foreach(p => write("resized", p, numbers(p, 0 until 10)))
    val now = start("resized", Trigger.AvailableNow(), "slots" -> "1")
    now.awaitTermination()
    def slots(query: StreamingQuery) = query.recentProgress.lastOption.map(_.sources.head.metrics.get("slots"))
    assert(slots(now).contains("1"))
    val timed = start("resized", Trigger.RealTime("1 second"), "slots" -> "2")
    try eventually(assert(slots(timed).contains("2")))
    finally timed.stop()
  }

  test("the progress has the latency of the rows of a batch") {
    create("aged", 2)
    val written = System.currentTimeMillis()
    // Of 100 records, 94 are one hour old, and six are one day old.
    val hour = 3600000L
    Using.resource(producer()) { out =>
      (0 until 100).foreach { i =>
        val time = written - (if (i % 50 < 47) hour else 24 * hour)
        out.send(new ProducerRecord[String, String]("aged", Int.box(i / 50), Long.box(time), "k", s"$i"))
      }
    }
    val query = start("aged", long)
    try {
      whole("aged", (0 until 100).map(_.toString))
      // A new partition ends the batch after all rows.
      grow("aged", 3)
      val figures = eventually(query.recentProgress.head).sources.head.metrics
      val most    = System.currentTimeMillis() - written
      Seq("latencyP50Ms" -> hour, "latencyP95Ms" -> 24 * hour, "latencyP99Ms" -> 24 * hour).foreach {
        case (name, age) =>
          val found = figures.get(name).toLong
          assert(found >= age && found <= age + most, name)
      }
      // A batch without rows has no latency.
      grow("aged", 4)
      eventually(assert(query.lastProgress.batchId > 0 &&
        !query.lastProgress.sources.head.metrics.containsKey("latencyP50Ms")))
    } finally query.stop()
  }

  test("the end of a batch of a bounded source stores the offsets that readers skipped, before Spark logs the end") {
    create("skipped", 1)
    write("skipped", 0, numbers(0, 0 until 10))
    val options = Map(
      "source"                  -> "kafka",
      "kafka.bootstrap.servers" -> broker.servers,
      "subscribe"               -> "skipped",
      "startingOffsets"         -> "earliest",
      "endingOffsets"           -> "latest",
      "onOutOfRange"            -> "earliest"
    )
    SparkSession.setActiveSession(spark)
    val source = checkpoint("skipped").resolve("sources/0")
    val stream = new SpliceTable(options).newScanBuilder(new CaseInsensitiveStringMap(options.asJava)).build()
      .toMicroBatchStream(source.toString).asInstanceOf[SpliceMicroBatchStream]
    try {
      stream.prepareForRealTimeMode()
      val start = stream.latestOffset(stream.initialOffset(), ReadLimit.allAvailable())
      val tasks = stream.planInputPartitions(start)
      Using.resource(broker.admin()) { admin =>
        val until = Map(new TopicPartition("skipped", 0) -> RecordsToDelete.beforeOffset(4))
        admin.deleteRecords(until.asJava).all.get()
      }
      val reader = stream.createReaderFactory().createReader(tasks.head).asInstanceOf[RealTimeReader]
      (0 until 6).foreach(_ => assert(reader.poll(60000)))
      assert(!reader.poll(0))
      val last = reader.getOffset
      reader.close()
      assert(stream.mergeOffsets(Array(last)).json == """{"skipped":{"0":10}}""")
      assert(new HadoopSideLog(new Path(s"$source/splice"), new Configuration(false)).keys("unread-").size == 1)
    } finally stream.stop()
  }

  test("limits of batches that the user sets, and sources without real-time mode, are rejected by name") {
    create("rejected", 1)
    val message = failure(start("rejected", long, "maxOffsetsPerTrigger" -> "10", "minPartitions" -> "4"))
    assert(message.contains("[SPLICE_REAL_TIME.LIMIT_NOT_SUPPORTED]") &&
      message.contains("'minPartitions', 'maxOffsetsPerTrigger'"))
    val memory = spark.readStream.format("splice").option("source", "memory")
      .option("log", new MemoryLog("rejected").addPartitions(1).name).load()
    val query = memory.selectExpr("'x'", "'y'").writeStream.foreach(new Collecting).outputMode("update")
      .option("checkpointLocation", folder.resolve("memory").toString).trigger(long).start()
    assert(failure(query).contains(
      "[SPLICE_REAL_TIME.SOURCE_NOT_SUPPORTED] The query cannot run in real-time mode. The 'memory' source"
    ))
  }
}
