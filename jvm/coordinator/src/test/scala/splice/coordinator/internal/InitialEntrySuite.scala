// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files

import scala.collection.immutable.SortedMap

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.{HadoopSourceFolder, MemorySideLog, SourceFolder}
import splice.source.errors.SpliceException
import splice.source.log.SharedStart
import splice.source.{Limits, Position, SharesCheckpoint}

final class InitialEntrySuite extends AnyFunSuite {

  private val alone  = new CounterSource(() => SortedMap.empty, Limits.NotSet)
  private val shared = new CounterSource(() => SortedMap.empty, Limits.NotSet) with SharesCheckpoint {
    override def sharedStart: SharedStart = new SharedStart {
      override def file: String                                       = "0"
      override def read(name: String, content: Array[Byte]): Position = alone.position(new String(content, UTF_8))
      override def write(start: Position): Array[Byte]                = start.json.getBytes(UTF_8)
    }
  }

  private def at(n: Long): CounterPosition = CounterPosition(SortedMap(0 -> n))

  final private class World {
    val place                       = Files.createTempDirectory("splice-sources")
    val folder: HadoopSourceFolder  = new HadoopSourceFolder(new Path(place.toUri), new Configuration)
    val log                         = new MemorySideLog
    def theirs: Option[String]      = folder.read("0").map(new String(_, UTF_8))
    def start(decided: => Position) = new InitialEntry(log, shared, Some(folder)).resolve(decided)
    def theyBegin(n: Long): Unit    = folder.create("0", at(n).json.getBytes(UTF_8))
    def never: Position             = fail("the start was decided again")
  }

  test("a start is written to the file of the shared checkpoint, and decided once") {
    val world = new World
    assert(world.start(at(5)) == at(5))
    assert(world.theirs.contains(at(5).json))
    assert(world.start(world.never) == at(5))
  }

  test("the start that a previous source has stored is used") {
    val world = new World
    world.theyBegin(7)
    assert(world.start(world.never) == at(7))
    assert(world.log.get("initial").contains(Seq("""{"v":1}""", at(7).json)))
  }

  test("a crash between the two files leaves one start") {
    val world = new World
    world.theyBegin(7)
    world.log.getOrCreate("initial")(Seq("""{"v":1}""", at(3).json))
    assert(world.start(world.never) == at(7))
    val older = new World
    older.log.getOrCreate("initial")(Seq("""{"v":1}""", at(3).json))
    assert(older.start(older.never) == at(3) && older.theirs.contains(at(3).json))
  }

  test("the start that another source stores during the decision is used") {
    val world = new World
    val at7   = world.start {
      world.theyBegin(7)
      at(5)
    }
    assert(at7 == at(7) && world.theirs.contains(at(7).json))
    assert(world.log.get("initial").contains(Seq("""{"v":1}""", at(7).json)))
  }

  test("a start that cannot be shared is not stored, so the next start decides again") {
    val world = new World
    val full  = new SourceFolder {
      override def name(file: String): String                       = file
      override def read(file: String): Option[Array[Byte]]          = None
      override def create(file: String, content: Array[Byte]): Unit = throw new IOException("no space left")
    }
    assertThrows[IOException](new InitialEntry(world.log, shared, Some(full)).resolve(at(5)))
    assert(world.log.keys("").isEmpty && world.start(at(6)) == at(6))
  }

  test("a stored start is read at its first use, and another entry is not a start") {
    val log = new MemorySideLog
    log.getOrCreate("initial-other")(Seq("x"))
    assert(InitialEntry.stored(log).isEmpty)
    val _ = new InitialEntry(log, alone, None).resolve(at(5))
    assert(InitialEntry.stored(log).map(_.position).contains(at(5).json))
    val damaged = new MemorySideLog
    damaged.getOrCreate("initial")(Seq("x"))
    val start = InitialEntry.stored(damaged).getOrElse(fail("there is a start"))
    assert(intercept[SpliceException](start.position).getCondition == "SPLICE_CHECKPOINT.CORRUPT")
  }

  test("a source without a shared start, or without a checkpoint, shares nothing") {
    val world = new World
    assert(new InitialEntry(world.log, alone, Some(world.folder)).resolve(at(5)) == at(5))
    assert(new InitialEntry(new MemorySideLog, shared, None).resolve(at(6)) == at(6))
    assert(world.theirs.isEmpty)
  }

  test("offsets without a start are rejected, except offsets of another source that the source continues") {
    val logged = new OffsetLog {
      override def latest(): Option[String] = Some(at(9).json)
      override def oldest(): Option[String] = None
    }
    val taking = new CounterSource(() => SortedMap.empty, Limits.NotSet) {
      override private[splice] def takesOver(offset: Position): Boolean = offset == at(9)
    }
    val world = new World
    Seq(
      new InitialEntry(world.log, alone, None, logged),
      new InitialEntry(world.log, shared, Some(world.folder), logged)
    )
      .foreach { entry =>
        val error = intercept[SpliceException](entry.resolve(world.never))
        assert(error.getCondition == "SPLICE_CHECKPOINT.ENTRY_NOT_FOUND")
      }
    assert(world.log.keys("").isEmpty && world.theirs.isEmpty)
    world.theyBegin(7)
    assert(new InitialEntry(world.log, shared, Some(world.folder), logged).resolve(world.never) == at(7))
    assert(new InitialEntry(new MemorySideLog, taking, None, logged).resolve(at(5)) == at(5))
  }
}
