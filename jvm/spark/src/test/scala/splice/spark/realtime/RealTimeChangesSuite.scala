// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.realtime

import java.util.concurrent.CountDownLatch

import scala.util.Using

import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{ForeachWriter, Row}
import org.scalatest.funsuite.AnyFunSuite

/** Changes of a topic while a batch in real-time mode reads the topic. */
final class RealTimeChangesSuite extends AnyFunSuite with LiveQueries {

  import RealTimeChangesSuite._

  test("a new partition ends the running batch, and each row is read once") {
    create("ended", 1)
    write("ended", 0, numbers(0, 0 until 10))
    val query = start("ended", long)
    try {
      whole("ended", numbers(0, 0 until 10))
      grow("ended", 2)
      write("ended", 1, numbers(1, 0 until 10))
      whole("ended", numbers(0, 0 until 10) ++ numbers(1, 0 until 10))
      assert(query.recentProgress.map(_.batchId).toSeq == Seq(0))
      assert(staleEntries("ended").isEmpty)
    } finally query.stop()
  }

  test("a new topic of a pattern ends the running batch, and each row is read once") {
    create("pattern-old", 1)
    write("pattern-old", 0, numbers(0, 0 until 10))
    val query = start("pattern", long, "subscribePattern" -> "^pattern-")
    try {
      whole("pattern-old", numbers(0, 0 until 10))
      assert(query.recentProgress.isEmpty)
      create("pattern-new", 1)
      write("pattern-new", 0, numbers(1, 0 until 10))
      whole("pattern-new", numbers(1, 0 until 10))
      assert(values("pattern-old") == numbers(0, 0 until 10))
      assert(query.recentProgress.map(_.batchId).toSeq == Seq(0))
      assert(staleEntries("pattern").isEmpty)
    } finally query.stop()
  }

  test("a query that stops before its tasks have detected a change leaves no entry for the tasks") {
    create("held", 1)
    write("held", 0, numbers(0, 0 until 1))
    val query = startInto(new Holding, "held", long)
    try {
      whole("held", numbers(0, 0 until 1))
      grow("held", 2)
      // The task cannot end, because the sink holds its row.
      eventually(assert(staleEntries("held").nonEmpty))
      query.stop()
      assert(staleEntries("held").isEmpty)
    } finally {
      released.countDown()
      query.stop()
    }
  }

  test("a new partition waits for the next batch if changes do not end batches") {
    create("unchanged", 1)
    write("unchanged", 0, numbers(0, 0 until 10))
    val query = start("unchanged", Trigger.RealTime("3 seconds"), "endBatchOnChange" -> "false")
    try {
      whole("unchanged", numbers(0, 0 until 10))
      grow("unchanged", 2)
      write("unchanged", 1, numbers(1, 0 until 10))
      whole("unchanged", numbers(0, 0 until 10) ++ numbers(1, 0 until 10))
      val first = query.recentProgress.head
      assert(first.durationMs.get("triggerExecution") >= 3000)
    } finally query.stop()
  }

  test("a topic that is recreated during its batch is read from its first record, if the policy permits it") {
    create("restarted", 1)
    write("restarted", 0, numbers(0, 0 until 10))
    val query = start("restarted", long, "onTopicRecreated" -> "restart", "failOnDataLoss" -> "false")
    try {
      whole("restarted", numbers(0, 0 until 10))
      recreate("restarted")
      // The new topic has more records than the old topic. A reader that stayed at its offset would lose the first
      // records.
      write("restarted", 0, numbers(1, 0 until 30))
      whole("restarted", numbers(0, 0 until 10) ++ numbers(1, 0 until 30))
    } finally query.stop()
  }

  test("a topic that is recreated during its batch fails the query by default") {
    create("replaced", 1)
    write("replaced", 0, numbers(0, 0 until 10))
    val query = start("replaced", long)
    try {
      whole("replaced", numbers(0, 0 until 10))
      recreate("replaced")
      write("replaced", 0, numbers(1, 0 until 30))
      assert(failure(query).contains("SPLICE_KAFKA_DATA.TOPIC_RECREATED"))
      // No row of the new topic was treated as a row of the old topic.
      assert(values("replaced") == numbers(0, 0 until 10))
    } finally query.stop()
  }

  test("rows of an open transaction wait, including across the end of a batch, and no row is lost") {
    create("transactions", 1)
    Using.resource(producer("transactional.id" -> "open")) { out =>
      def send(values: Seq[String]) =
        values.foreach(v => out.send(new ProducerRecord[String, String]("transactions", Int.box(0), "k", v)).get())
      out.initTransactions()
      val query =
        start("transactions", Trigger.RealTime("500 milliseconds"), "kafka.isolation.level" -> "read_committed")
      try {
        out.beginTransaction()
        send(numbers(0, 0 until 10))
        eventually(assert(query.recentProgress.length >= 3))
        assert(values("transactions").isEmpty)
        out.commitTransaction()
        out.beginTransaction()
        send(numbers(1, 0 until 10))
        out.abortTransaction()
        out.beginTransaction()
        send(numbers(0, 10 until 20))
        out.commitTransaction()
        whole("transactions", numbers(0, 0 until 20))
        stopAfterBatch(query)
        assert(values("transactions") == numbers(0, 0 until 20).sorted)
      } finally query.stop()
    }
  }

  private def staleEntries(topic: String): Seq[String] =
    checkpoint(topic).resolve("sources/0/splice").toFile.list().toSeq.filter(_.startsWith("stale-"))
}

private object RealTimeChangesSuite {

  private val released = new CountDownLatch(1)

  /** Keeps rows of text in this JVM, and holds the task of a row until the test releases the task. */
  final private class Holding extends ForeachWriter[Row] {
    override def open(partition: Long, epoch: Long): Boolean = true
    override def process(row: Row): Unit                     = {
      val _ = LiveQueries.seen.add(row.getString(0) -> row.getString(1))
      released.await()
    }
    override def close(error: Throwable): Unit = ()
  }
}
