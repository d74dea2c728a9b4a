// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files

import java.io.ByteArrayOutputStream
import java.nio.file.{Files, Paths}
import java.util.zip.GZIPOutputStream

import scala.collection.immutable.SortedMap
import scala.util.Using

import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.files.internal.errors.FileErrors
import splice.files.storage.CountingFileSystem
import splice.source.errors.SpliceException
import splice.source.runtime.ProgressMetric
import splice.source.{EnumeratorContext, Limits, ReadMode}
import splice.testkit.internal.simulation.StoppingSideLog

/** Tests that a checkpoint has one list for its lifetime. */
final class RestartSuite extends AnyFunSuite with LocalSpark {

  private def counting(name: String): String = s"counting://${at(name)}"

  private def source(name: String, options: (String, String)*): FileSource =
    SourceRead.source(Seq("format" -> "parquet", "path" -> counting(name)) ++ options: _*)

  test("a source and its identity use no storage") {
    val (_, requested) = CountingFileSystem.during(at("nowhere")) {
      assert(source("nowhere").identity == SortedMap("format" -> "parquet", "path" -> counting("nowhere")))
    }
    assert(requested.isEmpty)
  }

  test("a restart neither lists nor writes, and new files are not read") {
    spark.range(0, 100, 1, 4).write.parquet(at("list"))
    val log              = new MemorySideLog
    val (before, listed) =
      CountingFileSystem.during(at("list"))(new SourceRead(source("list", "maxFilesPerTrigger" -> "3"), log).positions)
    spark.range(500, 600).write.mode("append").parquet(at("list"))
    val unchanged                  = new StoppingSideLog(log, _ => true)
    val again                      = new SourceRead(source("list", "maxFilesPerTrigger" -> "3"), unchanged)
    val ((after, plan), requested) = CountingFileSystem.during(at("list")) {
      val positions = again.positions
      (positions, again.enumerator.splits(positions(0), positions(2)))
    }
    assert(listed.count(_._1 == "list") > 0)
    assert(requested.isEmpty)
    assert(before.map(_.json) == after.map(_.json) && before.size == 3)
    assert(plan.forall(_.preferredHosts == Seq("host-a")))
    assert(again.rows(ranges = plan).size == 100)
  }

  test("a start after a crash between list and end keeps the list") {
    spark.range(0, 100, 1, 4).write.parquet(at("between"))
    val log   = new MemorySideLog
    val error = intercept[IllegalStateException] {
      new SourceRead(source("between"), new StoppingSideLog(log, _ == "files-end")).positions
    }
    assert(error.getMessage == "the driver stops before files-end")
    assert(log.keys("") == Seq("files-00000000"))
    spark.range(500, 600).write.mode("append").parquet(at("between"))
    val again                  = new SourceRead(source("between"), log)
    val (positions, requested) = CountingFileSystem.during(at("between"))(again.positions)
    assert(requested.isEmpty && log.keys("") == Seq("files-00000000", "files-end"))
    assert(positions.map(_.json) == Seq("""{"files":0,"v":1}""", """{"files":4,"v":1}"""))
    assert(again.rows().size == 100)
  }

  test("a list without its end, and an end without its list, are corrupt") {
    spark.range(0, 10, 1, 2).write.parquet(at("damage"))
    Seq("files-end", "files-00000000").foreach { missing =>
      val log   = new MemorySideLog
      val start = new SourceRead(source("damage"), log).positions.head
      log.remove(missing)
      val error =
        intercept[SpliceException](new SourceRead(source("damage"), log).enumerator.advance(start, Limits.Everything))
      assert(error.getCondition == "SPLICE_CHECKPOINT.ENTRY_NOT_FOUND" && error.getMessage.contains(missing))
    }
    val log   = new MemorySideLog
    val start = new SourceRead(source("damage"), log).positions.head
    log.remove("files-end")
    log.getOrCreate("files-end")(Seq("""{"files":9,"v":1}"""))
    val error =
      intercept[SpliceException](new SourceRead(source("damage"), log).enumerator.advance(start, Limits.Everything))
    assert(error.getCondition == "SPLICE_CHECKPOINT.CORRUPT")
  }

  test("a batch is analysed and planned with one listing") {
    spark.range(0, 100, 1, 4).write.parquet(at("once"))
    val (_, requested) = CountingFileSystem.during(at("once")) {
      val own = source("once")
      own.schema
      new SourceRead(own, mode = ReadMode.Batch).allRanges
    }
    assert(requested.count { case (what, path) => what == "list" && path == at("once") } == 1)
  }

  test("AvailableNow reads the files that existed at the start of the run, even for a leg that begins later") {
    spark.range(0, 100, 1, 4).write.parquet(at("frozen"))
    val log   = new MemorySideLog
    val first = new SourceRead(source("frozen"), log)
    first.enumerator.freeze()
    spark.range(100, 200, 1, 4).write.mode("append").parquet(at("frozen"))
    assert(log.keys("") == Nil, "a run that does not reach the leg stores no decision")
    assert(first.rows().size == 100)
    val (_, requested) = CountingFileSystem.during(at("frozen")) {
      val again = new SourceRead(source("frozen"), log)
      again.enumerator.freeze()
      assert(again.positions.last == first.positions.last)
    }
    assert(!requested.exists(_._1 == "list"), "a persisted list is not created again")
  }

  test("after all files are read, the folder may be deleted") {
    spark.range(0, 100, 1, 4).write.parquet(at("gone"))
    val log   = new MemorySideLog
    val until = new SourceRead(source("gone"), log).positions.last
    log.remove("files-00000000")
    Files.move(Paths.get(at("gone")), Paths.get(at("archived")))
    val (_, requested) = CountingFileSystem.during(at("gone")) {
      val own   = source("gone")
      val again = own.enumerator(EnumeratorContext(log, ReadMode.Stream, java.time.Clock.systemUTC(), 7, "again"))
      val from  = own.position(until.json)
      own.identity
      assert(again.advance(from, Limits.Everything) == from)
      assert(again.splits(from, from).isEmpty)
      assert(again.evidence(from).map(_.position).contains(from))
      assert(again.figures(from)(ProgressMetric.BytesBehind) == "0")
      again.readers(StructType.fromDDL("id BIGINT"), Nil)
      val error = intercept[SpliceException](own.schema)
      assert(error.getCondition == FileErrors.PathNotFound)
    }
    // Only the request for the schema checks the existence of the path.
    assert(requested.forall(_._1 == "status"))
  }

  test("an offset of another list is rejected") {
    spark.range(0, 100, 1, 4).write.parquet(at("other"))
    val read  = new SourceRead(source("other"))
    val start = read.positions.head
    Seq("""{"files":7,"v":1}""", """{"files":2,"partly":{"1:3":0},"v":1}""").map(read.source.position).foreach {
      other =>
        Seq[() => Any](
          () => read.enumerator.splits(start, other),
          () => read.enumerator.splits(other, read.source.position("""{"files":4,"v":1}""")),
          () => read.enumerator.advance(other, Limits.Everything),
          () => read.enumerator.figures(other)
        ).foreach { call =>
          assert(intercept[SpliceException](call()).getCondition == "SPLICE_CHECKPOINT.OTHER_SOURCE")
        }
    }
  }

  test("a side log without the list is corrupt") {
    val own   = source("whatever")
    val error = intercept[SpliceException](new SourceRead(own).enumerator.advance(
      own.position("""{"files":0,"v":1}"""),
      Limits.Everything
    ))
    assert(error.getCondition == "SPLICE_CHECKPOINT.ENTRY_NOT_FOUND")
  }

  test("a missing file is an error with its name, and is skipped only with ignoreMissingFiles") {
    spark.range(0, 10, 1, 2).write.parquet(at("vanished"))
    def reading(options: (String, String)*) =
      SourceRead(Seq("format" -> "parquet", "path" -> at("vanished")) ++ options: _*)
    val strict  = reading()
    val lenient = reading("ignoreMissingFiles" -> "true")
    val ranges  = Seq(strict, lenient).map(r => r -> r.allRanges).toMap
    val file    = Files.list(Paths.get(at("vanished"))).filter(_.toString.endsWith(".parquet")).findFirst.get
    Files.delete(file)
    val error = intercept[SpliceException](strict.rows(ranges = ranges(strict)))
    assert(error.getMessage.contains("FILE_NOT_FOUND") && error.getMessage.contains(file.getFileName.toString))
    assert(lenient.rows(ranges = ranges(lenient)).size == 5)
  }

  test("an unreadable file fails the task with its name, and is skipped only with ignoreCorruptFiles") {
    spark.range(0, 10, 1, 2).write.parquet(at("corrupt"))
    val file = Files.list(Paths.get(at("corrupt"))).filter(_.toString.endsWith(".parquet")).findFirst.get
    Files.write(file, Array.fill[Byte](200)(7))
    def reading(options: (String, String)*) =
      SourceRead(Seq("format" -> "parquet", "path" -> at("corrupt"), "schema" -> "id BIGINT") ++ options: _*).rows()
    val error = intercept[SpliceException](reading())
    assert(error.getCondition == "SPLICE_FILES_DATA.FILE_NOT_READABLE")
    Seq(file.getFileName.toString, "'ignoreCorruptFiles'").foreach(words => assert(error.getMessage.contains(words)))
    assert(reading("ignoreCorruptFiles" -> "true").size == 5)
  }

  test("the error of a truncated file and of an invalid line has the name of the file and the reason") {
    val packed = new ByteArrayOutputStream
    Using.resource(new GZIPOutputStream(packed))(_.write("""{"id":1}""".getBytes))
    def fails(format: String, file: String, content: Array[Byte], options: (String, String)*): String = {
      Files.write(Files.createDirectories(Paths.get(at(s"invalid-$format"))).resolve(file), content)
      val all   = Seq("format" -> format, "path" -> at(s"invalid-$format"), "schema" -> "id INT") ++ options
      val error = intercept[SpliceException](SourceRead(all: _*).rows())
      assert(error.getCondition == "SPLICE_FILES_DATA.FILE_NOT_READABLE" && error.getMessage.contains(file))
      error.getMessage
    }
    val truncated = fails("json", "a.json.gz", packed.toByteArray.dropRight(9))
    assert(truncated.contains("Unexpected end of input stream") && truncated.contains("'ignoreCorruptFiles'"))
    val invalid = fails("csv", "b.csv", "x\n".getBytes, "mode" -> "FAILFAST", "ignoreCorruptFiles" -> "true")
    assert(invalid.contains("MALFORMED_RECORD_IN_PARSING") && invalid.contains("'ignoreMissingFiles'"))
  }
}
