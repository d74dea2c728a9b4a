// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.realtime

import java.nio.file.Files
import java.util.concurrent.atomic.{AtomicInteger, AtomicIntegerArray}
import java.util.concurrent.locks.LockSupport
import java.util.concurrent.{ConcurrentHashMap, CountDownLatch}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.kafka.clients.admin.RecordsToDelete
import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.TopicPartition
import org.apache.spark.TaskContext
import org.apache.spark.scheduler.{SparkListener, SparkListenerStageSubmitted}
import org.apache.spark.sql.functions.{col, expr, lit}
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.apache.spark.sql.{ForeachWriter, Row}
import org.scalatest.funsuite.AnyFunSuite

import splice.spark.internal.stream.SparkJobs
import splice.testkit.KafkaTopics
import splice.testkit.internal.memory.MemoryLog

/** Chains of bounded legs and a log in Spark's real-time mode, over a real broker. */
final class RealTimeHybridSuite extends AnyFunSuite with LiveQueries {

  import RealTimeHybridSuite._

  private val short = Trigger.RealTime("1 second")

  /** A topic of two partitions. The number of a record in these partitions is its offset * 2 + its partition. */
  final private class World(of: String) {
    val name         = s"chain-$of"
    private var size = 0

    Using.resource(broker.admin())(KafkaTopics.create(_, name, 2))
    seen.put(name, new AtomicIntegerArray(Most))

    /** @param partition
      *   the partition of the record with a number
      */
    def write(records: Int, partition: Int => Int = _ % 2): Unit = {
      Using.resource(producer()) { out =>
        (size until size + records).foreach { id =>
          out.send(new ProducerRecord[String, String](name, Int.box(partition(id)), "k", id.toString))
        }
      }
      size += records
    }

    private val path = folder.resolve(s"$name-history").toString

    /** Archives the first records, without the records that match `without`. */
    def archive(records: Long, files: Int, without: String = "false"): Unit =
      spark.range(0, records, 1, files).where(s"not ($without)")
        .select(
          col("id"),
          lit(name).as("topic"),
          expr("cast(id % 2 as int)").as("partition"),
          expr("id div 2").as("offset")
        )
        .write.parquet(path)

    def options(more: (String, String)*): Map[String, String] = Map(
      "source"                       -> "hybrid",
      "legs"                         -> "history,live",
      "history.source"               -> "files",
      "history.format"               -> "parquet",
      "history.path"                 -> path,
      "history.maxPartitionBytes"    -> "64k",
      "history.select"               -> "id",
      "live.source"                  -> "kafka",
      "live.kafka.bootstrap.servers" -> broker.servers,
      "live.subscribe"               -> name,
      "live.handOver"                -> "offsets",
      "live.select"                  -> "cast(cast(value as string) as bigint) as id"
    ) ++ more

    def start(trigger: Trigger, slow: Boolean = false, own: Map[String, String] = options()): StreamingQuery =
      spark.readStream.format("splice").options(own).load().writeStream
        .foreach(new Counting(name, slow))
        .outputMode("update")
        .option("checkpointLocation", folder.resolve(s"$name-checkpoint").toString)
        .trigger(trigger)
        .start()

    /** Options of a chain whose first leg is the part of the topic up to its current end. */
    def twoLogs(more: (String, String)*): Map[String, String] =
      options().filterNot(_._1.startsWith("history.")) ++ Map(
        "legs"                        -> "old,live",
        "old.source"                  -> "kafka",
        "old.kafka.bootstrap.servers" -> broker.servers,
        "old.subscribe"               -> name,
        "old.startingOffsets"         -> "earliest",
        "old.endingOffsets"           -> "latest",
        "old.select"                  -> options()("live.select")
      ) ++ more

    /** The names of the files in the checkpoint. */
    def entries: Seq[String] = Using.resource(Files.walk(folder.resolve(s"$name-checkpoint"))) { files =>
      files.iterator.asScala.map(_.getFileName.toString).toSeq
    }

    def counts: Seq[Int] = (0 until size).map(seen.get(name).get)

    /** The number of reads of each row that was not read exactly once. */
    def others: Map[Int, Int] = counts.zipWithIndex.collect { case (n, id) if n != 1 => id -> n }.toMap

    /** Waits until each row was read at least once. */
    def whole(): Unit = eventually(assert(counts.forall(_ > 0)))
  }

  // Spark does not always cancel the tasks of the batch that it interrupts.
  override protected def stop(query: StreamingQuery): Unit = {
    super.stop(query)
    val _ = stopped.add(query.runId.toString)
  }

  private def ends(query: StreamingQuery): Seq[String] = query.recentProgress.toSeq.flatMap(_.sources.map(_.endOffset))

  private def countingTasks[A](body: => A): (A, Int) = {
    val tasks    = new AtomicInteger
    val listener = new SparkListener {
      override def onStageSubmitted(stage: SparkListenerStageSubmitted): Unit =
        if (stage.stageInfo.rddInfos.exists(_.name == SparkJobs.Name)) {
          val _ = tasks.addAndGet(stage.stageInfo.numTasks)
        }
    }
    spark.sparkContext.addSparkListener(listener)
    try body -> tasks.get
    finally spark.sparkContext.removeSparkListener(listener)
  }

  test("continuous mode reads each row of a history and a log at least once, and the log from the end of the history") {
    val world = new World("continuous")
    world.write(400)
    world.archive(300, files = 3)
    val query = world.start(Trigger.Continuous("200 milliseconds"))
    try {
      world.whole()
      world.write(100)
      world.whole()
      // Tasks are planned again only after all rows of the history are committed.
      assert(world.counts.take(300).forall(_ == 1))
    } finally stop(query)
    world.write(100)
    val again = world.start(Trigger.Continuous("200 milliseconds"))
    try world.whole()
    finally stop(again)
    assert(world.counts.take(300).forall(_ == 1))
  }

  test("continuous mode stores the offsets that retention removes while tasks read a bounded log") {
    val world = new World("skipped")
    world.write(20000)
    val gate = new CountDownLatch(1)
    gates.put(world.name, gate)
    val own   = world.twoLogs("old.kafka.max.partition.fetch.bytes" -> "1000", "old.onOutOfRange" -> "earliest")
    val query = world.start(Trigger.Continuous("200 milliseconds"), own = own)
    try {
      eventually(assert(blocked.contains(world.name)))
      Using.resource(broker.admin()) { admin =>
        val until = (0 until 2).map(new TopicPartition(world.name, _) -> RecordsToDelete.beforeOffset(9000)).toMap
        admin.deleteRecords(until.asJava).all.get()
      }
      gate.countDown()
      eventually(assert(world.counts.drop(18000).forall(_ > 0)))
      assert(world.counts.take(18000).contains(0))
      eventually(assert(world.entries.exists(_.startsWith("unread-"))))
    } finally {
      gate.countDown()
      stop(query)
    }
  }

  test("a history and a log are read once, although batches end within blocks, and other triggers continue") {
    val w = new World("clean")
    w.write(60000)
    w.archive(40000, files = 3, without = "id between 1000 and 1100 or id = 39999")
    val (_, counted) = countingTasks {
      val one = w.start(short, slow = true)
      w.whole()
      w.write(100)
      w.whole()
      assert(ends(one).exists(_.contains("partly")))
      assert(ends(one).exists(_.contains("live")))
      stopAfterBatch(one)
    }
    // Tasks whose time ended have reported the rows that they read, so no job counts the rows of a file.
    assert(counted == 0)
    assert(w.others.isEmpty)
    w.write(100)
    w.start(Trigger.AvailableNow()).awaitTermination()
    assert(w.others.isEmpty)
    w.write(100)
    val three = w.start(short)
    w.whole()
    stopAfterBatch(three)
    assert(w.others.isEmpty)
  }

  test("a stop within the history: no row is lost, and AvailableNow continues in the middle of blocks") {
    val w = new World("stopped")
    w.write(30000)
    w.archive(30000, files = 2)
    val one = w.start(short, slow = true)
    eventually(assert(ends(one).exists(_.contains("partly"))))
    stop(one)
    assert(w.counts.contains(0))
    w.start(Trigger.AvailableNow()).awaitTermination()
    assert(w.counts.forall(_ > 0))
    val before = w.counts
    w.write(100)
    val two = w.start(short)
    w.whole()
    stopAfterBatch(two)
    assert(w.counts.take(before.size) == before && w.counts.drop(before.size).forall(_ == 1))
  }

  test("a new partition of the log ends the running batch, and each row is read once") {
    val w = new World("grown")
    w.write(400)
    w.archive(300, files = 2)
    val query = w.start(long, own = w.options("live.discoveryInterval" -> "200ms"))
    try {
      w.whole()
      grow(w.name, 3)
      w.write(100, _ => 2)
      w.whole()
      assert(ends(query).exists(_.contains("live")), "a batch of the log has ended")
      assert(w.others.isEmpty)
    } finally stop(query)
  }

  test("a new partition of a log ends the running batch after the discoveryInterval of the leg that is read") {
    val w = new World("intervals")
    w.write(400)
    val own   = w.twoLogs("old.discoveryInterval" -> "1h", "live.discoveryInterval" -> "200ms")
    val query = w.start(long, own = own)
    try {
      eventually(assert(ends(query).nonEmpty))
      w.write(100)
      w.whole()
      grow(w.name, 3)
      w.write(100, _ => 2)
      w.whole()
      assert(w.others.isEmpty)
    } finally stop(query)
  }

  test("a source of files is read to its end, and the query then waits") {
    val w = new World("files")
    w.write(20000)
    w.archive(20000, files = 2)
    val files = w.options().collect { case (key, value) if key.startsWith("history.") => key.drop(8) -> value } -
      "select"
    val query = w.start(short, slow = true, files)
    w.whole()
    stopAfterBatch(query)
    assert(w.others.isEmpty && query.exception.isEmpty)
  }

  test("limits of a leg are rejected with the name of the leg, and so is a leg without real-time mode") {
    val w = new World("limited")
    w.write(10)
    w.archive(10, files = 1)
    val set     = w.options("history.maxFilesPerTrigger" -> "1", "live.maxOffsetsPerTrigger" -> "10")
    val message = failure(w.start(short, own = set))
    assert(message.contains("[SPLICE_REAL_TIME.LIMIT_NOT_SUPPORTED]"))
    assert(message.contains("'history.maxFilesPerTrigger', 'live.maxOffsetsPerTrigger'"))
    val log    = new MemoryLog("limited-legs").addPartitions(2)
    val memory = w.options().filterNot(_._1.startsWith("live.")) ++
      Map("live.source" -> "memory", "live.log" -> log.name, "live.handOver" -> "offsets", "live.select" -> "id")
    val error = failure(new World("unsupported").start(short, own = memory))
    assert(error.contains("[SPLICE_REAL_TIME.LEG_NOT_SUPPORTED]") && error.contains("'memory' source of leg 'live'"))
    val continuous = failure(new World("unsupported-continuous").start(Trigger.Continuous("1 second"), own = memory))
    assert(continuous.contains("[SPLICE_CONTINUOUS.LEG_NOT_SUPPORTED]") && continuous.contains("of leg 'live'"))
    assert(w.counts.forall(_ == 0))
  }

  test("continuous mode rejects settings that skip files of a leg whose hand-over counts rows, and no other leg") {
    val w = new World("skipping")
    w.write(10)
    w.archive(10, files = 1)
    def rejected(more: (String, String)*) = failure(w.start(continuous, own = w.options(more: _*)))
    val ofLeg                             = rejected("history.ignoreMissingFiles" -> "true")
    assert(ofLeg.contains("[SPLICE_CONTINUOUS.SKIPPED_FILES_NOT_SUPPORTED]") && ofLeg.contains("Leg 'history'"))
    assert(ofLeg.contains("'history.ignoreMissingFiles' = 'true'") && !ofLeg.contains("ignoreCorruptFiles"))
    val key = "spark.sql.files.ignoreCorruptFiles"
    spark.conf.set(key, "true")
    try {
      val ofSession = rejected()
      assert(ofSession.contains(s"'$key' = 'true'") &&
        ofSession.contains("Set 'history.ignoreCorruptFiles' to 'false'"))
      val allowed = w.start(continuous, own = w.options("history.ignoreCorruptFiles" -> "false"))
      try w.whole()
      finally stop(allowed)
    } finally spark.conf.unset(key)
    val free    = new World("free")
    val noCount = free.options("history.ignoreMissingFiles" -> "true", "live.startingOffsets" -> "latest")
    free.write(10)
    free.archive(10, files = 1)
    val query = free.start(continuous, own = noCount - "live.handOver")
    try free.whole()
    finally stop(query)
  }
}

object RealTimeHybridSuite {

  private val Most = 100000

  private val stopped = ConcurrentHashMap.newKeySet[String]

  // The names of worlds whose rows wait, and the worlds whose tasks have received a row.
  private val gates   = new ConcurrentHashMap[String, CountDownLatch]
  private val blocked = ConcurrentHashMap.newKeySet[String]

  private val seen = new ConcurrentHashMap[String, AtomicIntegerArray]

  /** Counts rows in this JVM, except rows of stopped runs.
    *
    * @param slow
    *   true if ten rows take one millisecond, so that several batches read a small history
    */
  final private class Counting(name: String, slow: Boolean) extends ForeachWriter[Row] {
    @transient private lazy val rows = Iterator.from(1)

    override def open(partition: Long, epoch: Long): Boolean = true
    override def process(row: Row): Unit                     = {
      Option(gates.get(name)).foreach { gate =>
        blocked.add(name)
        gate.await()
      }
      val run = TaskContext.get().getLocalProperty("spark.jobGroup.id")
      if (!stopped.contains(run)) { val _ = seen.get(name).incrementAndGet(row.getLong(0).toInt) }
      if (slow && rows.next() % 10 == 0) LockSupport.parkNanos(1000000L)
    }
    override def close(error: Throwable): Unit = ()
  }
}
