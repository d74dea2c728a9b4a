// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files

import java.io.IOException
import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Path, Paths}
import java.time.Instant

import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.files.storage.{CountingFileSystem, RoundingFileSystem}
import splice.source.errors.SpliceException
import splice.source.{SplitRange, SplitReader, TaskRanges}
import splice.testkit.LoggedMessages

/** Tests of files that differ from the list when a task opens the files. */
final class ChangedFileSuite extends AnyFunSuite with LocalSpark {

  test("a file that changed after the listing is an error, or a warning with onFileChanged warn") {
    spark.range(0, 10, 1, 1).write.parquet(at("changed"))
    def reading(options: (String, String)*) =
      SourceRead(Seq("format" -> "parquet", "path" -> at("changed")) ++ options: _*)
    val strict  = reading()
    val lenient = reading("onFileChanged" -> "warn")
    val ranges  = Seq(strict, lenient).map(r => r -> r.allRanges).toMap
    val file    = Files.list(Paths.get(at("changed"))).filter(_.toString.endsWith(".parquet")).findFirst.get
    Files.setLastModifiedTime(file, FileTime.from(Instant.parse("2020-01-02T03:04:05Z")))
    val error = intercept[SpliceException](strict.rows(ranges = ranges(strict)))
    Seq(
      "FILE_CHANGED",
      file.getFileName.toString,
      "modification time",
      "2020-01-02T03:04:05Z",
      "onFileChanged"
    ).foreach { words =>
      assert(error.getMessage.contains(words))
    }
    val (rows, warnings) = LoggedMessages.during("splice.files")(lenient.rows(ranges = ranges(lenient)))
    assert(rows.size == 10 && warnings.size == 1)
    Seq(file.getFileName.toString, "modification time", "2020-01-02T03:04:05Z").foreach { words =>
      assert(warnings.head.contains(words))
    }
    Files.write(file, Array[Byte](1, 2, 3))
    assert(intercept[SpliceException](strict.rows(ranges =
      ranges(strict)
    )).getMessage.contains("3 bytes"))
  }

  test("a task logs one warning per changed file, independent of its blocks") {
    write("parts/a.txt", lines, "2026-01-01T00:00:00Z")
    val read = SourceRead(
      "format"            -> "text",
      "path"              -> at("parts"),
      "maxPartitionBytes" -> "100",
      "onFileChanged"     -> "warn"
    )
    val all = read.allRanges
    write("parts/a.txt", lines, "2026-01-02T00:00:00Z")
    val (rows, warned) = LoggedMessages.during("splice.files")(inOneTask(read, all))
    assert(rows == 100 && all.size > 5 && warned.size == 1)
  }

  test("a failed status request skips one block, and the next block of the file is checked") {
    val file = write("request/a.txt", lines, "2026-01-01T00:00:00Z")
    val read = SourceRead(
      "format"             -> "text",
      "path"               -> s"counting://${at("request")}",
      "maxPartitionBytes"  -> "100",
      "ignoreCorruptFiles" -> "true"
    )
    val all = read.allRanges
    write("request/a.txt", lines, "2026-01-02T00:00:00Z")
    CountingFileSystem.failNextStatus(file.toString, new IOException("no response"))
    assert(intercept[SpliceException](inOneTask(read, all)).getCondition == "SPLICE_FILES_DATA.FILE_CHANGED")
  }

  test("a rewritten file of the same length is an error") {
    val file = write("again/a.txt", "a\nb\n", "2026-01-01T00:00:00.123Z")
    val read = SourceRead("format" -> "text", "path" -> at("again"))
    val all  = read.allRanges
    write("again/a.txt", "c\nd\n", "2026-01-01T00:00:00.124Z")
    val error = intercept[SpliceException](read.rows(ranges = all))
    assert(error.getCondition == "SPLICE_FILES_DATA.FILE_CHANGED")
    Seq(file.getFileName.toString, "2026-01-01T00:00:00.123Z", "2026-01-01T00:00:00.124Z").foreach { words =>
      assert(error.getMessage.contains(words))
    }
  }

  test("a store with milliseconds in listings and seconds in status results in no change of a file") {
    write("rounded/a.txt", "a\nb\n", "2026-01-01T00:00:01.123Z")
    val read = rounding("rounded")
    val all  = read.allRanges
    assert(read.rows(ranges = all).size == 2)
    write("rounded/a.txt", "c\nd\n", "2026-01-01T00:00:02.123Z")
    val error = intercept[SpliceException](read.rows(ranges = all))
    assert(error.getCondition == "SPLICE_FILES_DATA.FILE_CHANGED")
    assert(error.getMessage.contains("2026-01-01T00:00:01.123Z") && error.getMessage.contains("2026-01-01T00:00:02Z"))
  }

  private val lines = (0 until 100).map(i => s"line $i\n").mkString

  /** Number of rows that one task reads. */
  private def inOneTask(read: SourceRead, ranges: Seq[SplitRange]): Int = {
    val readers = read.enumerator.readers(read.source.schema, ranges)
    Using.resource(readers.rows(TaskRanges(None, ranges.toIndexedSeq)))(SplitReader.items(_).size)
  }

  private def rounding(name: String): SourceRead = SourceRead(
    "format"           -> "text",
    "path"             -> s"rounding://${at(name)}",
    "fs.rounding.impl" -> classOf[RoundingFileSystem].getName
  )

  private def write(name: String, text: String, modified: String): Path = {
    val file = Paths.get(at(name))
    Files.createDirectories(file.getParent)
    Files.setLastModifiedTime(Files.writeString(file, text), FileTime.from(Instant.parse(modified)))
  }
}
