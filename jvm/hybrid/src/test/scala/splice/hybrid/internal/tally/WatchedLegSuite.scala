// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.tally

import java.nio.file.Files

import scala.annotation.tailrec
import scala.collection.mutable
import scala.util.Using

import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.hybrid.{Legs, LocalSpark}
import splice.source._
import splice.testkit.internal.memory.MemoryLog

/** Tests of a watched folder before a log. */
final class WatchedLegSuite extends AnyFunSuite with LocalSpark {

  private val Offsets = 25

  private val columns = StructType.fromDDL("id BIGINT")

  /** A log, and a folder that gets one record of the log per file. */
  final private class World {
    val log: MemoryLog   = Legs.log(1)
    private val folder   = Files.createTempDirectory("splice-watched-leg")
    private val durable  = new MemorySideLog
    val rows             = mutable.ArrayBuffer.empty[Long]
    private var position = Option.empty[Position]

    (0 until Offsets).foreach(i => log.append(0, i.toLong))

    def archive(offset: Int): Unit = {
      val row = s"""{"id":$offset,"topic":"${log.name}","partition":0,"offset":$offset}"""
      val _   = Files.writeString(folder.resolve(f"$offset%03d"), row)
    }

    def done(): Unit = { val _ = Files.createFile(folder.resolve("_DONE")) }

    private val source = Legs.source(
      "history" -> Seq(
        "source"    -> "files",
        "format"    -> "json",
        "path"      -> folder.toString,
        "schema"    -> "id BIGINT, topic STRING, partition INT, offset BIGINT",
        "discovery" -> "watch",
        "endWhen"   -> "file:_DONE",
        "select"    -> "id"
      ),
      Legs.live(log, "handOver" -> "offsets", "select" -> "id")
    )

    /** A run that lists the folder once. Its tasks report no counts. */
    def run(): Unit = Using.resource(SplitEnumerator.untyped(source, Legs.context(durable))) { run =>
      run.freeze()
      @tailrec def go(from: Position): Position = {
        val until = run.advance(from, Limits.Everything)
        run.splits(from, until).foreach { range =>
          val task = TaskRanges(None, IndexedSeq(range))
          Using.resource(run.readers(columns, Seq(range)).rows(task))(SplitReader.items(_).foreach(rows +=
            _.getLong(0)))
        }
        if (until == from) until else go(until)
      }
      val end = go(position.getOrElse(run.start(StartPosition.Configured)))
      position = Some(end)
      run.retain(end)
    }
  }

  test("a hand-over counts the files of merged segments") {
    val world = new World
    // Sixteen segments are merged in a leg that no leg follows.
    (0 until 23).filterNot(_ % 5 == 3).foreach { offset =>
      world.archive(offset)
      world.run()
    }
    world.done()
    world.run()
    assert(world.rows.sorted == (0L until Offsets.toLong))
  }

  test("a run whose only listing finds the end also reads the log") {
    val world = new World
    (0 until 4).foreach(world.archive)
    world.run()
    assert(world.rows.size == 4)
    world.done()
    world.run()
    assert(world.rows.sorted == (0L until Offsets.toLong))
  }
}
