// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.broker

import java.lang.management.ManagementFactory
import java.util.concurrent.{CountDownLatch, TimeUnit}
import javax.management.ObjectName

import scala.collection.immutable.SortedMap
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.kafka.clients.admin.RecordsToDelete
import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.metrics.JmxReporter
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.KafkaFailures
import splice.source.log.{LogPartitions, LogRange}
import splice.source.options.SourceOptions
import splice.source.{EnumeratorContext, LogPartition, Position, ReadMode, Source, SourceProvider, SplitEnumerator}
import splice.testkit.internal.Patient
import splice.testkit.internal.broker.SharedKafka
import splice.testkit.{FreePort, KafkaTopics}

/** Tests of the source with a real broker. */
final class RealBrokerSuite extends AnyFunSuite with KafkaFailures {

  private lazy val real = new RealLog(SharedKafka.east)

  private val earliest = "startingOffsets" -> "earliest"

  private def values(from: Int, until: Int): Seq[String] = (from until until).map(i => s"v$i").sorted

  /** Reads all rows of a topic in several batches. */
  private def everything(source: Source[_ <: Position], run: String): Seq[(Int, Long, String)] = real.run(source) { c =>
    Iterator
      .unfold(c.initial()) { at =>
        val until = c.advance(at, everything = false)
        if (until == at) None else Some(real.rows(source, c.tasks(at, until), run) -> until)
      }
      .toVector
      .flatten
  }

  test("several batches read all written records with pooled readers") {
    real.create("plain", 3)
    real.write("plain", 3, 0, 3000)
    val read = everything(real.source("subscribe" -> "plain", earliest, "maxOffsetsPerTrigger" -> "700"), "plain")
    assert(read.map(_._3).sorted == values(0, 3000))
    assert(read.groupBy(_._1).forall { case (_, rows) => rows.map(_._2) == rows.indices.map(_.toLong) })
  }

  test("read_committed does not wait for open transactions and skips aborted records") {
    real.create("transactions", 1)
    val source    = real.source("subscribe" -> "transactions", earliest, "kafka.isolation.level" -> "read_committed")
    val unguarded = real.source("subscribe" -> "transactions", earliest)
    def send(out: org.apache.kafka.clients.producer.KafkaProducer[String, String], from: Int, until: Int): Unit = {
      (from until until).foreach(i => out.send(new ProducerRecord("transactions", 0, s"k$i", s"v$i")))
      out.flush()
    }
    Using.resource(real.producer("transactional.id" -> "tx")) { out =>
      out.initTransactions()
      out.beginTransaction()
      send(out, 0, 10)
      out.commitTransaction()
      out.beginTransaction()
      send(out, 10, 20)
      out.abortTransaction()
      assert(everything(source, "committed").map(_._3).sorted == values(0, 10))
      out.beginTransaction()
      send(out, 20, 30)
      assert(everything(source, "open").map(_._3).sorted == values(0, 10))
      assert(everything(unguarded, "uncommitted").map(_._3).sorted == values(0, 30))
      out.commitTransaction()
      real.awaitEnd("transactions", 33)
      assert(everything(source, "closed").map(_._3).sorted == (values(0, 10) ++ values(20, 30)).sorted)
    }
  }

  test("ranges of a compacted log with holes end") {
    real.create(
      "compacted",
      1,
      "cleanup.policy"            -> "compact",
      "segment.ms"                -> "100",
      "min.cleanable.dirty.ratio" -> "0.01",
      "max.compaction.lag.ms"     -> "100",
      "delete.retention.ms"       -> "100"
    )
    def put(value: String): Unit = Using.resource(real.producer()) { out =>
      val _ = out.send(new ProducerRecord("compacted", 0, "same", value)).get()
    }
    (1 to 20).foreach(i => put(s"v$i"))
    val source = real.source("subscribe" -> "compacted", earliest)
    real.eventually("compaction") {
      put("later")
      everything(source, s"compacted-${System.nanoTime()}").size < 15
    }
    val until = real.run(source)(c => c.advance(c.initial(), everything = true))
    real.run(source) { c =>
      val cut  = source.position("""{"compacted":{"0":7}}""")
      val a    = real.rows(source, c.tasks(source.position("""{"compacted":{"0":0}}"""), cut), "cut")
      val b    = real.rows(source, c.tasks(cut, until), "cut")
      val once = (a ++ b).map(_._2)
      assert(once == once.distinct.sorted && a.forall(_._2 < 7) && b.forall(_._2 >= 7) && b.nonEmpty)
    }
  }

  test("records that are deleted before they are read are an error with the range, or are skipped") {
    real.create("deleted", 1)
    real.write("deleted", 1, 0, 100)
    def deleteTo(offset: Long): Unit = real.admin { client =>
      client.deleteRecords(Map(new TopicPartition("deleted", 0) ->
        RecordsToDelete.beforeOffset(offset)).asJava).all().get()
    }
    val failing = real.source("subscribe" -> "deleted", earliest)
    val warning = real.source("subscribe" -> "deleted", earliest, "failOnDataLoss" -> "false")
    val tasks   = real.run(failing) { c =>
      val begin = c.initial()
      c.tasks(begin, c.advance(begin, everything = true))
    }
    deleteTo(40)
    assert(failure("KAFKA_DATA.DATA_LOSS")(real.rows(failing, tasks, "failing")).contains("deleted-0 [0, 40)"))
    assert(real.rows(warning, tasks, "warning").map(_._3).sorted == values(40, 100))
    val context = EnumeratorContext(new MemorySideLog, ReadMode.Stream, java.time.Clock.systemUTC(), 2, "gap")
    Using.resource(SplitEnumerator.untyped(failing, context)) { e =>
      val partition = LogPartition("deleted", 0)
      val ranges    = Some(e).collect { case log: LogPartitions => log.logRanges(SortedMap(partition -> 30L)) }
      assert(ranges.contains(SortedMap(partition -> LogRange(40, 100))))
    }
  }

  test("a restart detects a recreated topic, even if the new topic has more records") {
    real.create("again", 1)
    real.write("again", 1, 0, 10)
    val source = real.source("subscribe" -> "again", earliest)
    val log    = new MemorySideLog
    val until  = real.run(source, log)(c => c.advance(c.initial(), everything = true))
    real.delete("again")
    real.create("again", 1)
    real.write("again", 1, 0, 50)
    assert(failure("KAFKA_DATA.TOPIC_RECREATED")(real.run(
      source,
      log
    )(_.advance(until, everything = true))).contains("Topic again "))
  }

  test("a query starts by time, by group or at the end of the log") {
    real.create("starts", 2)
    real.write("starts", 2, 0, 10)
    def begin(options: (String, String)*) =
      real.run(real.source(("subscribe" -> "starts") +: options: _*))(_.initial().json)
    assert(begin() == """{"starts":{"0":5,"1":5}}""")
    assert(begin("startingTimestamp" -> "1") == """{"starts":{"0":0,"1":0}}""")
    val future = (System.currentTimeMillis() + 3600000L).toString
    assert(begin("startingTimestamp" -> future, "startingOffsetsByTimestampStrategy" -> "latest") == begin())
    val group = Seq("kafka.group.id" -> "nobody", "startingOffsets" -> "committed")
    assert(failure("KAFKA_OPTION.COMMITTED_OFFSET_NOT_FOUND")(begin(group: _*)).contains("starts-0, starts-1"))
    assert(begin(group :+ ("onNoCommittedOffset" -> "earliest"): _*) == """{"starts":{"0":0,"1":0}}""")
  }

  test("new partitions are discovered during a query and read from their first record") {
    real.create("grows", 1)
    val source = real.source("subscribePattern" -> "gro.s", "discoveryInterval" -> "100ms")
    real.run(source) { c =>
      val begin = c.initial()
      real.admin(KafkaTopics.grow(_, "grows", 2))
      real.write("grows", 2, 0, 10)
      real.eventually("the new partition is found")(c.advance(begin, everything = true).json.contains("\"1\":"))
      val until = c.advance(begin, everything = true)
      assert(real.rows(source, c.tasks(begin, until), "grows").map(_._3).sorted == values(0, 10))
    }
  }

  test("a missing topic is an error with its name") {
    val text = failure("KAFKA_OPTION.TOPIC_NOT_FOUND")(real.run(real.source(
      "subscribe"                   -> "nothing",
      "fetchOffset.retryIntervalMs" -> "10"
    ))(_.initial()))
    assert(text.contains("Topic nothing does not exist at 127.0.0.1"))
  }

  test("an idle trigger sends one request") {
    real.create("idle", 3)
    real.write("idle", 3, 0, 30)
    val source = real.source(
      "subscribe" -> "idle",
      earliest,
      "kafka.client.id"        -> "idle-client",
      "kafka.metric.reporters" -> classOf[JmxReporter].getName,
      "discoveryInterval"      -> "1h"
    )
    real.run(source) { c =>
      val until              = c.advance(c.initial(), everything = true)
      def requests(): Double = {
        val name = new ObjectName("kafka.consumer:type=consumer-metrics,client-id=idle-client")
        ManagementFactory.getPlatformMBeanServer.getAttribute(name, "request-total").asInstanceOf[Double]
      }
      assert(c.advance(until, everything = true) == until)
      val before = requests()
      (1 to 10).foreach(_ => assert(c.advance(until, everything = true) == until))
      assert(requests() - before == 10)
    }
  }

  test("unresponsive servers are reported within the timeout") {
    val port    = FreePort()
    val options =
      Map(
        "source"                       -> "kafka",
        "kafka.bootstrap.servers"      -> s"127.0.0.1:$port",
        "subscribe"                    -> "t",
        "kafka.default.api.timeout.ms" -> "1500"
      )
    val text = failure("KAFKA_CONNECTION.BROKERS_UNAVAILABLE")(
      real.run(SourceProvider.create(SourceOptions(options)))(_.initial())
    )
    assert(text.contains(s"127.0.0.1:$port") && text.contains("1500 ms"))
  }

  test("an interrupt ends the driver's wait for servers") {
    val options = Map("source" -> "kafka", "kafka.bootstrap.servers" -> s"127.0.0.1:${FreePort()}", "subscribe" -> "t")
    val started = new CountDownLatch(1)
    @volatile var ended: Option[Throwable] = None
    val thread                             = new Thread(() =>
      try {
        started.countDown()
        val _ = real.run(SourceProvider.create(SourceOptions(options)))(_.initial())
      } catch { case e: Throwable => ended = Some(e) }
    )
    thread.start()
    assert(started.await(Patient.Limit.toSeconds, TimeUnit.SECONDS))
    real.eventually("it waits")(thread.getState == Thread.State.WAITING)
    thread.interrupt()
    thread.join(Patient.Limit.toMillis)
    assert(ended.exists(_.isInstanceOf[InterruptedException]), ended)
  }
}
