// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.enumerator

import java.nio.file.{Files, Path, Paths}
import java.time.{Clock, Duration, Instant}
import java.util.concurrent.atomic.AtomicInteger

import scala.util.Using

import org.apache.hadoop.fs.{Path => HadoopPath}
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.files.storage.CountingFileSystem
import splice.files.{LocalSpark, SourceRead}
import splice.source._
import splice.source.errors.{SpliceException, SpliceOptionException}
import splice.source.log.Coverage
import splice.source.runtime.{ProgressMetric, SideLog}
import splice.testkit.internal.Patient
import splice.testkit.simulation.SimulatedClock

/** Tests of a watched folder with real listings on their thread. */
final class WatchedFolderSuite extends AnyFunSuite with LocalSpark with Patient {

  private def write(path: String): Path = {
    val file = Paths.get(at(path))
    Files.createDirectories(file.getParent)
    Files.writeString(file, "1")
  }

  private def start(log: SideLog, name: String, options: (String, String)*): SplitEnumerator[FilesPosition] =
    startAt(Clock.systemUTC(), log, name, options: _*)

  private def startAt(
      clock: Clock,
      log: SideLog,
      name: String,
      options: (String, String)*
  ): SplitEnumerator[FilesPosition] = {
    val all = Seq("format" -> "text", "path" -> at(name), "schema" -> "value STRING", "discovery" -> "watch")
    SourceRead.source(all ++ options: _*).enumerator(EnumeratorContext(log, ReadMode.Stream, clock, 2, "test"))
  }

  private def counting(name: String): Seq[(String, String)] =
    Seq("path" -> s"counting://${at(name)}", "fs.counting.impl" -> classOf[CountingFileSystem].getName)

  private def advance(run: SplitEnumerator[FilesPosition], at: FilesPosition): FilesPosition =
    run.advance(at, run.limits(at))

  /** Side log that counts the entries that it reads. */
  final private class CountingLog extends SideLog {
    private val inner = new MemorySideLog
    val reads         = new AtomicInteger

    override def get(key: String): Option[Seq[String]] = {
      val found = inner.get(key)
      if (found.nonEmpty) reads.incrementAndGet()
      found
    }
    override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] = inner.getOrCreate(key)(decide)
    override def keys(prefix: String): Seq[String]                             = inner.keys(prefix)
    override def remove(key: String): Unit                                     = inner.remove(key)
    override def scope(name: String): SideLog                                  = inner.scope(name)
    override def folder(name: String): HadoopPath                              = inner.folder(name)
  }

  test("a file that arrives is found by the thread, and is stored before it is in a position") {
    write("arrives/a")
    val log = new MemorySideLog
    Using.resource(start(log, "arrives", "discoveryInterval" -> "10ms")) { run =>
      val first = advance(run, run.start(StartPosition.Configured))
      assert(first == FilesPosition(1) && advance(run, first) == first)
      write("arrives/b")
      eventually(assert(advance(run, first) == FilesPosition(2)))
      assert(log.keys("files-") == Seq("files-00000000", "files-00000001"))
      assert(run.figures(FilesPosition(2))(ProgressMetric.FilesRead) == "2")
      assert(run.figures(FilesPosition(2))(ProgressMetric.FilesListed) == "2")
    }
  }

  test("a trigger without news reads no entry and sends no request to a file system") {
    (1 to 20).foreach(i => write(s"idle/k=${i % 4}/f$i"))
    val log = new CountingLog
    Using.resource(start(log, "idle", counting("idle") :+ ("discoveryInterval" -> "1h"): _*)) { run =>
      val end = advance(run, run.start(StartPosition.Configured))
      assert(advance(run, end) == end && run.figures(end).contains(ProgressMetric.DiscoveryAge))
      val reads         = log.reads.get
      val (_, requests) = CountingFileSystem.during(at("idle")) {
        (1 to 50).foreach { _ =>
          assert(advance(run, end) == end)
          run.figures(end)
        }
      }
      assert(requests.isEmpty && log.reads.get == reads)
    }
  }

  test("a listing without a response for discoveryTimeout fails the query, and a response begins the time again") {
    // A second folder could respond after the check that sees the hanging request.
    write("hangs/k=1/a")
    val clock = new SimulatedClock(Instant.now())
    val all   = counting("hangs") ++ Seq("discoveryInterval" -> "10ms", "discoveryTimeout" -> "10m")
    Using.resource(startAt(clock, new MemorySideLog, "hangs", all: _*)) { run =>
      val end = advance(run, run.start(StartPosition.Configured))

      def passes(minutes: Long): Unit = {
        assert(advance(run, end) == end)
        clock.advance(Duration.ofMinutes(minutes))
      }
      CountingFileSystem.hanging(at("hangs")) { arrived =>
        passes(0)
        assert(awaited(arrived))
        passes(9)
        CountingFileSystem.hanging(at("hangs/k=1")) { next =>
          CountingFileSystem.release(at("hangs"))
          assert(awaited(next))
          passes(9)
          passes(2)
          val error = intercept[SpliceException](advance(run, end))
          assert(error.getCondition == "SPLICE_FILES.LISTINGS_FAILED" && error.getMessage.contains("does not respond"))
        }
      }
    }
  }

  test("a first listing without files is rejected, and one with young files waits") {
    Files.createDirectories(Paths.get(at("young")))
    def options(age: String) = Seq("onEmpty" -> "fail", "minFileAge" -> age, "discoveryInterval" -> "10ms")
    val log                  = new MemorySideLog
    Using.resource(start(log, "young", options("1h"): _*)) { run =>
      val error = intercept[SpliceException](run.start(StartPosition.Configured))
      assert(error.getCondition == "SPLICE_FILES.NO_FILES")
    }
    write("young/a")
    Using.resource(start(log, "young", options("1h"): _*)) { run =>
      val begin = run.start(StartPosition.Configured)
      assert(advance(run, begin) == begin)
    }
    Using.resource(start(log, "young", options("0s"): _*)) { run =>
      eventually(assert(advance(run, FilesPosition.Start) == FilesPosition(1)))
    }
  }

  test("the last listing of a folder is checked before the folder ends") {
    write("checked/a")
    val log     = new MemorySideLog
    val options = Seq("endWhen" -> "file:_DONE")
    Using.resource(start(log, "checked", options: _*)) { run =>
      run.freeze()
      assert(advance(run, run.start(StartPosition.Configured)) == FilesPosition(1))
    }
    Files.writeString(Paths.get(at("checked/a")), "longer")
    write("checked/_DONE")
    Using.resource(start(log, "checked", options: _*)) { run =>
      val error = intercept[SpliceException] {
        run.freeze()
        advance(run, FilesPosition(1))
      }
      assert(error.getCondition == "SPLICE_FILES_DATA.LISTED_FILE_CHANGED")
    }
    Using.resource(start(log, "checked", options :+ ("onFileChanged" -> "warn"): _*)) { run =>
      run.freeze()
      assert(run.evidence(advance(run, FilesPosition(1))).nonEmpty)
    }
  }

  test("a hand-over cannot count the files of merged segments") {
    val log   = new MemorySideLog
    val Files = 20
    (0 until Files).foreach { i =>
      write(s"merged/f$i")
      Using.resource(start(log, "merged")) { run =>
        run.freeze()
        run.retain(advance(run, if (i == 0) run.start(StartPosition.Configured) else FilesPosition(i)))
      }
    }
    Using.resource(start(log, "merged", "endWhen" -> "caughtUp")) { run =>
      val error = intercept[SpliceException](run.remaining(FilesPosition(Files), new Coverage))
      assert(error.getCondition == "SPLICE_FILES.FILES_MERGED")
    }
  }

  test("a restart with another value of discovery is rejected") {
    write("changed/a")
    Seq("watch" -> "list", "list" -> "watch").foreach { case (before, now) =>
      val log                    = new MemorySideLog
      def run(discovery: String) = start(log, "changed", "discovery" -> discovery)
      val begin                  = Using.resource(run(before))(_.start(StartPosition.Configured))
      val error                  = intercept[SpliceOptionException](Using.resource(run(now))(advance(_, begin)))
      assert(error.getCondition == "SPLICE_FILES_OPTION.DISCOVERY_CHANGED")
      assert(error.getMessage.contains(s"'discovery' is '$now', and was '$before'"))
    }
  }

  test("a run with a fixed end has the files of one listing, in one batch or in several") {
    (1 to 30).foreach(i => write(s"fixed/f$i"))
    val log = new MemorySideLog
    Using.resource(start(log, "fixed", "maxFilesPerTrigger" -> "20")) { run =>
      run.freeze()
      val begin = run.start(StartPosition.Configured)
      write("fixed/later")
      val first = advance(run, begin)
      assert(first == FilesPosition(20) && run.advance(begin, Limits.Everything) == FilesPosition(30))
      val end = advance(run, first)
      assert(end == FilesPosition(30) && advance(run, end) == end && run.evidence(end).isEmpty)
    }
    Using.resource(start(log, "fixed")) { run =>
      run.freeze()
      assert(advance(run, FilesPosition(30)) == FilesPosition(31))
    }
  }
}
