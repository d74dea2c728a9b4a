// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.pool

import java.time.Duration

import scala.collection.immutable.SortedMap
import scala.collection.mutable
import scala.util.Random

import org.apache.kafka.clients.consumer.{MockConsumer, OffsetResetStrategy}
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.consumer.{ReadBudget, ReadDemand, SlotConsumer}
import splice.kafka.internal.enumerator.SimulatedRun.{range, t}
import splice.kafka.internal.options.ClientProperties
import splice.kafka.internal.reader.SlotClient
import splice.kafka.internal.split.KafkaSplitRange
import splice.kafka.internal.topicids.TopicIds
import splice.testkit.LoggedMessages

/** Tests of consumers that tasks of several queries borrow and return in one JVM. */
final class SlotConsumersSuite extends AnyFunSuite {

  private val mib = 1L << 20

  /** Client with its opening limits and the `readBufferBytes` of its query. */
  final private class Opened(
      val client: SlotClient,
      properties: Map[String, Object],
      val set: Option[Long],
      record: Double,
      leftover: Long
  ) {
    def apply(key: String): Long = properties(key).toString.toLong

    /** Maximum memory: one response per partition, a copy of one response, the records of a poll with their objects,
      * and leftover records.
      */
    def most: Double = {
      assert(this("max.partition.fetch.bytes") <= this("fetch.max.bytes"))
      (client.assignment.size + 1) * this("fetch.max.bytes") + this("max.poll.records") * (record + 400) + leftover
    }
  }

  final private class World(default: Long, tasks: Int) {
    val pool      = new ReaderPool[ReaderKey, SlotConsumer](() => 0L)
    val budget    = new ReadBudget(default, tasks)
    val consumers = new SlotConsumers(pool, budget)
    val opened    = mutable.ArrayBuffer.empty[Opened]

    def open: Seq[Opened] = opened.filterNot(_.client.closed).toSeq

    private def client(options: Seq[(String, String)]) =
      ClientProperties(SortedMap.from(options) + ("bootstrap.servers" -> "mock:9092"), None)

    def settings(set: Option[Long], options: Seq[(String, String)] = Nil): ReaderSettings = ReaderSettings(
      client(options),
      failOnDataLoss = true,
      Duration.ofSeconds(1),
      Duration.ofMinutes(1),
      failOutOfRange = true,
      bufferBytes = set
    )

    /** Task that borrows a consumer for its ranges and returns it. */
    final class Task(run: String, slot: Int, ranges: Seq[KafkaSplitRange], settings: ReaderSettings, record: Double) {
      private val key    = ReaderKey(run, settings.client, Some(slot))
      private val demand = ReadDemand(ranges.size, Some(record), settings.bufferBytes)(settings.client.limited)

      val (consumer, reused) = consumers.borrow(key, ranges, demand, isRetry = false) { lease =>
        val own = new Opened(
          new SlotClient,
          settings.client.reader(run, lease.limits),
          settings.bufferBytes,
          record,
          lease.limits.leftoverBytes
        )
        opened += own
        new SlotConsumer(own.client, TopicIds.unchecked, lease)
      }
      locally { val _ = consumer.begin(ranges) }

      def end(): Unit = {
        ranges.foreach(r => consumer.finish(splice.kafka.internal.split.TopicPartitions.of(r.partition), r.until, None))
        consumers.giveBack(key, consumer, settings)
      }
    }

    def task(run: String, slot: Int, partitions: Iterable[Int], from: Long = 0, set: Option[Long] = None): Task =
      new Task(run, slot, partitions.map(range(_, from, from + 1)).toSeq, settings(set), 100)
  }

  test("a slot reuses its consumer, which continues without a seek") {
    val w     = new World(256 * mib, 2)
    val first = w.task("q", 0, Seq(0, 1))
    val other = w.task("q", 1, Seq(2, 3))
    Seq(first, other).foreach(_.end())
    val again = Seq(w.task("q", 1, Seq(2, 3), from = 1), w.task("q", 0, Seq(0, 1), from = 1))
    assert(again.map(_.consumer) == Seq(other.consumer, first.consumer) && again.forall(_.reused))
    assert(w.opened.size == 2 && w.opened.forall(_.client.seeks.size == 2))
  }

  test("the configured memory of all clients is within the budget, for any queries, slots and partitions") {
    (1 to 60).foreach { seed =>
      val random  = new Random(seed)
      val tasks   = 1 + random.nextInt(4)
      val total   = (256L + random.nextInt(1024)) * mib
      val set     = Seq.fill(3)(Option.when(random.nextBoolean())(total + random.nextInt(2) * 256 * mib))
      val w       = new World(total, tasks)
      val queries = set.indices.map { q =>
        // The number of partitions keeps every fetch limit above its minimum.
        (0 until 1 + random.nextInt(2 * tasks)).map(slot => slot * 100 + q * 1000 -> (1 + random.nextInt(12)))
      }
      val records = Seq.fill(3)(math.exp(random.nextDouble() * 9))
      (1 to 30).foreach { batch =>
        val q = random.nextInt(queries.size)
        queries(q).zipWithIndex.grouped(tasks).foreach { wave =>
          val running = wave.map { case ((first, partitions), slot) =>
            // In some batches a slot has rows of only some of its partitions.
            val read = (first until first + partitions).filter(_ => random.nextInt(4) > 0)
            val own  = if (read.isEmpty) Seq(first) else read
            new w.Task(s"q$q", slot, own.map(range(_, batch, batch + 1)), w.settings(set(q)), records(q))
          }
          val allowed = w.open.flatMap(_.set).minOption.getOrElse(total)
          assert(w.open.map(_.most).sum <= allowed, s"seed $seed, batch $batch")
          running.foreach(_.end())
          assert(w.open.map(_.most).sum <= allowed, s"seed $seed, batch $batch")
        }
      }
      assert(w.open.size == w.budget.size && w.open.size == w.pool.size)
    }
  }

  test("a second query gets its share, and the first one opens consumers with smaller limits") {
    val w             = new World(256 * mib, 2)
    def q(n: Int)     = (0 to 1).map(slot => w.task(s"q$n", slot, 8 * slot until 8 * slot + 8))
    def batch(n: Int) = { val all = q(n); all.foreach(_.end()); all }
    val before        = batch(1).map(_.consumer.lease.limits.fetchBytes).max
    (1 to 4).foreach { _ => batch(2); batch(1) }
    val opened = w.opened.size
    val after  = batch(1) ++ batch(2)
    assert(after.forall(_.reused) && w.opened.size == opened, "no further consumer is opened")
    assert(after.map(_.consumer.lease.limits.fetchBytes).max <= before / 2)
    assert(w.open.size == 4)
  }

  test("the longest idle consumers are closed first") {
    val w = new World(4096 * mib, 2)
    (0 until 64).foreach(slot => w.task("q", slot, Seq(slot)).end())
    assert(w.open.size == 64)
    w.task("q", 0, Seq(0), from = 1).end()
    val other = w.task("other", 0, Seq(0))
    assert(!other.reused && w.opened.size == 65)
    assert(w.opened.filter(_.client.closed) == Seq(w.opened(1)))
  }

  test("further slots reuse idle consumers of their query if no further consumer may be opened") {
    val w = new World(4096 * mib, 2)
    (0 until 200).foreach(slot => w.task("q", slot, Seq(slot)).end())
    assert(w.opened.size == 64)
    val taken = w.task("q", 500, Seq(500))
    assert(taken.reused && w.open.forall(_.client.assignment.size == 1), "the records of the other slot are dropped")
  }

  test("a new query closes idle consumers of an earlier query, and is not limited to one consumer") {
    val w = new World(64 * mib, 2)
    (0 to 1).foreach(slot => w.task("before", slot, 16 * slot until 16 * slot + 16).end())
    (0 to 1).foreach(slot => w.task("next", slot, 16 * slot until 16 * slot + 16).end())
    assert(w.pool.count(_.run == "next") == 2)
  }

  test("pieces of one partition share the consumers of concurrent tasks") {
    val w = new World(256 * mib, 2)
    (0 until 100 by 2).foreach { slot =>
      val running = (0 to 1).map(i => w.task("q", slot + i, Seq(0), from = 10L * (slot + i)))
      running.foreach(_.end())
    }
    assert(w.opened.size == 2)
    w.task("other", 0, Seq(0)).end()
    assert(w.opened.size == 3, "consumers of another query are never shared")
  }

  test("a consumer is reopened if its slot has more partitions than it was opened for") {
    val w = new World(256 * mib, 2)
    w.task("q", 0, 0 until 4).end()
    w.task("q", 0, Seq(5), from = 1).end()
    assert(w.opened.size == 2 && w.opened.head.client.closed)
    val more = w.task("q", 0, 0 until 8, from = 2)
    assert(more.reused, "opened for eight, because five were assigned")
  }

  test("larger properties of the client are lowered with one warning per query") {
    val w       = new World(64 * mib, 2)
    val options =
      Seq("fetch.max.bytes" -> "500000000", "max.partition.fetch.bytes" -> "1000", "max.poll.records" -> "7")
    val (_, messages) = LoggedMessages.during(classOf[SlotConsumers].getName) {
      for (run <- Seq("a", "b"); slot <- 0 to 3)
        new w.Task(run, slot, Seq(range(slot, 0, 1)), w.settings(None, options), 100).end()
    }
    assert(messages.size == 2, messages)
    messages.foreach { text =>
      assert(text.contains("'kafka.fetch.max.bytes' from 500000000 to "), text)
      assert(text.contains("'readBufferBytes'") && text.contains((64 * mib).toString), text)
      assert(!text.contains("max.partition.fetch.bytes") && !text.contains("max.poll.records"), text)
    }
    w.opened.foreach { c =>
      assert(c("fetch.max.bytes") < 16 * mib && c("max.partition.fetch.bytes") == 1000 && c("max.poll.records") == 7)
    }
  }

  test("a budget that is too small for the partitions is exceeded with one warning per query") {
    val w             = new World(16 * mib, 1)
    val (_, messages) = LoggedMessages.during(classOf[SlotConsumers].getName) {
      w.task("q", 0, 0 until 1000).end()
      w.task("q", 1, 1000 until 2000).end()
    }
    assert(messages.size == 1 && messages.head.contains("1024 partitions") &&
      messages.head.contains("'readBufferBytes'"))
    assert(w.open.isEmpty, "idle consumers are closed")
  }

  /** Borrows a consumer of slot 0 for partition 0 of a topic with an id. Returns the consumer, and true if the
    * consumer was open.
    */
  private def borrow(w: World, id: String, isRetry: Boolean = false): (SlotConsumer, Boolean) = {
    val own    = w.settings(None)
    val ranges = Seq(KafkaSplitRange(t(0), 0, 1)(Some(id)))
    val found  = w.consumers.borrow(ReaderKey("q", own.client, Some(0)), ranges, ReadDemand(1, None, None)(), isRetry) {
      new SlotConsumer(new SlotClient, TopicIds.unchecked, _)
    }
    found._1.begin(ranges)
    found
  }

  private def giveBack(w: World, consumer: SlotConsumer): Unit =
    w.consumers.giveBack(ReaderKey("q", w.settings(None).client, Some(0)), consumer, w.settings(None))

  test("a retried task opens a separate consumer") {
    val w          = new World(64 * mib, 2)
    val (first, _) = borrow(w, "a")
    giveBack(w, first)
    val (second, reused) = borrow(w, "a", isRetry = true)
    assert(!reused && (second ne first) && w.budget.size == 2 && w.pool.size == 1)
    assert(borrow(w, "a") == (first -> true))
  }

  test("a consumer that may have records of another topic of that name is closed, and a new consumer is opened") {
    val w          = new World(64 * mib, 2)
    val (first, _) = borrow(w, "a")
    giveBack(w, first)
    val (second, reused) = borrow(w, "b")
    assert(!reused && (second ne first) && w.budget.size == 1 && w.pool.size == 0)
  }

  test("a consumer that fails to close ends its lease") {
    val w      = new World(64 * mib, 2)
    val lease  = w.budget.lease(ReadDemand(1, None, None)())(() => false)
    val client = new MockConsumer[Array[Byte], Array[Byte]](OffsetResetStrategy.NONE) {
      override def close(timeout: Duration): Unit = throw new IllegalStateException("not closed")
    }
    intercept[IllegalStateException](new SlotConsumer(client, TopicIds.unchecked, lease).close())
    assert(w.budget.held == 0 && w.budget.size == 0)
  }

  test("a consumer that cannot be opened keeps no share") {
    val w   = new World(64 * mib, 2)
    val own = w.settings(None)
    intercept[IllegalStateException](
      w.consumers.borrow(
        ReaderKey("q", own.client, Some(0)),
        Seq(range(0, 0, 1)),
        ReadDemand(1, None, None)(),
        isRetry = false
      )(_ => throw new IllegalStateException("no client"))
    )
    assert(w.budget.held == 0)
  }
}
