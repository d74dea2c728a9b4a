// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.broker

import java.lang.management.ManagementFactory
import java.time.Clock
import java.util.concurrent.{ExecutorService, Executors}
import javax.management.ObjectName

import scala.concurrent.duration.DurationInt
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.jdk.CollectionConverters._
import scala.util.Using
import scala.util.Using.Releasable

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.Coordinator
import splice.coordinator.internal.sidelog.MemorySideLog
import splice.coordinator.internal.slots.{CutRules, SlotRules}
import splice.kafka.internal.pool.ReaderPool
import splice.source.{EnumeratorContext, ReadMode}
import splice.testkit.internal.broker.SharedKafka

/** Tests of split ranges that several readers read concurrently, with a real broker. */
final class RealSlotsSuite extends AnyFunSuite {

  private lazy val real = new RealLog(SharedKafka.east)

  implicit private val pools: Releasable[ExecutorService] = pool => { val _ = pool.shutdownNow() }

  /** Reads batches of a source with one thread per task. Returns the rows of each task as (partition, offset). */
  private def batches(
      rules: SlotRules,
      topic: String,
      limit: Long,
      threads: ExecutionContext = ExecutionContext.global
  ): Seq[Seq[Seq[(Int, Long)]]] = {
    val source =
      real.source("subscribe" -> topic, "startingOffsets" -> "earliest", "maxOffsetsPerTrigger" -> limit.toString)
    val context = EnumeratorContext(new MemorySideLog, ReadMode.Stream, Clock.systemUTC(), 2, "run")
    Using.resource(new Coordinator(source, context, rules, batchesToRetain = 100)) { c =>
      Iterator
        .unfold(c.initial()) { at =>
          val until = c.advance(at, everything = false)
          if (until == at) None
          else {
            implicit val on: ExecutionContext = threads
            val read                          = c.tasks(at, until).map { task =>
              Future(real.rows(source, Seq(task), topic).map { case (p, offset, _) => p -> offset })
            }
            Some(Await.result(Future.sequence(read), 60.seconds) -> until)
          }
        }
        .toVector
    }
  }

  private def check(all: Seq[Seq[Seq[(Int, Long)]]], written: Map[Int, Int]): Unit = {
    val rows = all.flatten.flatten
    assert(rows.size == written.values.sum, "no duplicate offset")
    assert(rows.toSet == written.toSet[(Int, Int)].flatMap { case (p, n) => (0 until n).map(p -> _.toLong) })
    all.flatten.foreach(task => task.groupBy(_._1).values.foreach(own => assert(own == own.sorted, "order in a task")))
  }

  test("splitLargePartitions: both slots read a skewed partition in all batches, each offset once") {
    real.create("skewed", 4)
    real.write("skewed", 1, 0, 36000)
    real.write("skewed", 4, 0, 4000)
    val all = batches(SlotRules(2).copy(cut = CutRules(shareRows = Some(1000))), "skewed", 15000)
    check(all, Map(0 -> 37000, 1 -> 1000, 2 -> 1000, 3 -> 1000))
    assert(all.size >= 2)
    all.filter(_.flatten.size > 10000).foreach { tasks =>
      assert(tasks.count(_.exists(_._1 == 0)) == 2 && tasks.map(_.size).max - tasks.map(_.size).min <= 4)
    }
  }

  test("minPartitions and maxRecordsPerPartition set the number of tasks and the size of a task") {
    real.create("cut", 3)
    real.write("cut", 3, 0, 3000)
    val many = batches(SlotRules(8).copy(cut = CutRules(minTasks = Some(8))), "cut", 1500)
    check(many, Map(0 -> 1000, 1 -> 1000, 2 -> 1000))
    assert(many.forall(_.size == 8))
    val small = batches(SlotRules(2).copy(cut = CutRules(maxRows = Some(120))), "cut", 1500)
    check(small, Map(0 -> 1000, 1 -> 1000, 2 -> 1000))
    assert(small.flatten.forall(_.size <= 120))
  }

  /** JMX names of the open consumers in this JVM. */
  private def consumers(): Set[ObjectName] = ManagementFactory.getPlatformMBeanServer
    .queryNames(new ObjectName("kafka.consumer:type=app-info,id=*"), None.orNull).asScala.toSet

  test("minPartitions opens one consumer per concurrent task, independent of pieces and batches") {
    real.create("pieces", 3)
    real.write("pieces", 3, 0, 3000)
    val cores  = 2
    val before = consumers()
    Using.resource(Executors.newFixedThreadPool(cores)) { pool =>
      val rules = SlotRules(4).copy(cut = CutRules(minTasks = Some(30)))
      val all   = batches(rules, "pieces", 900, ExecutionContext.fromExecutor(pool))
      check(all, Map(0 -> 1000, 1 -> 1000, 2 -> 1000))
      assert(all.map(_.size) == Seq(30, 30, 30, 30))
    }
    // A stream closes no consumer, so all opened consumers are still open.
    assert((consumers() -- before).size == cores && ReaderPool.ofExecutor.count(_.run == "pieces") == cores)
    ReaderPool.release("pieces")
  }

  test("a bounded read closes its consumers, and a stream keeps its consumers for the next batch") {
    real.create("bounded", 2)
    real.write("bounded", 2, 0, 10)
    val source = real.source("subscribe" -> "bounded", "startingOffsets" -> "earliest")
    real.run(source) { c =>
      val tasks                             = c.tasks(c.initial(), c.advance(c.initial(), everything = true))
      def kept(run: String, mode: ReadMode) = {
        assert(real.rows(source, tasks, run, mode).size == 10)
        ReaderPool.ofExecutor.count(_.run == run)
      }
      assert(kept("once", ReadMode.Batch) == 0)
      assert(kept("again", ReadMode.Stream) == tasks.size)
    }
    ReaderPool.release("again")
  }
}
