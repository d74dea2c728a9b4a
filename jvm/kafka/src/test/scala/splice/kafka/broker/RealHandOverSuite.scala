// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.broker

import java.time.{Clock, Instant}

import scala.collection.immutable.SortedMap
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.kafka.clients.admin.RecordsToDelete
import org.apache.kafka.clients.producer.{KafkaProducer, ProducerRecord}
import org.apache.kafka.common.TopicPartition
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.internal.cluster.KafkaClusterClient
import splice.kafka.internal.enumerator.SimulatedRun
import splice.kafka.internal.options.KafkaSettings
import splice.source._
import splice.source.errors.SpliceException
import splice.source.log.{LogPartitions, LogRange, OffsetRuns}
import splice.source.options.{FailOrWarn, SourceOptions}
import splice.source.runtime.SideLog
import splice.testkit.internal.broker.SharedKafka

/** Tests of hand-over starts and of filled holes with a real broker. */
final class RealHandOverSuite extends AnyFunSuite {

  private lazy val real = new RealLog(SharedKafka.east)

  private def enumerator[A](
      source: Source[_ <: Position],
      log: SideLog = new MemorySideLog,
      start: Option[StoredStart] = None
  )(use: SplitEnumerator[Position] => A): A = {
    val context = EnumeratorContext(log, ReadMode.Stream, Clock.systemUTC(), 2, "hand-over", start = start)
    Using.resource(SplitEnumerator.untyped(source, context))(use)
  }

  private def start(source: Source[_ <: Position], wanted: StartPosition): Position =
    enumerator(source)(_.start(wanted))

  private def offsets(topic: String, starts: OffsetRanges*): StartPosition =
    StartPosition.Offsets(SortedMap.from(starts.zipWithIndex.map { case (of, p) => LogPartition(topic, p) -> of }))

  private def ranges(source: Source[_ <: Position], history: (LogPartition, Long)*): Map[LogPartition, LogRange] =
    enumerator(source) {
      case log: LogPartitions => log.logRanges(SortedMap.from(history))
      case other              => fail(s"$other does not read a log")
    }

  /** Reads all rows from a start, in limited batches that are planned by separate runs: (partition, offset, value). */
  private def read(source: Source[_ <: Position], wanted: StartPosition, rows: Long): Seq[(Int, Long, String)] = {
    val log   = new MemorySideLog
    val begin = enumerator(source, log)(_.start(wanted))
    val start = Some(SimulatedRun.stored(begin, wanted))
    Iterator.unfold(begin) { at =>
      enumerator(source, log, start) { e =>
        val until = e.advance(at, Limits.Limited(rows = Some(rows)))
        Option.when(until != at)(real.rows(source, Seq(TaskRanges(Some(0), e.splits(at, until).toIndexedSeq))) -> until)
      }
    }.toVector.flatten
  }

  // An abort would drop unsent records, so the producer is flushed.
  private def send(out: KafkaProducer[String, String], topic: String, partition: Int = 0, rows: Int = 10): Unit = {
    (0 until rows).foreach(i => out.send(new ProducerRecord(topic, partition, s"k$i", s"v$i")))
    out.flush()
  }

  private def transaction(out: KafkaProducer[String, String], commits: Boolean)(body: => Unit): Unit = {
    out.beginTransaction()
    body
    if (commits) out.commitTransaction() else out.abortTransaction()
  }

  /** Writes records 0 to 9, aborted records 11 to 20 and records 22 to 31. A marker follows each group. */
  private def threeTransactions(topic: String): Unit = {
    real.create(topic, 1)
    Using.resource(real.producer("transactional.id" -> topic)) { out =>
      out.initTransactions()
      Seq(true, false, true).foreach(transaction(out, _)(send(out, topic)))
    }
    real.awaitEnd(topic, 33)
  }

  test("holes are filled only with committed records, and later records are read with the isolation of the query") {
    threeTransactions("aborted")
    val source = real.source("subscribe" -> "aborted")
    // The history has offsets 0, 1, 5 to 9 and 23, and ends with 26.
    val wanted = offsets("aborted", OffsetRanges(27, Vector(2L -> 5L, 10L -> 27L), Some(OffsetRuns.of(23L -> 27L))))
    val holes  = Seq[Long](2, 3, 4, 22)
    val live   = 27L until 32L
    Seq(1000L, 7L, 1L).foreach { rows =>
      assert(read(source, wanted, rows).map(_._2) == holes ++ live, s"$rows rows per batch")
    }
    Using.resource(real.producer("transactional.id" -> "aborted")) { out =>
      out.initTransactions()
      transaction(out, commits = false)(send(out, "aborted", rows = 3))
    }
    real.awaitEnd("aborted", 37)
    assert(
      read(source, wanted, 9).map(_._2) == holes ++ live ++ (33L until 36L),
      "later records have the isolation of the query"
    )
    val committed = real.source("subscribe" -> "aborted", "kafka.isolation.level" -> "read_committed")
    assert(read(committed, wanted, 9).map(_._2) == holes ++ live)
  }

  test("holes with only markers and aborted records have no rows, and their ranges end") {
    threeTransactions("markers")
    val source                                   = real.source("subscribe" -> "markers")
    def filled(from: Long, holes: (Long, Long)*) =
      read(source, offsets("markers", OffsetRanges(from, holes.toVector)), 1000).map(_._2)
    assert(filled(32, 10L -> 11L, 21L -> 22L).isEmpty)
    assert(filled(33, 32L -> 33L).isEmpty)
    assert(filled(22, 11L -> 22L) == (22L until 32L))
    assert(filled(22, 9L -> 22L) == 9L +: (22L until 32L))
  }

  test("the first record of a start is the first record that a reader receives, with its time") {
    threeTransactions("first")
    real.create("second", 2)
    val time = 1767225600000L
    Using.resource(real.producer()) { out =>
      (0 until 3).foreach(i => out.send(new ProducerRecord("second", 0, time + i, "k", "v")))
      out.flush()
    }
    def times(topic: String, start: OffsetRanges*) = {
      val source = real.source("subscribe" -> topic, "kafka.isolation.level" -> "read_committed")
      enumerator(source) {
        case log: LogPartitions =>
          val begun = enumerator(source)(_.start(offsets(topic, start: _*)))
          log.firstTimes(begun)
        case other => fail(s"$other does not read a log")
      }
    }
    assert(times("second", OffsetRanges(1), OffsetRanges(0)) ==
      SortedMap(LogPartition("second", 0) -> Instant.ofEpochMilli(time + 1)))
    // The records from 11 on are aborted.
    val first = LogPartition("first", 0)
    assert(times("first", OffsetRanges(10)) == times("first", OffsetRanges(22)))
    assert(times("first", OffsetRanges(22)).contains(first) && times("first", OffsetRanges(32)).isEmpty)
  }

  test("filled records have the values of their offsets, on several partitions") {
    real.create("values", 2)
    real.write("values", 2, 0, 200)
    val source = real.source("subscribe" -> "values")
    val odd    = OffsetRuns.of((1L until 90L by 2L).map(o => o -> (o + 1)): _*)
    val wanted = offsets("values", OffsetRanges(90, Vector(0L -> 90L), Some(odd)), OffsetRanges(50, Vector(10L -> 12L)))
    val expected = ((0L until 90L by 2L) ++ (90L until 100L)).map(o => (0, o, s"v${2 * o}")) ++
      (Seq(10L, 11L) ++ (50L until 100L)).map(o => (1, o, s"v${2 * o + 1}"))
    Seq(1000L, 30L).foreach(rows => assert(read(source, wanted, rows).sorted == expected))
  }

  test("the ranges of a log begin at the first remaining record and end at its end, even with an open transaction") {
    real.create("ranges", 2)
    real.write("ranges", 2, 0, 20)
    deleteTo("ranges", 4)
    val source = real.source("subscribe" -> "ranges")
    val (a, b) = (LogPartition("ranges", 0), LogPartition("ranges", 1))
    assert(ranges(source, a -> 7L) == Map(a -> LogRange(4, 10), b -> LogRange(0, 10)))
    assert(ranges(source, a -> 12L)(a) == LogRange(4, 10), "the history is ahead")
    Using.resource(real.producer("transactional.id" -> "ranges")) { out =>
      out.initTransactions()
      out.beginTransaction()
      send(out, "ranges", rows = 5)
      val committed = real.source("subscribe" -> "ranges", "kafka.isolation.level" -> "read_committed")
      assert(ranges(source)(a) == LogRange(4, 15) && ranges(committed)(a) == LogRange(4, 10))
      assert(ranges(committed, a -> 12L)(a) == LogRange(4, 12), "the history has records of the transaction")
      assert(ranges(committed, a -> 16L)(a) == LogRange(4, 15), "the history is ahead")
      assert(times("ranges", 0 -> 11L).keySet == Set(0), "a record of an open transaction")
      out.abortTransaction()
    }
  }

  test("a history that ends within an open transaction continues with the records after its end") {
    real.create("within", 1)
    val source = real.source("subscribe" -> "within", "kafka.isolation.level" -> "read_committed")
    Using.resource(real.producer("transactional.id" -> "within")) { out =>
      out.initTransactions()
      transaction(out, commits = true)(send(out, "within", rows = 2))
      real.awaitEnd("within", 3)
      out.beginTransaction()
      send(out, "within", rows = 5)
      val p = LogPartition("within", 0)
      assert(ranges(source, p -> 6L) == Map(p -> LogRange(0, 6)))
      // The history has offsets 0, 1, 3 and 5.
      val wanted = offsets("within", OffsetRanges(6, Vector(2L -> 3L, 4L -> 5L)))
      assert(read(source, wanted, 1000).isEmpty)
      out.commitTransaction()
      real.awaitEnd("within", 9)
      assert(read(source, wanted, 1000).map(_._2) == Seq(4, 6, 7))
    }
  }

  private def times(topic: String, at: (Int, Long)*): Map[Int, Long] =
    Using.resource(new KafkaClusterClient(
      KafkaSettings(SourceOptions(Map("kafka.bootstrap.servers" -> SharedKafka.east.servers, "subscribe" -> topic))),
      "times"
    )) { client =>
      client.times(at.map { case (p, offset) => LogPartition(topic, p) -> offset }.toMap).map { case (p, time) =>
        p.partition -> time
      }
    }

  test("records at offsets have a time, and offsets without a record are omitted") {
    real.create("times", 2)
    // Retention may remove old records at any time, so the timestamps are recent.
    val t = System.currentTimeMillis()
    Using.resource(real.producer()) { out =>
      val sent = Seq(0 -> 1, 0 -> 2, 0 -> 3, 1 -> 4).map { case (p, more) =>
        out.send(new ProducerRecord[String, String]("times", p, Long.box(t + more), "k", "v"))
      }
      sent.foreach(_.get())
    }
    assert(times("times", 0 -> 1L, 1 -> 0L) == Map(0 -> (t + 2), 1 -> (t + 4)))
    deleteTo("times", 2)
    assert(times("times", 0 -> 1L, 1 -> 0L) == Map(1 -> (t + 4)), "retention")
    assert(times("times", 0 -> 2L) == Map(0 -> (t + 3)) && times("times").isEmpty)
    threeTransactions("times-marked")
    assert(times("times-marked", 0 -> 10L).isEmpty, "a marker")
    assert(times("times-marked", 0 -> 9L).keySet == Set(0))
  }

  test("holes after the start of an open transaction are not skipped, with any value of failOnDataLoss") {
    real.create("open", 1)
    Using.resource(real.producer("transactional.id" -> "open")) { out =>
      out.initTransactions()
      transaction(out, commits = true)(send(out, "open", rows = 2))
      out.beginTransaction()
      send(out, "open", rows = 3)
      val source = real.source(
        "subscribe"                   -> "open",
        "failOnDataLoss"              -> "false",
        "kafkaConsumer.pollTimeoutMs" -> "1500"
      )
      val wanted = offsets("open", OffsetRanges(6, Vector(0L -> 6L)))
      val error  = intercept[SpliceException](read(source, wanted, 1000))
      assert(error.getCondition == "SPLICE_KAFKA_CONNECTION.PARTITION_UNAVAILABLE", error)
      out.commitTransaction()
      assert(read(source, wanted, 1000).map(_._2) == Seq(0, 1, 3, 4, 5))
    }
  }

  private def deleteTo(topic: String, offset: Long): Unit = real.admin { client =>
    client.deleteRecords(Map(new TopicPartition(topic, 0) -> RecordsToDelete.beforeOffset(offset)).asJava).all().get()
  }

  private def timed(topic: String, onGap: FailOrWarn): Position =
    start(real.source("subscribe" -> topic), StartPosition.Time(1, onGap))

  test("an emptied partition is a gap in time") {
    real.create("emptied", 1)
    real.write("emptied", 1, 0, 10)
    assert(timed("emptied", FailOrWarn.Fail).json == """{"emptied":{"0":0}}""")
    deleteTo("emptied", 10)
    val error = intercept[SpliceException](timed("emptied", FailOrWarn.Fail))
    assert(error.getCondition == "SPLICE_KAFKA_DATA.HAND_OVER_TIME_GAP")
    assert(error.getMessage.contains("emptied-0 no longer has records"), error)
    assert(timed("emptied", FailOrWarn.Warn).json == """{"emptied":{"0":10}}""")
  }

  test("a log that begins with a transaction marker is a gap in time") {
    threeTransactions("marked")
    assert(timed("marked", FailOrWarn.Fail).json == """{"marked":{"0":0}}""")
    deleteTo("marked", 10)
    val error = intercept[SpliceException](timed("marked", FailOrWarn.Fail))
    assert(
      error.getCondition == "SPLICE_KAFKA_DATA.HAND_OVER_TIME_GAP" && error.getMessage.contains("marked-0 begins at "),
      error
    )
    deleteTo("marked", 32)
    val empty = intercept[SpliceException](timed("marked", FailOrWarn.Fail))
    assert(empty.getCondition == "SPLICE_KAFKA_DATA.HAND_OVER_TIME_GAP", empty)
    // Brokers also find markers by time.
    assert(empty.getMessage.contains("marked-0 begins at "), empty)
  }
}
