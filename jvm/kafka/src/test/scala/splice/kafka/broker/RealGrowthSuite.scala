// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.broker

import java.time.Duration

import scala.util.Using

import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.spark.sql.catalyst.InternalRow
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.Coordinator
import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.internal.pool.ReaderPool
import splice.kafka.internal.split.{Holes, KafkaSplitRange}
import splice.source.errors.SpliceException
import splice.source.{EnumeratorContext, LogPartition, Poll, Position, ReadMode, Source, SplitReader, TaskRanges}
import splice.testkit.internal.broker.SharedKafka
import splice.testkit.{KafkaTopics, LoggedMessages}

/** Tests of added partitions and open transactions on a real broker during a query. */
final class RealGrowthSuite extends AnyFunSuite {

  private lazy val real = new RealLog(SharedKafka.east)

  private val earliest = "startingOffsets"   -> "earliest"
  private val rarely   = "discoveryInterval" -> "1h"

  private def grow(topic: String, partitions: Int): Unit = real.admin(KafkaTopics.grow(_, topic, partitions))

  test("a batch with rows detects new partitions long before the next discovery") {
    real.create("batches", 1)
    real.write("batches", 1, 0, 10)
    real.run(real.source("subscribe" -> "batches", earliest, rarely)) { c =>
      val first = real.all(c, c.initial())
      grow("batches", 3)
      real.write("batches", 3, 0, 30)
      val next = real.until(c, first)(_.json == """{"batches":{"0":20,"1":10,"2":10}}""")
      assert(c.ranges(first, next).map(_.weight).sum == 30)
    }
  }

  test("an idle query detects new partitions within seconds, long before the next discovery") {
    real.create("quiet", 1)
    real.write("quiet", 1, 0, 4)
    real.run(real.source("subscribe" -> "quiet", earliest, rarely)) { c =>
      val first = real.all(c, c.initial())
      grow("quiet", 2)
      val next = real.moved(c, first)
      assert(next.json == """{"quiet":{"0":4,"1":0}}""")
    }
  }

  test("a restart with read_committed waits for open transactions that were already read or logged") {
    real.create("level", 1)
    val log                   = new MemorySideLog
    def source(level: String) = real.source(
      "subscribe" -> "level",
      earliest,
      "kafka.isolation.level"       -> level,
      "failOnDataLoss"              -> "false",
      "kafkaConsumer.pollTimeoutMs" -> "1500"
    )
    Using.resource(real.producer("transactional.id" -> "level")) { out =>
      def send(values: Int*): Unit = {
        values.foreach(i => out.send(new ProducerRecord("level", 0, s"k$i", s"v$i")))
        out.flush()
      }
      out.initTransactions()
      out.beginTransaction()
      send(0, 1, 2)
      val read =
        real.run(source("read_uncommitted"), log)(c => real.until(c, c.initial())(_.json == """{"level":{"0":3}}"""))
      real.run(source("read_committed"), log) { c =>
        assert(real.all(c, read) == read)
        val logged = c.tasks(c.initial(), read)
        val error  = intercept[SpliceException](real.rows(source("read_committed"), logged, "level-open"))
        assert(error.getCondition == "SPLICE_KAFKA_CONNECTION.PARTITION_UNAVAILABLE", error)
        send(3)
        assert(real.all(c, read) == read, "the transaction is still open")
        out.commitTransaction()
        val next = real.moved(c, read)
        assert(real.rows(source("read_committed"), c.tasks(read, next), "level").map(_._3) == Seq("v3"))
        assert(real.rows(source("read_committed"), logged, "level").map(_._3) == Seq("v0", "v1", "v2"))
        val beyond = logged.map(task =>
          task.copy(ranges = task.ranges.map {
            case range: KafkaSplitRange => range.copy(until = 9)(range.topicId, range.generation)
            case other                  => other
          })
        )
        val (rows, messages) = LoggedMessages.during("splice.kafka.internal.errors.DataLoss") {
          real.rows(source("read_committed"), beyond, "level").map(_._3)
        }
        assert(rows == Seq("v0", "v1", "v2", "v3"))
        assert(messages.size == 1 && messages.head.contains("level-0 [5, 9)"), messages)
      }
    }
  }

  /** Creates the reader of a slot of a batch with open ranges. */
  private def slot(source: Source[_ <: Position], run: String, ranges: KafkaSplitRange*): SplitReader[InternalRow] = {
    val tasks = Seq(TaskRanges(Some(0), ranges.toVector))
    real.readers(source, source.schema, tasks, run).rows(tasks.head)
  }

  private def poll(reader: SplitReader[InternalRow]): Poll = reader.poll(Duration.ofMillis(50))

  test("a reader of open ranges ends when its own client receives metadata with a new partition") {
    real.create("own", 1)
    val source = real.source("subscribe" -> "own", "kafka.metadata.max.age.ms" -> "100")
    val range  = KafkaSplitRange(LogPartition("own", 0), 0, Long.MaxValue)(None)
    Using.resource(slot(source, "real-own", range)) { reader =>
      real.write("own", 1, 0, 1)
      real.eventually("a row")(poll(reader) == Poll.Found)
      assert(!reader.isStale)
      grow("own", 2)
      real.eventually("the new partition in the metadata of the client") {
        assert(poll(reader) == Poll.Pending)
        reader.isStale
      }
    }
    ReaderPool.release("real-own")
  }

  test("a hole that cannot be read yet does not delay the open ranges of other partitions of the slot") {
    real.create("holes", 2)
    val source                   = real.source("subscribe" -> "holes", "kafkaConsumer.pollTimeoutMs" -> "200")
    def open(p: Int, from: Long) = KafkaSplitRange(LogPartition("holes", p), from, Long.MaxValue)(None)
    val hole                     = open(0, 0).copy(until = 2, holes = Some(Holes(Vector(0L -> 2L), None)))(None, 0)
    var rows                     = Vector.empty[String]
    Using.resource(real.producer("transactional.id" -> "holes")) { out =>
      def send(partition: Int, values: String*): Unit = {
        values.foreach(value => out.send(new ProducerRecord("holes", partition, "k", value)))
        out.flush()
      }
      out.initTransactions()
      out.beginTransaction()
      send(0, "hole-0", "hole-1")
      real.write("holes", 2, 0, 2)
      Using.resource(slot(source, "real-holes", open(0, 2), hole, open(1, 0))) { reader =>
        def until(count: Int): Unit = real.eventually(s"$count rows") {
          if (poll(reader) == Poll.Found) rows :+= new String(reader.get().getBinary(1))
          rows.size == count
        }
        until(1)
        // The transaction is still open, so the hole and the range after the hole have no row.
        assert(rows == Vector("v1"))
        assert(reader.unread.toSet == Set(open(0, 2), hole, open(1, 1)))
        // The reader waits for longer than the timeout of a bounded range.
        assert(Seq.fill(20)(poll(reader)).toSet == Set(Poll.Pending))
        out.commitTransaction()
        real.write("holes", 2, 2, 4)
        until(6)
        assert(rows.filterNot(Set("v1", "v3")) == Vector("hole-0", "hole-1", "v0", "v2"))
      }
    }
    ReaderPool.release("real-holes")
  }

  test("a batch whose options start after their end is an error before any request") {
    val none = Seq("subscribe" -> "does-not-exist", "fetchOffset.retryIntervalMs" -> "10")
    def failure(options: (String, String)*): String = {
      val context = EnumeratorContext(new MemorySideLog, ReadMode.Batch, java.time.Clock.systemUTC(), 2, "bounds")
      Using.resource(new Coordinator(real.source(none ++ options: _*), context, 2, batchesToRetain = 100)) { c =>
        intercept[Exception](c.everything()).getMessage
      }
    }
    val start  = "startingOffsets" -> """{"does-not-exist":{"0":7,"1":-2}}"""
    val behind = failure(start, "endingOffsets" -> """{"does-not-exist":{"0":5,"1":3}}""")
    assert(behind.contains("SPLICE_KAFKA_OPTION.START_AFTER_END") && behind.contains("does-not-exist-0 begins at 7"))
    val differ = failure(start, "endingOffsets" -> """{"does-not-exist":{"0":9}}""")
    assert(differ.contains("SPLICE_KAFKA_OPTION.PARTITIONS_DIFFER") && differ.contains("does-not-exist-1"))
    val times = failure("startingTimestamp" -> "2000", "endingTimestamp" -> "1000")
    assert(times.contains("START_AFTER_END") && times.contains("1970-01-01T00:00:02Z"))
    val each = failure(
      "startingOffsetsByTimestamp" -> """{"does-not-exist":{"0":2000}}""",
      "endingOffsetsByTimestamp"   -> """{"does-not-exist":{"0":1000}}"""
    )
    assert(each.contains("START_AFTER_END") && each.contains("does-not-exist-0 begins at 1970-01-01T00:00:02Z"))
    assert(failure("startingOffsets" -> "latest").contains("SPLICE_KAFKA_OPTION.OPTION_NOT_ALLOWED"))
    assert(failure("startingOffsets" -> "earliest").contains("SPLICE_KAFKA_OPTION.TOPIC_NOT_FOUND"))
  }
}
