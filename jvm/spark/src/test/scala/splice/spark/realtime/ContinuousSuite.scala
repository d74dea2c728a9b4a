// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.realtime

import java.util.concurrent.Semaphore
import java.util.concurrent.atomic.AtomicBoolean

import scala.jdk.CollectionConverters._
import scala.util.Using

import com.codahale.metrics.MetricRegistry
import org.apache.commons.lang3.SerializationUtils
import org.apache.kafka.clients.admin.NewPartitions
import org.apache.spark.sql.connector.read.streaming.{AcceptsLatestSeenOffset, Offset, PartitionOffset}
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.sql.{ForeachWriter, Row, SparkSession}
import org.scalatest.funsuite.AnyFunSuite

import splice.spark.internal.metrics.QueryGauges
import splice.spark.internal.table.SpliceTable
import splice.testkit.internal.memory.MemoryLog

/** Queries in Spark's continuous mode over a real broker. */
final class ContinuousSuite extends AnyFunSuite with LiveQueries {

  import ContinuousSuite._

  test("rows are read as they arrive, and a restart continues at the last committed epoch") {
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

  test("a topic that is recreated while the query runs is read from its first record, if the policy permits it") {
    create("epochs-restarted", 1)
    val query = start("epochs-restarted", continuous, "onTopicRecreated" -> "restart", "failOnDataLoss" -> "false")
    try {
      write("epochs-restarted", 0, numbers(0, 0 until 10))
      committed("epochs-restarted", 10)
      // The epoch with these rows may have no commit when the topic is deleted.
      write("epochs-restarted", 0, numbers(0, 10 until 15))
      val old = numbers(0, 0 until 15)
      eventually(assert(values("epochs-restarted").toSet == old.toSet))
      recreate("epochs-restarted")
      // The new topic has more records than the old topic. A reader that stayed at its offset would lose the first
      // records.
      val first = numbers(1, 0 until 30)
      write("epochs-restarted", 0, first)
      eventually(assert(values("epochs-restarted").toSet == (old ++ first).toSet))
      committedAgain("epochs-restarted", 30)
      val times = copies("epochs-restarted")
      assert(numbers(0, 0 until 10).forall(times(_) == 1), "a row of a committed epoch was repeated")
      // New tasks replace the tasks of the old topic once, so a row has at most one further copy.
      assert(times.values.forall(_ <= 2))
      val second = numbers(1, 30 until 40)
      write("epochs-restarted", 0, second)
      eventually(assert(values("epochs-restarted").toSet == (old ++ first ++ second).toSet))
      committedAgain("epochs-restarted", 40)
      assert(copies("epochs-restarted") -- second == times, "a row of a committed epoch was repeated")
    } finally query.stop()
  }

  // With the long interval, the task detects the new topic before the driver.
  Seq("epochs-replaced" -> "200ms", "epochs-swapped" -> "1h").foreach { case (topic, interval) =>
    test(s"a topic that is recreated fails the query by default, with a discovery interval of $interval") {
      create(topic, 1)
      write(topic, 0, numbers(0, 0 until 10))
      val query = start(topic, continuous, "discoveryInterval" -> interval)
      try {
        whole(topic, numbers(0, 0 until 10))
        committed(topic, 10)
        recreate(topic)
        write(topic, 0, numbers(1, 0 until 30))
        assert(failure(query).contains("SPLICE_KAFKA_DATA.TOPIC_RECREATED"))
        // No row of the new topic was treated as a row of the old topic.
        assert(values(topic) == numbers(0, 0 until 10))
      } finally query.stop()
    }
  }

  test("the gauges of a query have the rows between the committed epoch and the end of the log") {
    create("gauged", 2)
    (0 until 2).foreach(p => write("gauged", p, numbers(p, 0 until 3000)))
    val registry = new MetricRegistry
    permits.drainPermits()
    QueryGauges.open(registry)
    try {
      // The task waits for the sink, so it cannot read all records, and epochs end before the end of the log.
      val query = startInto(new Admitting, "gauged", continuous, "slots" -> "1")
      try {
        def gauge(key: String) = Option(registry.getGauges.get(s"${query.id}.0.$key")).map(_.getValue)
        def behind             = gauge("rowsBehind").collect { case rows: Long => rows }
        def ended: Option[Int] = logged("gauged").committed().map { json =>
          "\"\\d+\":(\\d+)".r.findAllMatchIn(json).map(_.group(1).toInt).sum
        }
        def isBehind(written: Int) = ended.exists(read => behind.contains(written.toLong - read))
        eventually {
          if (permits.availablePermits == 0) permits.release(10)
          assert(behind.exists(rows => rows > 0 && rows < 6000))
        }
        // Without permits, no further epoch ends.
        eventually(assert(isBehind(6000)))
        assert(gauge("topics.gauged.rowsBehind") == gauge("rowsBehind") && gauge("secondsBehind").nonEmpty)
        assert(registry.getCounters.isEmpty || !registry.getCounters.keySet.asScala.exists(_.contains("readersOpened")))
        permits.release(6000)
        committed("gauged", 3000, 3000)
        eventually(assert(behind.contains(0L)))
        // The task reports the new end while it runs.
        permits.drainPermits()
        (0 until 2).foreach(p => write("gauged", p, numbers(p, 3000 until 6000)))
        // The rows last for many epochs, also if a report of the task takes long.
        eventually {
          if (permits.availablePermits == 0) permits.release(10)
          assert(behind.exists(_ > 0) && isBehind(12000))
        }
        permits.release(12000)
        committed("gauged", 6000, 6000)
        eventually(assert(behind.contains(0L)))
      } finally query.stop()
      assert(registry.getGauges.keySet.asScala == Set("queries"))
    } finally QueryGauges.close()
  }

  private def copies(topic: String): Map[String, Int] = values(topic).groupMapReduce(identity)(_ => 1)(_ + _)

  /** Waits for the commit of an offset in a topic that was recreated once. */
  private def committedAgain(topic: String, end: Long): Unit =
    eventually(assert(logged(topic).committed().contains(s"""{"$topic":{"00":$end}}""")))

  test("the end of an epoch includes each row that was returned, and stays if the tasks will be replaced") {
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
      // An epoch of the old tasks that ends before Spark has stopped these tasks.
      assert(stream.mergeOffsets(Array(moved)).json == text(last) && !stream.needsReconfiguration())
      reader.close()
      val start = stream.deserializeOffset(text(last))
      stream.asInstanceOf[AcceptsLatestSeenOffset].setLatestSeenOffset(start)
      val (next, _) = plan(start)
      assert(stream.mergeOffsets(Array(next.getOffset)).json == text(last + (2 -> 0L)))
      next.close()
    } finally stream.stop()
  }

  test("a query whose task fails loses no row, and repeats no row before the last committed epoch") {
    create("failing", 2)
    (0 until 2).foreach(p => write("failing", p, numbers(p, 0 until 100)))
    val one = startInto(new Failing, "failing", continuous)
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

  test("a bounded source is read to its end, even if the end has no record, and the query then waits") {
    create("bounded", 2)
    write("bounded", 0, numbers(0, 0 until 30), commit = Some(true))
    write("bounded", 1, numbers(1, 0 until 20), commit = Some(false))
    val options = Seq("endingOffsets" -> "latest", "kafka.isolation.level" -> "read_committed")
    val query   = start("bounded", continuous, options: _*)
    try {
      whole("bounded", numbers(0, 0 until 30))
      // The last offset of each partition is a transaction marker, and one partition has no record of a committed
      // transaction.
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
    val memory = spark.readStream.format("splice").option("source", "memory")
      .option("log", new MemoryLog("continuous").addPartitions(1).name).load()
    val query = memory.writeStream.format("noop")
      .option("checkpointLocation", folder.resolve("memory").toString).trigger(continuous).start()
    val other = failure(query)
    assert(other.contains("[SPLICE_CONTINUOUS.SOURCE_NOT_SUPPORTED]") && other.contains("The 'memory' source"))
  }
}

private object ContinuousSuite {

  private val Poison = "poison"

  /** True if the next poison record fails its task. */
  private val fails = new AtomicBoolean

  /** The number of rows that [[Admitting]] may still process. */
  private val permits = new Semaphore(0)

  /** Processes a row only with a permit. */
  final private class Admitting extends ForeachWriter[Row] {
    override def open(partition: Long, epoch: Long): Boolean = true
    override def process(row: Row): Unit                     = permits.acquire()
    override def close(error: Throwable): Unit               = ()
  }

  /** Keeps rows, except a poison record. */
  final private class Failing extends ForeachWriter[Row] {
    private val kept = new LiveQueries.Collecting

    override def open(partition: Long, epoch: Long): Boolean = true
    override def process(row: Row): Unit                     =
      if (row.getString(1) == Poison && fails.getAndSet(false)) throw new IllegalStateException(Poison)
      else kept.process(row)
    override def close(error: Throwable): Unit = ()
  }
}
