// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.read

import java.net.URI
import java.nio.file.Files
import java.time.Duration
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.locks.LockSupport

import scala.collection.mutable
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path, RawLocalFileSystem}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.util.SerializableConfiguration
import org.scalatest.funsuite.AnyFunSuite

import splice.source.runtime.Report
import splice.source.{Poll, SplitRange, SplitReader}
import splice.spark.WithSpark

/** The end of a task in real-time mode: at its time limit, or when its batch is stale. */
final class RealTimeReaderSuite extends AnyFunSuite with WithSpark {

  import RealTimeReaderSuite._

  private lazy val shipped = {
    val configuration = new Configuration
    configuration.set("fs.counted.impl", classOf[CountedFiles].getName)
    spark.sparkContext.broadcast(new SerializableConfiguration(configuration))
  }

  private def check(interval: Duration, entry: String = "missing"): Option[StaleCheck] =
    Some(StaleCheck(s"counted:${folder.resolve(entry)}", shipped, interval))

  private def reading[A](log: Log, check: Option[StaleCheck], reports: TaskReports = new TaskReports)(
      body: RealTimeReader => A
  ): A = Using.resource(new RealTimeReader(log, reports, check))(body)

  private def next(task: RealTimeReader, millis: Long = 0): Boolean =
    task.nextWithTimeout(Long.box(millis)).hasRecord

  private def elapsed(body: => Unit): Duration = {
    val start = System.nanoTime()
    body
    Duration.ofNanos(System.nanoTime() - start)
  }

  test("a reader that has found a change ends its task, although more rows follow") {
    val log     = new Log(from = 5, rows = 10, staleAfter = 2)
    val reports = new TaskReports
    reading(log, check(Duration.ZERO), reports) { task =>
      assert(Seq.fill(4)(next(task)) == Seq(true, true, false, false))
      assert(log.waits.size == 2, "the task that has ended does not read")
      assert(task.getOffset == SlotOffset(Seq(Rest(7))))
    }
    assert(reports.takeReports() == Seq(Report(Name, Boolean.box(false))), "the ranges were not read to their ends")
  }

  test("a reader that has found a change ends no task if changes end no batch") {
    val log = new Log(from = 0, rows = 3, staleAfter = 0)
    reading(log, None) { task =>
      assert(Seq.fill(3)(next(task)) == Seq(true, true, true))
      assert(elapsed(assert(!next(task, 30))).toMillis >= 30)
    }
  }

  test("a task checks for the entry at most once per interval, and ends when the entry exists") {
    val interval = Duration.ofMillis(50)
    val before   = checks.get
    val start    = System.nanoTime()
    def passed   = System.nanoTime() - start
    reading(new Log(from = 0, rows = Long.MaxValue), check(interval, "written")) { task =>
      while (checks.get < before + 3) assert(next(task) && passed < Patience.toNanos)
      // The task reads a clock with whole milliseconds.
      assert(checks.get - before <= (passed + 1000000) / interval.toNanos)
      Files.createFile(folder.resolve("written"))
      while (next(task)) assert(passed < Patience.toNanos)
      val last = checks.get
      assert(!next(task) && checks.get == last, "a task that has ended needs no further check")
    }
  }

  test("a task checks for no entry before the first interval has passed") {
    val before = checks.get
    reading(new Log(from = 0, rows = 1000), check(Duration.ofHours(1))) { task =>
      assert(Seq.fill(1000)(next(task)).forall(identity) && checks.get == before)
    }
  }

  test("a task without a row waits until the time limit, with the method of each version of Spark") {
    val log = new Log(from = 0, rows = 0)
    reading(log, check(Duration.ofHours(1))) { task =>
      assert(elapsed(assert(!task.nextWithTimeout(Long.box(30)).hasRecord)).toMillis >= 30)
      assert(elapsed(assert(!task.nextWithTimeout(Long.box(0), Long.box(30)).hasRecord)).toMillis >= 30)
    }
    assert(log.waits.forall(_.toMillis <= 30), log.waits)
  }

  test("an available row needs no time, and without time a missing row is not awaited") {
    val log = new Log(from = 0, rows = 1)
    reading(log, None) { task =>
      assert(next(task) && task.get().getLong(0) == 0 && !next(task))
    }
    assert(log.waits.forall(_.isZero), log.waits)
  }

  test("a change ends the wait for a row before the time limit") {
    val log = new Log(from = 0, rows = 0, staleAfter = 3)
    reading(log, check(Duration.ofMillis(5))) { task =>
      assert(!next(task, Patience.toMillis))
    }
    assert(log.waits.size >= 3 && log.waits.size < 1000 && log.waits.forall(_.toMillis <= 5), log.waits)
  }

  test("the offset before the first row is the start of the ranges, and later the offset after the last row") {
    val log = new Log(from = 5, rows = 2)
    reading(log, None) { task =>
      assert(task.getOffset == SlotOffset(Seq(Rest(5))) && log.waits.isEmpty)
      assert(next(task) && task.get().getLong(0) == 5)
      assert(task.getOffset == SlotOffset(Seq(Rest(6))))
      assert(next(task) && !next(task))
      assert(task.getOffset == SlotOffset(Seq(Rest(7))))
    }
  }
}

private object RealTimeReaderSuite {

  private val Name = "t-0"

  private val Patience = Duration.ofSeconds(60)

  /** Number of checks whether a file exists. */
  private val checks = new AtomicInteger

  /** The local file system as `counted:///`. */
  final private class CountedFiles extends RawLocalFileSystem {
    override def getUri: URI                 = URI.create("counted:///")
    override def getScheme: String           = "counted"
    override def exists(path: Path): Boolean = {
      val _ = checks.incrementAndGet()
      super.exists(path)
    }
  }

  /** Unread rows, from an offset. */
  final private case class Rest(from: Long) extends SplitRange {
    override def splitId: String = Name
  }

  /** Reader without an end. A row is its offset.
    *
    * @param staleAfter
    *   number of polls after which the reader has found a change
    */
  final private class Log(from: Long, rows: Long, staleAfter: Int = Int.MaxValue) extends SplitReader[InternalRow] {
    private var at = from

    /** The times that the polls of the reader were permitted to wait. */
    val waits: mutable.ArrayBuffer[Duration] = mutable.ArrayBuffer.empty

    override def poll(patience: Duration): Poll = {
      waits += patience
      if (at - from < rows) {
        at += 1
        Poll.Found
      } else {
        LockSupport.parkNanos(patience.toNanos)
        Poll.Pending
      }
    }

    override def get(): InternalRow                  = InternalRow(at - 1)
    override def isStale: Boolean                    = waits.size >= staleAfter
    override def unread: Seq[SplitRange]             = Seq(Rest(at))
    override def report(ended: Boolean): Seq[Report] = Seq(Report(Name, Boolean.box(ended)))
    override def close(): Unit                       = ()
  }
}
