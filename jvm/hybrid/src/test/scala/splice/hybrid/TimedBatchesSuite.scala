// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import java.nio.file.Files

import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.coordinator.internal.{Coordinator, RealTimeBatches}
import splice.source.{Poll, Position, Source, SplitRange}

/** Tests of real-time batches of a chain. */
final class TimedBatchesSuite extends AnyFunSuite with LocalSpark {

  private val log = new MemorySideLog

  private def source(): Source[_ <: Position] = {
    val path = Files.createTempDirectory("timed-batches").resolve("history").toString
    spark.range(0, 10, 1, 1).selectExpr("id", "'orders' AS topic", "0 AS partition", "id AS offset").write.parquet(path)
    val history = Seq("source" -> "files", "format" -> "parquet", "path" -> path, "select" -> "id")
    Legs.source("history" -> history, Legs.live(Legs.log(), "handOver" -> "offsets", "select" -> "id"))
  }

  /** Reads some rows of a batch in one task. Returns the rows and the unread ranges. */
  private def read(c: Coordinator, mode: RealTimeBatches, from: Position, rows: Int): (Seq[Long], Seq[SplitRange]) = {
    mode.begin(from)
    val tasks = mode.tasks(from)
    assert(tasks.size == 1)
    Using.resource(c.readers(source().schema, tasks).rows(tasks.head)) { reader =>
      val found = (1 to rows).map { _ =>
        assert(reader.poll(Poll.Forever) == Poll.Found)
        reader.get().getLong(0)
      }
      c.reported(reader.report(ended = false))
      (found, reader.unread)
    }
  }

  private def counted: Seq[String] = {
    val leg = log.scope("leg-history")
    leg.keys("tally-").flatMap(leg.get).map(_.head)
  }

  test("a stop stores the counts of ended batches, and not the counts of the current batch") {
    Using.resource(Legs.run(source(), log)) { c =>
      val mode         = c.realTime(() => 2).getOrElse(fail("the chain does not support real-time batches"))
      val start        = c.initial()
      val (rows, left) = read(c, mode, start, 4)
      val one          = mode.end(left)
      assert(rows == (0L until 4L) && one.json == """{"legs":{"history":{"files":1,"partly":{"0:0":4},"v":1}},"v":1}""")
      assert(read(c, mode, one, 3)._1 == (4L until 7L))
      c.stopped(Some(one.json))
      assert(counted.size == 1 && counted.head.contains(s""""rows":[[0,0,${Long.MaxValue},0,4]]"""), counted)
    }
  }

  test("the start reports the first leg that has not ended and does not support real-time batches") {
    Using.resource(Legs.run(source(), new MemorySideLog)) { c =>
      assert(c.realTime(() => 2).flatMap(_.unsupportedLeg).map(leg => leg.name -> leg.source).contains(Some("live") ->
        "memory"))
    }
  }
}
