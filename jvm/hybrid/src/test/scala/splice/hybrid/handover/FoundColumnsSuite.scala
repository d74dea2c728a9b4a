// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.handover

import java.nio.file.{Files, Path}

import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.Coordinator
import splice.coordinator.internal.sidelog.MemorySideLog
import splice.hybrid.internal.split.{HybridPosition, LegRange}
import splice.hybrid.{Legs, LocalSpark}
import splice.source.errors.SpliceException
import splice.source.{Position, Source}
import splice.testkit.internal.memory.{MemoryLog, MemoryRange}

/** Tests of an exact hand-over over the columns of a known writer. Tasks do not run, so a job counts all rows. */
final class FoundColumnsSuite extends AnyFunSuite with LocalSpark {

  /** Archives of one log with ten records. Each file has the first records, with the columns of a writer. */
  private trait World {
    val live: MemoryLog     = Legs.log(1)
    val side: MemorySideLog = new MemorySideLog
    (0L until 10L).foreach(live.append(0, _))

    def archive(records: Range, writers: String*): Path = {
      val folder = Files.createTempDirectory("splice-found")
      val rows   = records.map { n =>
        val columns = writers.map(w => s""""${w}topic":"${live.name}","${w}partition":0,"${w}offset":$n""")
        (s""""id":$n""" +: columns).mkString("{", ",", "}")
      }
      Files.writeString(folder.resolve("a.json"), rows.mkString("\n"))
      folder
    }

    def remove(folder: Path): Unit = {
      Files.delete(folder.resolve("a.json"))
      Files.delete(folder)
    }

    private def files(folder: Path) =
      Seq("source" -> "files", "format" -> "json", "path" -> folder.toString, "select" -> "id")

    def chain(archives: Seq[Path], rule: (String, String)*): Source[_ <: Position] = {
      val legs = archives.zip(Seq("old", "recent")).map { case (folder, name) => name -> files(folder) }
      Legs.source(legs :+ Legs.live(live, Seq("handOver" -> "offsets", "select" -> "id") ++ rule: _*): _*)
    }

    def run[A](source: Source[_ <: Position])(body: Coordinator => A): A = Using.resource(Legs.run(source, side))(body)

    /** Range of the log that the batch from a position has. */
    def ofLog(c: Coordinator, from: Position): Seq[(Long, Long)] =
      c.ranges(from, c.advance(from, everything = false)).collect { case LegRange("live", r: MemoryRange) =>
        r.from -> r.until
      }

    def condition(body: => Any): String = intercept[SpliceException](body).getCondition
  }

  test("the columns of a known writer are counted, and a restart needs no data that was read to its end") {
    new World {
      val folder: Path = archive(3 until 6, "kafka_")
      live.forget(0, 3)
      val ended: String = run(chain(Seq(folder))) { c =>
        val at = c.advance(c.initial(), everything = false)
        assert(condition(c.advance(at, everything = false)) == "SPLICE_HAND_OVER_DATA.GAP")
        at.json
      }
      remove(folder)
      run(chain(Seq(folder), "onGap" -> "warn"))(c => assert(ofLog(c, c.position(ended)) == Seq(6L -> 10L)))
    }
  }

  test("columns of several writers are an error, also after a count by one of them that the user has named") {
    new World {
      val folder: Path = archive(0 until 6, "", "kafka_")
      live.forget(0, 7)
      val named         = Seq("topic", "partition", "offset").map(name => s"handOver.$name" -> s"kafka_$name")
      val ended: String = run(chain(Seq(folder), named: _*)) { c =>
        val at = c.advance(c.initial(), everything = false)
        assert(condition(c.advance(at, everything = false)) == "SPLICE_HAND_OVER_DATA.GAP")
        at.json
      }
      run(chain(Seq(folder))) { c =>
        assert(condition(c.advance(c.position(ended), everything = false)) == "SPLICE_HAND_OVER.COLUMNS_NOT_UNIQUE")
      }
      remove(folder)
    }
  }

  test("a restart does not need the data of an archive that has not begun") {
    new World {
      val folders: Seq[Path] = Seq(archive(0 until 2, "_kafka_metadata_"), archive(2 until 4, "kafka_"))
      val first: String      = run(chain(folders))(_.initial().json)
      val away: Path         = folders.last.resolveSibling(s"${folders.last.getFileName}-away")
      Files.move(folders.last, away)
      val ended: String = run(chain(folders))(c => c.advance(c.position(first), everything = false).json)
      Files.move(away, folders.last)
      run(chain(folders)) { c =>
        val recent = c.advance(c.position(ended), everything = false)
        assert(recent.asInstanceOf[HybridPosition].leg == "recent")
        assert(ofLog(c, recent) == Seq(4L -> 10L))
      }
      folders.foreach(remove)
    }
  }
}
