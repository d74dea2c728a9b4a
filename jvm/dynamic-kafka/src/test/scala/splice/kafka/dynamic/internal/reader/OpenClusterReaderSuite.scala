// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.reader

import java.net.{InetAddress, ServerSocket}
import java.time.{Clock, Duration, Instant}
import java.util.concurrent.CountDownLatch

import scala.collection.immutable.SortedMap
import scala.collection.mutable
import scala.concurrent.duration.DurationInt
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.util.Using

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.broker.RealLog
import splice.kafka.dynamic.KafkaCluster
import splice.kafka.dynamic.internal.settings.{ClusterSettings, DynamicSettings}
import splice.kafka.dynamic.internal.split.DynamicSplitRange
import splice.kafka.internal.admission.RecordSizes
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.split.KafkaSplitRange
import splice.kafka.internal.value.KafkaSchema
import splice.source.errors.SpliceException
import splice.source.options.SourceOptions
import splice.source.runtime.Report
import splice.source.{
  EnumeratorContext,
  LogPartition,
  Poll,
  ReadMode,
  SplitRange,
  SplitReader,
  SplitReaderFactory,
  TaskRanges
}
import splice.testkit.FreePort
import splice.testkit.internal.broker.SharedKafka

/** Tests of readers of open ranges of responsive and unresponsive clusters in one slot. */
final class OpenClusterReaderSuite extends AnyFunSuite {

  private lazy val broker = SharedKafka.east
  private lazy val log    = new RealLog(broker)

  private val settings = DynamicSettings(SourceOptions(Map("streamPattern" -> ".*", "metadata.file" -> "unused")))

  private def range(cluster: String, partition: Int, from: Long, until: Long = Long.MaxValue) =
    DynamicSplitRange(cluster, "s", KafkaSplitRange(LogPartition("t", partition), from, until)(None))

  /** Creates the reader of a slot with ranges of clusters at these addresses. */
  private def reader(servers: Map[String, String], ranges: DynamicSplitRange*)(
      timeouts: (String, String)*
  ): SplitReader[InternalRow] = {
    val run     = java.util.UUID.randomUUID().toString
    val context = EnumeratorContext(new MemorySideLog, ReadMode.Stream, Clock.systemUTC(), 2, run)
    val columns = StructType(KafkaSchema(includeHeaders = false).fields ++ DynamicColumns.all.fields)
    DynamicReaders(new ClusterSettings(settings), columns, context, ranges, _ => new RecordSizes, identity) { name =>
      KafkaCluster(name, SortedMap("bootstrap.servers" -> servers(name)) ++ timeouts)
    }.rows(TaskRanges(Some(0), ranges.toIndexedSeq))
  }

  /** Polls until `count` rows are found: cluster, stream and value. */
  private def read(reader: SplitReader[InternalRow], count: Int): Seq[(String, String, String)] = {
    val limit = Instant.now().plusSeconds(60)
    val rows  = mutable.ArrayBuffer.empty[(String, String, String)]
    while (rows.size < count) {
      assert(Instant.now().isBefore(limit), rows)
      val found = reader.poll(Duration.ofMillis(50))
      assert(found != Poll.Ended)
      if (found == Poll.Found) {
        val row = reader.get()
        rows += ((row.getString(7), row.getString(8), new String(row.getBinary(1))))
      }
    }
    rows.toSeq
  }

  private def unread(reader: SplitReader[InternalRow]): Map[String, (String, Long)] =
    reader.unread.collect { case r: DynamicSplitRange => r.splitId -> (r.stream -> r.range.from) }.toMap

  test(
    "clusters that reject connections, never respond or have no address do not delay rows of another cluster in the slot"
  ) {
    log.create("t", 1)
    log.write("t", 1, 0, 10)
    Using.resource(new ServerSocket(0, 50, InetAddress.getLoopbackAddress)) { hanging =>
      val servers = Map(
        "good"    -> broker.servers,
        "dead"    -> s"127.0.0.1:${FreePort()}",
        "away"    -> s"127.0.0.1:${FreePort()}",
        "hanging" -> s"127.0.0.1:${hanging.getLocalPort}",
        "unknown" -> "no-such-host.invalid:9092"
      )
      val others = Seq("dead", "away", "hanging", "unknown")
      // The slot has more clusters than a bounded read opens at a time.
      val slot =
        reader(servers, others.map(range(_, 0, 7L)) ++ Seq(range("dead", 1, 3L, 9L), range("good", 0, 2L)): _*)()
      val left = others.map(name => s"$name/t-0" -> ("s" -> 7L)).toMap + ("dead/t-1" -> ("s" -> 3L))
      try {
        assert(unread(slot) == left + ("good/t-0" -> ("s" -> 2L)))
        assert(read(slot, 8) == (2 until 10).map(i => ("good", "s", s"v$i")))
        (10 until 20).foreach { i =>
          log.write("t", 1, i, i + 1)
          assert(read(slot, 1) == Seq(("good", "s", s"v$i")))
        }
        assert(unread(slot) == left + ("good/t-0" -> ("s" -> 20L)))
      } finally slot.close()
    }
  }

  test("rows of a cluster arrive while a request to another cluster of the slot has no response") {
    log.create("pending", 1)
    Using.resource(new ServerSocket(0, 50, InetAddress.getLoopbackAddress)) { hanging =>
      val requested = new CountDownLatch(1)
      val abandoned = new CountDownLatch(1)
      val _         = Future {
        Using.resource(hanging.accept()) { connection =>
          Iterator.continually(connection.getInputStream.read()).takeWhile(_ >= 0).foreach(_ => requested.countDown())
        }
        abandoned.countDown()
      }(ExecutionContext.global)
      val servers = Map("east" -> broker.servers, "west" -> s"127.0.0.1:${hanging.getLocalPort}")
      val open    = Seq("west", "east").map { cluster =>
        DynamicSplitRange(cluster, "s", KafkaSplitRange(LogPartition("pending", 0), 0, Long.MaxValue)(None))
      }
      // The client does not abandon its request before the end of the test.
      val slot = reader(servers, open: _*)("request.timeout.ms" -> "600000", "default.api.timeout.ms" -> "600000")
      try {
        log.eventually("a request to the other cluster") {
          assert(slot.poll(Duration.ofMillis(50)) == Poll.Pending)
          requested.getCount == 0
        }
        (0 until 3).foreach { i =>
          log.write("pending", 1, i, i + 1)
          assert(Await.result(Future(read(slot, 1))(ExecutionContext.global), 60.seconds) == Seq(("east", "s", s"v$i")))
          assert(abandoned.getCount == 1, "the request has ended")
        }
      } finally slot.close()
    }
  }

  test("after an error of the cluster a new reader continues where the last one stopped") {
    val clock   = new ManualClock
    val created = mutable.ArrayBuffer.empty[Failing]
    val slot    = new OpenClusterReader[String]("east", IndexedSeq(range("east", 0, 5L)), clock)({ ranges =>
      val one = new Failing(ranges.head.range, rows = 2, skips = created.size)
      created += one
      one
    })
    def poll() = slot.poll(Duration.ZERO)
    assert(Seq.fill(2)(poll()) == Seq(Poll.Found, Poll.Found) && poll() == Poll.Pending)
    assert(slot.unread == Seq(range("east", 0, 7L)) && created.map(_.closed) == Seq(true))
    // The pause after the error has not ended.
    assert(poll() == Poll.Pending && created.size == 1)
    clock.now = clock.now.plusSeconds(1)
    assert(poll() == Poll.Found && slot.get() == "7" && created.size == 2)
    assert(slot.unread == Seq(range("east", 0, 8L)))
    assert(slot.skipped == Seq(Report("east", Int.box(0)), Report("east", Int.box(1))))
    slot.close()
    assert(created.forall(_.closed))
  }

  test("a reader has the backlog and the changes that the current reader of the cluster has found") {
    val created = mutable.ArrayBuffer.empty[Failing]
    val slot    = new OpenClusterReader[String]("east", IndexedSeq(range("east", 0, 5L)))({ ranges =>
      val one = new Failing(ranges.head.range, rows = 1)
      created += one
      one
    })
    assert(!slot.isStale && slot.backlog.isEmpty)
    assert(slot.poll(Duration.ZERO) == Poll.Found && !slot.isStale)
    created.head.stale = true
    assert(slot.isStale && slot.backlog == Seq(Report("east", Long.box(6))))
    // The error of the cluster closes the reader.
    assert(slot.poll(Duration.ZERO) == Poll.Pending && !slot.isStale && slot.backlog.isEmpty)
  }

  test("a partition without a response is an outage of its cluster, and does not fail the task") {
    val away    = KafkaErrors.stalled(Seq("t-0 at offset 6"), Duration.ZERO)
    val created = mutable.ArrayBuffer.empty[Failing]
    val slot    = new OpenClusterReader[String]("east", IndexedSeq(range("east", 0, 5L)))({ ranges =>
      created += new Failing(ranges.head.range, rows = 1, away)
      created.last
    })
    assert(slot.poll(Duration.ZERO) == Poll.Found && slot.poll(Duration.ZERO) == Poll.Pending)
    assert(slot.unread == Seq(range("east", 0, 6L)) && created.map(_.closed) == Seq(true))
  }

  test("an error that is not caused by the cluster fails the task") {
    val slot = new OpenClusterReader[String]("east", IndexedSeq(range("east", 0, 5L)))(_ =>
      throw KafkaErrors.dataLoss("gone", Nil)
    )
    assert(intercept[SpliceException](slot.poll(Duration.ZERO)).getCondition == "SPLICE_KAFKA_DATA.DATA_LOSS")
  }

  test("a cluster whose rows are always available does not delay another cluster of the slot") {
    val readers = DynamicReaders(Map("west" -> new Rows(Int.MaxValue), "east" -> new Rows(1)), None, isOpen = true)
    val slot    = readers.rows(TaskRanges(Some(0), IndexedSeq(range("west", 0, 0L), range("east", 0, 0L))))
    val east    = (1 to 5000).indexWhere { _ =>
      assert(slot.poll(Duration.ZERO) == Poll.Found)
      slot.get().getInt(0) == 1
    }
    assert(east >= 0)
    // The slot continues with the first cluster.
    assert(slot.poll(Duration.ZERO) == Poll.Found && slot.get().getInt(0) == Int.MaxValue)
    slot.close()
  }

  /** Readers of a cluster with this number of rows. Each row has this number. */
  final private class Rows(count: Int) extends SplitReaderFactory {
    override def rows(task: TaskRanges): SplitReader[InternalRow] = new SplitReader[InternalRow] {
      private var left = count

      override def poll(patience: Duration): Poll =
        if (left == 0) Poll.Pending
        else {
          left -= 1
          Poll.Found
        }

      override def get(): InternalRow      = InternalRow(count)
      override def unread: Seq[SplitRange] = task.ranges
      override def close(): Unit           = ()
    }
  }

  final private class ManualClock extends Clock {
    var now: Instant                                     = Instant.EPOCH
    override def instant(): Instant                      = now
    override def getZone: java.time.ZoneId               = java.time.ZoneOffset.UTC
    override def withZone(zone: java.time.ZoneId): Clock = this
  }

  /** Reader that returns some rows and then fails. */
  final private class Failing(
      range: KafkaSplitRange,
      rows: Int,
      error: SpliceException = KafkaErrors.unreachable("east:9092", "records", Duration.ZERO, new Exception("away")),
      skips: Int = 0
  ) extends SplitReader[String] {
    private var at = range.from
    var closed     = false
    var stale      = false

    override def poll(patience: Duration): Poll =
      if (at < range.from + rows) {
        at += 1
        Poll.Found
      } else throw error

    override def get(): String           = (at - 1).toString
    override def isStale: Boolean        = stale
    override def skipped: Seq[Report]    = Seq(Report("east", Int.box(skips)))
    override def backlog: Seq[Report]    = Seq(Report("east", Long.box(at)))
    override def unread: Seq[SplitRange] = Seq(range.copy(from = at)(range.topicId, range.generation))
    override def close(): Unit           = closed = true
  }
}
