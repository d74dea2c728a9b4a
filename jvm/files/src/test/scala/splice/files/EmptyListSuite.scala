// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files

import java.nio.file.{Files, Paths}

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.source.ReadMode
import splice.source.errors.SpliceException
import splice.testkit.LoggedMessages

/** Tests of lists without files: an error or a warning, depending on `onEmpty`. */
final class EmptyListSuite extends AnyFunSuite with LocalSpark {

  private def source(path: String, options: (String, String)*): FileSource =
    SourceRead.source(Seq("format" -> "text", "path" -> path, "schema" -> "value STRING") ++ options: _*)

  private def write(file: String): Unit = {
    Files.createDirectories(Paths.get(file).getParent)
    val _ = Files.writeString(Paths.get(file), "a\nb\n")
  }

  test("a single source without files has no rows by default") {
    Files.createDirectories(Paths.get(at("none")))
    assert(new SourceRead(source(at("none"))).rows().isEmpty)
  }

  test("with warn, an empty list is persisted and logs one warning with the path") {
    Files.createDirectories(Paths.get(at("quiet")))
    val log      = new MemorySideLog
    def warnings = LoggedMessages.during("splice.files") {
      assert(new SourceRead(source(at("quiet"), "onEmpty" -> "warn"), log).positions.size == 1)
    }._2.filter(_.contains("No file matches"))
    val first = warnings
    assert(first.size == 1 && first.head.contains(at("quiet")))
    Seq("never reads files that arrive later", "'onEmpty' to 'fail'", "new checkpoint").foreach(words =>
      assert(first.head.contains(words), first)
    )
    write(at("quiet/a.txt"))
    assert(warnings.isEmpty && log.keys("files-") == Seq("files-00000000", "files-end"))
  }

  test("a batch read stores no list, so its warning contains no restart") {
    Files.createDirectories(Paths.get(at("batch")))
    val found = LoggedMessages.during("splice.files") {
      assert(new SourceRead(source(at("batch")), mode = ReadMode.Batch).rows().isEmpty)
    }._2.filter(_.contains("No file matches"))
    assert(
      found.size == 1 && found.head.contains("The source has no rows.") && !found.head.contains("checkpoint"),
      found
    )
  }

  test("paths without files, next to a path with files, are one warning with their number and an example") {
    Seq("full/a.txt", "hidden/_x.txt", "bare/c.log").foreach(file => write(at(file)))
    Files.createDirectories(Paths.get(at("unmounted")))
    def warnings(paths: String*) = {
      val all  = "paths" -> paths.map(path => s"\"${at(path)}\"").mkString("[", ",", "]")
      val read = SourceRead("format" -> "text", "schema" -> "value STRING", "pathGlobFilter" -> "*.txt", all)
      LoggedMessages.during("splice.files")(assert(read.rows().size == 2))._2.filter(_.contains("No file matches"))
    }
    val found = warnings("unmounted", "full", "hidden/_x.txt", "bar*")
    assert(found.size == 1, found)
    Seq("3 of 4 paths", at("unmounted"), "'pathGlobFilter'").foreach(words => assert(found.head.contains(words)))
    assert(warnings("full", "full/*", "full/a.txt").isEmpty)
  }

  test("with fail, an empty list is not persisted and is an error with paths and options") {
    Files.createDirectories(Paths.get(at("later")))
    val log   = new MemorySideLog
    val empty = source(at("later"), "onEmpty" -> "fail")
    val error = intercept[SpliceException](new SourceRead(empty, log).positions)
    assert(error.getCondition == "SPLICE_FILES.NO_FILES")
    Seq(at("later"), "'onEmpty'", "'recursiveFileLookup'").foreach(words => assert(error.getMessage.contains(words)))
    assert(log.keys("files-").isEmpty)
    write(at("later/a.txt"))
    assert(new SourceRead(source(at("later"), "onEmpty" -> "fail"), log).rows().size == 2)
  }

  test("rejected files and files at another depth result in an empty list") {
    write(at("deep/2026/11/a.txt"))
    Seq(Seq("path" -> at("deep")), Seq("path" -> at("deep/2026/11"), "pathGlobFilter" -> "*.csv")).foreach { options =>
      val own =
        SourceRead.source(Seq("format" -> "text", "schema" -> "value STRING", "onEmpty" -> "fail") ++ options: _*)
      val error = intercept[SpliceException](new SourceRead(own, mode = ReadMode.Batch).positions)
      assert(error.getCondition == "SPLICE_FILES.NO_FILES")
    }
    assert(new SourceRead(source(at("deep"), "onEmpty" -> "fail", "recursiveFileLookup" -> "true")).rows().size == 2)
  }
}
