// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.deletion

import scala.collection.mutable
import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.ClientMetrics
import splice.kafka.broker.RealLog
import splice.source.errors.SpliceException
import splice.source.{Position, Source, SplitReader, TaskRanges}
import splice.testkit.internal.broker.SharedKafka

/** Tests of topics that are recreated between the plan and the read of a batch, with a real broker. */
final class RealRecreationSuite extends AnyFunSuite {

  private lazy val real = new RealLog(SharedKafka.east)

  // Small fetches ensure that a reader does not have its whole range when it returns the first row. A fetch that
  // waits at the broker between two batches would return records that are written to the old topic during the wait.
  private def source(topic: String, more: (String, String)*): Source[_ <: Position] = real.source(
    Seq(
      "subscribe"                       -> topic,
      "startingOffsets"                 -> "earliest",
      "discoveryInterval"               -> "1h",
      "kafka.fetch.max.wait.ms"         -> "0",
      "kafka.max.poll.records"          -> "10",
      "kafka.max.partition.fetch.bytes" -> "1000"
    ) ++ more: _*
  )

  /** Recreates the topic. Values identify the topic: values of the second topic begin at 10000. */
  private def recreate(topic: String, records: Int): Unit = {
    real.delete(topic)
    real.create(topic, 1)
    real.write(topic, 1, 10000, 10000 + records)
  }

  /** Returns the values of the rows of a task and its error, if any. `halfway` is called after the tenth row. */
  private def read(own: Source[_ <: Position], tasks: Seq[TaskRanges], run: String)(halfway: => Unit)
      : (Seq[Int], Option[SpliceException]) = {
    val seen        = mutable.ArrayBuffer.empty[Int]
    val readers     = real.readers(own, own.schema, tasks, run)
    def all(): Unit = tasks.foreach { task =>
      Using.resource(readers.rows(task)) { reader =>
        SplitReader.items(reader).foreach { row =>
          seen += new String(row.getBinary(1)).drop(1).toInt
          if (seen.size == 10) halfway
        }
      }
    }
    val error =
      try { all(); None }
      catch { case e: SpliceException => Some(e) }
    (seen.toSeq, error)
  }

  private def isRecreated(error: Option[SpliceException]): Boolean =
    error.exists(_.getCondition == "SPLICE_KAFKA_DATA.TOPIC_RECREATED")

  test("a reader compares topic ids without another client, and creates a client only if ids differ") {
    real.create("alone", 1)
    real.write("alone", 1, 0, 50)
    val own = source("alone", ClientMetrics.options("alone"): _*)
    val of  = real.run(own)(c => { val begin = c.initial(); c.tasks(begin, c.advance(begin, everything = true)) })
    def read(run: String): (Int, Int, Option[SpliceException]) = {
      val before        = ClientMetrics.created("alone")
      val (rows, error) = this.read(own, of, run)(())
      (rows.size, ClientMetrics.created("alone") - before, error)
    }
    assert(of.head.ranges.size == 1 && read("alone-1") == ((50, 1, None)))
    recreate("alone", 50)
    val (rows, clients, error) = read("alone-2")
    assert(rows == 0 && clients == 2 && isRecreated(error))
  }

  test("a new reader fails and returns no record of the new topic") {
    real.create("fresh", 1)
    real.write("fresh", 1, 0, 50)
    val own = source("fresh")
    real.run(own) { c =>
      val begin = c.initial()
      val tasks = c.tasks(begin, c.advance(begin, everything = true))
      recreate("fresh", 200)
      val (rows, error) = read(own, tasks, "fresh")(())
      assert(rows.isEmpty && isRecreated(error), error)
    }
  }

  test("a reader that is open since the previous batch fails and returns no record of the new topic") {
    real.create("opened", 1)
    real.write("opened", 1, 0, 50)
    val own = source("opened")
    real.run(own) { c =>
      val begin = c.initial()
      val one   = c.advance(begin, everything = true)
      assert(read(own, c.tasks(begin, one), "opened")(()) == ((0 until 50) -> None))
      real.write("opened", 1, 50, 100)
      val two = c.advance(one, everything = true)
      recreate("opened", 200)
      val (rows, error) = read(own, c.tasks(one, two), "opened")(())
      assert(rows.isEmpty && isRecreated(error), error)
    }
  }

  test(
    "if a topic is replaced during a read, no record of the new topic is returned, independent of fetched records"
  ) {
    real.create("halfway", 1)
    real.write("halfway", 1, 0, 2000)
    val own = source("halfway")
    real.run(own) { c =>
      val begin         = c.initial()
      val tasks         = c.tasks(begin, c.advance(begin, everything = true))
      val (rows, error) = read(own, tasks, "halfway")(recreate("halfway", 3000))
      assert(rows == rows.indices && rows.size < 2000 && isRecreated(error), error)
    }
  }

  test(
    "with restart, the remaining records of the old topic are skipped, and the next batch reads the new topic from its beginning"
  ) {
    real.create("renewed", 1)
    real.write("renewed", 1, 0, 2000)
    val own = source("renewed", "onTopicRecreated" -> "restart")
    real.run(own) { c =>
      val begin         = c.initial()
      val until         = c.advance(begin, everything = true)
      val (rows, error) = read(own, c.tasks(begin, until), "renewed")(recreate("renewed", 3000))
      assert(error.isEmpty && rows == rows.indices && rows.size < 2000)
      var next = until
      real.eventually("the new topic is found") {
        next = c.advance(until, everything = true)
        next != until
      }
      assert(next.json == """{"renewed":{"00":3000}}""")
      assert(read(own, c.tasks(until, next), "renewed")(()) == ((10000 until 13000) -> None))
    }
  }
}
