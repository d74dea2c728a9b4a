// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import java.nio.file.{Files, Path}
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicBoolean

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.commons.lang3.SerializationUtils
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path => HadoopPath}
import org.apache.kafka.clients.admin.NewPartitions
import org.apache.kafka.clients.producer.{KafkaProducer, ProducerRecord}
import org.apache.kafka.common.serialization.StringSerializer
import org.apache.spark.sql.connector.read.streaming.{AcceptsLatestSeenOffset, Offset, PartitionOffset}
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException, Trigger}
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.sql.{ForeachWriter, Row, SparkSession}
import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Millis, Seconds, Span}

import splice.testkit.{KafkaBroker, KafkaTopics}

/** Queries in Spark's continuous mode over a real broker. */
final class ContinuousSuite extends AnyFunSuite with WithSpark with Eventually {

  import ContinuousSuite._

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

  /** @param commit whether the transaction of the records is committed or aborted; None without a transaction */
  private def write(topic: String, partition: Int, values: Seq[String], commit: Option[Boolean] = None): Unit = {
    val settings = Map[String, Object](
      "bootstrap.servers" -> broker.servers,
      "key.serializer"    -> classOf[StringSerializer].getName,
      "value.serializer"  -> classOf[StringSerializer].getName
    ) ++ commit.map(_ => "transactional.id" -> s"writer-$topic-$partition")
    Using.resource(new KafkaProducer[String, String](settings.asJava)) { out =>
      commit.foreach { _ =>
        out.initTransactions()
        out.beginTransaction()
      }
      values.foreach(value => out.send(new ProducerRecord[String, String](topic, Int.box(partition), "k", value)))
      out.flush()
      commit.foreach(isCommit => if (isCommit) out.commitTransaction() else out.abortTransaction())
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
      .option("checkpointLocation", checkpoint(topic).toString)
      .trigger(trigger)
      .start()

  private def checkpoint(topic: String): Path = folder.resolve(topic)

  private def logged(topic: String): LoggedBatches =
    new LoggedBatches(new HadoopPath(s"${checkpoint(topic)}/sources/0"), new Configuration(false))

  private def values(topic: String): Seq[String] =
    seen.asScala.toSeq.collect { case (`topic`, value) => value }.sorted

  private def numbers(partition: Int, range: Range): Seq[String] = range.map(n => f"$partition-$n%05d")

  private def whole(topic: String, expected: Seq[String]): Unit =
    eventually(assert(values(topic) == expected.sorted))

  /** Stops once all offsets of the partitions are committed, so that no row is read again. */
  private def stopAt(query: StreamingQuery, topic: String, ends: Long*): Unit = {
    committed(topic, ends: _*)
    query.stop()
  }

  private def committed(topic: String, ends: Long*): Unit = {
    val text = ends.zipWithIndex.map { case (end, p) => s""""$p":$end""" }.mkString(s"""{"$topic":{""", ",", "}}")
    eventually(assert(logged(topic).committed().contains(text)))
  }

  private def newest(topic: String, log: String): Long =
    checkpoint(topic).resolve(log).toFile.list().flatMap(_.toLongOption).max

  private def remove(topic: String, log: String, batch: Long): Unit = checkpoint(topic).resolve(log).toFile.listFiles()
    .filter(file => file.getName == s"$batch" || file.getName.stripPrefix(".").startsWith(s"$batch."))
    .foreach(file => Files.delete(file.toPath))

  /** Leaves the checkpoint as a driver does that is killed after a batch with rows, before it commits the batch. The rows are lost with it. */
  private def kill(topic: String): Unit = {
    val log = logged(topic)
    // Epochs without rows.
    while (log.end(newest(topic, "offsets")) == log.end(newest(topic, "offsets") - 1)) {
      val last = newest(topic, "offsets")
      Seq("commits", "offsets").foreach(remove(topic, _, last))
    }
    val last = newest(topic, "offsets")
    remove(topic, "commits", last)
    assert(log.uncommitted() == Seq(last))
    val until = """"(\d+)":(\d+)""".r.findAllMatchIn(log.committed().get).map(m => m.group(1) -> m.group(2).toInt).toMap
    assert(seen.removeIf { case (of, value) =>
      of == topic && value.drop(2).toInt >= until.getOrElse(value.take(1), 0)
    })
  }

  /** Lets the end of the last epoch be far after what any other run reads in the epoch of that number. */
  private def advance(topic: String): Unit = {
    val last = newest(topic, "offsets")
    remove(topic, "offsets", last)
    Files.writeString(checkpoint(topic).resolve(s"offsets/$last"), s"""v1\n\n{"$topic":{"0":1000,"1":1000}}""")
  }

  private val continuous = Trigger.Continuous("200 milliseconds")

  private def failure(query: StreamingQuery): String =
    intercept[StreamingQueryException](query.awaitTermination()).getMessage

  test("rows are read as they come, and a restart continues at the last committed epoch") {
    create("many", 5)
    (0 until 5).foreach(p => write("many", p, numbers(p, 0 until 100)))
    val one = start("many", continuous)
    whole("many", (0 until 5).flatMap(p => numbers(p, 0 until 100)))
    (0 until 5).foreach(p => write("many", p, numbers(p, 100 until 200)))
    whole("many", (0 until 5).flatMap(p => numbers(p, 0 until 200)))
    stopAt(one, "many", 200, 200, 200, 200, 200)
    (0 until 5).foreach(p => write("many", p, numbers(p, 200 until 250)))
    val two = start("many", continuous)
    try whole("many", (0 until 5).flatMap(p => numbers(p, 0 until 250)))
    finally two.stop()
  }

  test("a new partition is read from its first record while the query runs") {
    create("growing", 1)
    write("growing", 0, numbers(0, 0 until 10))
    val query = start("growing", continuous)
    try {
      whole("growing", numbers(0, 0 until 10))
      Using.resource(broker.admin()) { admin =>
        admin.createPartitions(Map("growing" -> NewPartitions.increaseTo(2)).asJava).all().get()
      }
      write("growing", 1, numbers(1, 0 until 10))
      eventually(assert(values("growing").toSet == (numbers(0, 0 until 10) ++ numbers(1, 0 until 10)).toSet))
      committed("growing", 10, 10)
      write("growing", 0, numbers(0, 10 until 20))
      eventually(assert(values("growing").toSet == (numbers(0, 0 until 20) ++ numbers(1, 0 until 10)).toSet))
    } finally query.stop()
  }

  test("after each row the epoch's end has the rows handed over, and does not move once the tasks will be replaced") {
    create("epochs", 2)
    (0 until 2).foreach(p => write("epochs", p, numbers(p, 0 until 5)))
    val options = Map(
      "source"                  -> "kafka",
      "kafka.bootstrap.servers" -> broker.servers,
      "subscribe"               -> "epochs",
      "startingOffsets"         -> "earliest",
      "discoveryInterval"       -> "200ms",
      "slots"                   -> "1"
    )
    SparkSession.setActiveSession(spark)
    val stream = new SpliceTable(options).newScanBuilder(new CaseInsensitiveStringMap(options.asJava)).build()
      .toContinuousStream(checkpoint("epochs").resolve("sources/0").toString)
    def plan(start: Offset) = {
      val tasks = stream.planInputPartitions(start)
      stream.createContinuousReaderFactory().createReader(tasks.head) -> tasks
    }
    def text(ends: Map[Int, Long]) =
      ends.toSeq.sorted.map { case (p, end) => s""""$p":$end""" }.mkString("""{"epochs":{""", ",", "}}")
    try {
      val (reader, tasks) = plan(stream.initialOffset())
      assert(tasks.length == 1)
      def end(offset: PartitionOffset): Offset = {
        val sent = SerializationUtils.roundtrip(offset)
        val end  = stream.mergeOffsets(Array(sent))
        assert(!stream.needsReconfiguration())
        stream.commit(stream.deserializeOffset(end.json))
        end
      }
      assert(end(reader.getOffset).json == text(Map(0 -> 0L, 1 -> 0L)))
      val last = (1 to 10).foldLeft(Map(0 -> 0L, 1 -> 0L)) { (read, _) =>
        assert(reader.next())
        val p    = reader.get().getInt(3)
        val next = read.updated(p, read(p) + 1)
        assert(end(reader.getOffset).json == text(next))
        next
      }
      assert(last == Map(0 -> 5L, 1 -> 5L))
      Using.resource(broker.admin()) { admin =>
        admin.createPartitions(Map("epochs" -> NewPartitions.increaseTo(3)).asJava).all().get()
      }
      write("epochs", 0, numbers(0, 5 until 6))
      assert(reader.next())
      val moved = reader.getOffset
      eventually(assert(stream.needsReconfiguration()))
      // An epoch of the old tasks that ends before Spark has stopped them.
      assert(stream.mergeOffsets(Array(moved)).json == text(last) && !stream.needsReconfiguration())
      reader.close()
      val start = stream.deserializeOffset(text(last))
      stream.asInstanceOf[AcceptsLatestSeenOffset].setLatestSeenOffset(start)
      val (next, _) = plan(start)
      assert(stream.mergeOffsets(Array(next.getOffset)).json == text(last + (2 -> 0L)))
      next.close()
    } finally stream.stop()
  }

  test("a query whose task fails loses no row, and reads again no row before the last committed epoch") {
    create("failing", 2)
    (0 until 2).foreach(p => write("failing", p, numbers(p, 0 until 100)))
    val one = start("failing", continuous)
    committed("failing", 100, 100)
    fails.set(true)
    write("failing", 0, numbers(0, 100 until 150) :+ Poison)
    write("failing", 1, numbers(1, 100 until 150))
    assert(failure(one).contains(Poison))
    val two = start("failing", continuous)
    try {
      val all = (0 until 2).flatMap(p => numbers(p, 0 until 150)) :+ Poison
      eventually(assert(values("failing").toSet == all.toSet))
      val early = values("failing").filter(value => value != Poison && value.drop(2).toInt < 100)
      assert(early == (0 until 2).flatMap(p => numbers(p, 0 until 100)).sorted)
    } finally two.stop()
  }

  test("continuous mode continues after other triggers, and reads each row once; Spark continues no other way") {
    create("modes", 3)
    def all(until: Int)                          = (0 until 3).flatMap(p => numbers(p, 0 until until))
    def live(until: Int, trigger: Trigger): Unit = {
      (0 until 3).foreach(p => write("modes", p, numbers(p, until - 50 until until)))
      val query = start("modes", trigger)
      whole("modes", all(until))
      stopAt(query, "modes", until.toLong, until.toLong, until.toLong)
    }
    live(50, Trigger.AvailableNow())
    live(100, Trigger.RealTime("1 second"))
    live(150, Trigger.ProcessingTime(0))
    live(200, continuous)
    live(250, continuous)
    Seq(Trigger.AvailableNow(), Trigger.RealTime("1 second")).foreach { other =>
      val message = failure(start("modes", other))
      assert(message.contains("[SPLICE_CONTINUOUS.TRIGGER_NOT_SUPPORTED]") &&
        message.contains("""{"modes":{"0":250,"1":250,"2":250}}"""))
    }
    live(300, continuous)
    assert(values("modes") == all(300).sorted)
  }

  for {
    (first, before) <-
      Seq("now" -> Trigger.AvailableNow(), "timed" -> Trigger.RealTime("1 second"), "cont" -> continuous)
    (second, after) <-
      Seq("now" -> Trigger.AvailableNow(), "timed" -> Trigger.RealTime("1 second"), "cont" -> continuous)
    // Spark cannot.
    if first != "cont" || second == "cont"
  } test(s"no row is lost if $first is killed before it commits a batch, and $second continues") {
    val topic = s"$first-$second"
    create(topic, 2)
    def next(range: Range): Unit                 = (0 until 2).foreach(p => write(topic, p, numbers(p, range)))
    def read(until: Int, trigger: Trigger): Unit = {
      val query = start(topic, trigger)
      eventually(assert(values(topic).toSet == (0 until 2).flatMap(p => numbers(p, 0 until until)).toSet))
      stopAt(query, topic, until.toLong, until.toLong)
    }
    next(0 until 20)
    read(20, before)
    next(20 until 50)
    read(50, before)
    kill(topic)
    val killed = newest(topic, "offsets")
    if (first == "cont") advance(topic)
    next(50 until 60)
    if (second == "cont" && first != "cont") {
      assert(failure(start(topic, continuous)).contains("[SPLICE_CONTINUOUS.UNCOMMITTED_BATCH]"))
      start(topic, Trigger.AvailableNow()).awaitTermination()
    }
    read(60, after)
    // As if this run was killed after the epoch of the same number. The next one may not begin at the end of the first run.
    if (first == "cont") for { log <- Seq("commits", "offsets"); batch <- killed + 1 to newest(topic, log) }
      remove(topic, log, batch)
    next(60 until 70)
    read(70, after)
  }

  test("a bounded source is read to its end, also where that is no record, and the query then waits") {
    create("bounded", 2)
    write("bounded", 0, numbers(0, 0 until 30), commit = Some(true))
    write("bounded", 1, numbers(1, 0 until 20), commit = Some(false))
    val options = Seq("endingOffsets" -> "latest", "kafka.isolation.level" -> "read_committed")
    val query   = start("bounded", continuous, options: _*)
    try {
      whole("bounded", numbers(0, 0 until 30))
      // The last offset of each partition is that of a transaction's marker, and one partition has no record of a committed transaction.
      committed("bounded", 31, 21)
      write("bounded", 0, numbers(0, 30 until 40))
      val epoch = newest("bounded", "commits")
      eventually(assert(newest("bounded", "commits") > epoch + 3))
      assert(query.isActive && values("bounded") == numbers(0, 0 until 30))
    } finally query.stop()
  }

  test("limits of batches that the user sets, and sources without continuous mode, are rejected by name") {
    create("limited", 1)
    val message = failure(start("limited", continuous, "maxOffsetsPerTrigger" -> "10", "minPartitions" -> "4"))
    assert(message.contains("[SPLICE_CONTINUOUS.LIMIT_NOT_SUPPORTED]") &&
      message.contains("'minPartitions', 'maxOffsetsPerTrigger'"))
    val files = spark.readStream.format("splice").option("source", "files").option("format", "parquet")
      .option("path", numbers("history", 0, 10, files = 1)).load()
    val query = files.selectExpr("'x'", "'y'").writeStream.foreach(new Collecting).outputMode("update")
      .option("checkpointLocation", folder.resolve("files").toString).trigger(continuous).start()
    val other = failure(query)
    assert(other.contains("[SPLICE_CONTINUOUS.SOURCE_NOT_SUPPORTED]") && other.contains("The files source"))
  }
}

object ContinuousSuite {

  private val Poison = "poison"

  private val seen = new ConcurrentLinkedQueue[(String, String)]

  /** Whether the next poison fails its task. */
  private val fails = new AtomicBoolean

  /** Keeps rows of text in this JVM. */
  final private class Collecting extends ForeachWriter[Row] {
    override def open(partition: Long, epoch: Long): Boolean = true
    override def process(row: Row): Unit                     = {
      if (row.getString(1) == Poison && fails.getAndSet(false)) throw new IllegalStateException(Poison)
      val _ = seen.add(row.getString(0) -> row.getString(1))
    }
    override def close(error: Throwable): Unit = ()
  }
}
