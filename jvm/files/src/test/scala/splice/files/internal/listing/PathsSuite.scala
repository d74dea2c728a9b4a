// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.listing

import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Paths}
import java.time.Instant

import org.apache.spark.sql.functions._
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import splice.files.internal.errors.FileErrors
import splice.files.{LocalSpark, SourceRead}
import splice.source.errors.SpliceException
import splice.testkit.LoggedMessages

/** Tests of the resolution of paths, and of columns from folders and files. */
final class PathsSuite extends AnyFunSuite with LocalSpark {

  private def write(name: String, text: String = "a\nb\n"): String = {
    val file = Paths.get(at(name))
    Files.createDirectories(file.getParent)
    Files.writeString(file, text).toString
  }

  private def count(options: (String, String)*): Int = SourceRead(Seq("format" -> "text") ++ options: _*).rows().size

  test("paths and patterns are resolved, and files with the prefix _ or . are skipped") {
    Seq(
      "p/2026-01/a.txt",
      "p/2026-02/b.txt",
      "p/2025-12/c.txt",
      "p/2026-01/_SUCCESS",
      "p/2026-01/.hidden",
      "q/d.txt"
    ).foreach(write(_))
    assert(count("path" -> at("p/2026-*")) == 4)
    assert(count("path" -> at("p/{2026-01,2025-12}/*.txt")) == 4)
    assert(count("paths" -> s"""["${at("p/2026-*")}","${at("q")}"]""") == 6)
    assert(count("path" -> at("q/d.txt")) == 2)
  }

  test("recursiveFileLookup reads folders at any depth, and pathGlobFilter filters names") {
    Seq("r/x/y/a.txt", "r/b.txt", "r/c.log").foreach(write(_))
    assert(count("path" -> at("r"), "recursiveFileLookup" -> "true") == 6)
    assert(count("path" -> at("r"), "recursiveFileLookup" -> "true", "pathGlobFilter" -> "*.txt") == 4)
  }

  test("files that Spark's index does not select are one warning with their number, an example and the option") {
    Seq("mixed/x.txt", "mixed/_x.txt", "mixed/k=1/a.txt", "mixed/k=2/b.txt").foreach(write(_))
    Seq("inner/x.txt", "inner/2026/a.txt", "inner/2026/b.txt").foreach(write(_))
    write("mixed/empty.txt", "")
    def warned(name: String, rows: Int, options: (String, String)*): Seq[String] = {
      val (read, all) = LoggedMessages.during("splice.files")(count(("path" -> at(name)) +: options: _*))
      assert(read == rows)
      all.filter(_.contains("does not read"))
    }
    Seq(("mixed", 4, "1 of 3 files", "mixed/x.txt"), ("inner", 2, "2 of 3 files", "inner/2026/a.txt")).foreach {
      case (name, rows, number, example) =>
        val all = warned(name, rows)
        assert(all.size == 1, all)
        Seq(number, example, "'recursiveFileLookup'").foreach(words => assert(all.head.contains(words)))
    }
    assert(warned("mixed", 4, "pathGlobFilter" -> "[ab].txt").isEmpty)
    assert(warned("inner", 6, "recursiveFileLookup" -> "true").isEmpty)
  }

  test("a folder within another path is read once, and a hidden folder is read only if a path names it") {
    Seq("h/a.txt", "h/_old/b.txt", "h/.older/k=1/c.txt", "h/sub/d.txt").foreach(write(_))
    def both(inner: String) = count("paths" -> s"""["${at("h")}","${at(inner)}"]""", "recursiveFileLookup" -> "true")
    assert(count("path" -> at("h"), "recursiveFileLookup" -> "true") == 4)
    assert(both("h/sub") == 4 && both("h/_old") == 6 && both("h/.older") == 6 && both("h/.older/k=1") == 6)
    assert(count("paths" -> s"""["${at("h")}","${at("h/_old")}"]""") == 4)
  }

  test("a wildcard does not match hidden folders and files, and a pattern may name them") {
    Seq("g/a/x.txt", "g/a/_SUCCESS", "g/_old/y.txt", "g/.older/z.txt", "g/b/_temporary/0/t.txt").foreach(write(_))
    def counts(expected: Int, patterns: String*) =
      patterns.foreach(pattern => assert(count("path" -> at(pattern)) == expected, pattern))
    counts(2, "g/*", "g/*/*", "g/*/*.txt", "g/?", "g/{a,?old}", "g/[a_]*", "g/{a/*,?old/*}")
    counts(2, "g/_old", "g/_*", "g/_old/*", "g/.older/?.txt", "g/{_old,?older}/*", "g/b/_temp*/*", "g/\\_old")
    counts(4, "g/{_*,a}", "g/{a,.older}/*.txt", "g/{a/*,_o*/*}", "g/{{a,_old}}")
    val _ = write("partition/_k=1/x.txt")
    counts(2, "partition/*", "partition/*/*.txt")
    val hidden = intercept[SpliceException](count("path" -> at("g/?old"), "schema" -> "value STRING"))
    assert(hidden.getCondition == FileErrors.PathNotFound)
  }

  test("modifiedBefore and modifiedAfter filter files") {
    Seq("m/a.txt" -> "2026-01-01T00:00:00Z", "m/b.txt" -> "2026-02-01T00:00:00Z").foreach { case (name, time) =>
      Files.setLastModifiedTime(Paths.get(write(name)), FileTime.from(Instant.parse(time)))
    }
    def files(options: (String, String)*) =
      SourceRead(Seq("format" -> "text", "path" -> at("m")) ++ options: _*).allRanges.size
    assert(files("modifiedAfter" -> "2026-01-15T00:00:00", "maxPartitionBytes" -> "1") == 4)
    assert(count("path" -> at("m"), "modifiedBefore" -> "2026-01-15T00:00:00") == 2)
    assert(count("path" -> at("m"), "modifiedAfter" -> "2026-03-01T00:00:00") == 0)
  }

  private def inZone[A](zone: String)(body: => A): A = {
    val key    = "spark.sql.session.timeZone"
    val before = spark.conf.get(key)
    spark.conf.set(key, zone)
    try body
    finally spark.conf.set(key, before)
  }

  test("a modification time is in the time zone of the session, of the option timeZone or of the text") {
    val time = FileTime.from(Instant.parse("2026-10-31T12:00:00Z"))
    Files.setLastModifiedTime(Paths.get(write("zone/a.txt")), time)
    def rows(options: (String, String)*) = count(Seq("path" -> at("zone")) ++ options: _*)
    inZone("Asia/Tokyo") {
      assert(rows("modifiedBefore" -> "2026-11-01T00:00:00") == 2 &&
        rows("modifiedAfter" -> "2026-11-01T00:00:00") == 0)
      assert(rows("modifiedBefore" -> "2026-10-31T15:00:00Z") == 2)
      // The time of the file in Tokyo is 21:00.
      assert(rows("MODIFIEDBEFORE" -> "2026-10-31 21:00:00") == 0 &&
        rows("modifiedAfter" -> "2026-10-31T21:00:00") == 0)
      assert(rows("modifiedBefore" -> "2026-10-31T21:00:01") == 2 &&
        rows("modifiedAfter" -> "2026-10-31T20:59:59") == 2)
      val inBerlin = "timeZone" -> "Europe/Berlin"
      assert(rows("modifiedBefore" -> "2026-10-31T13:00:01", inBerlin) == 2)
      assert(rows("modifiedAfter" -> "2026-10-31T13:00:01", inBerlin) == 0)
    }
  }

  test("a modification time that is not a time is Spark's error") {
    val _ = write("invalid/a.txt")
    Seq("modifiedBefore", "modifiedAfter").foreach { key =>
      val options = Seq("path" -> at("invalid"), key -> "yesterday", "schema" -> "value STRING")
      val error   = intercept[Exception](count(options: _*))
      def own     = spark.read.format("text").option(key, "yesterday").load(at("invalid"))
      assert(error.getMessage == intercept[Exception](own).getMessage && error.getMessage.contains("yesterday"))
    }
  }

  test("folder names result in partition columns with the types that Spark infers") {
    val parts = spark.range(60).select(
      col("id"),
      (col("id") % 2).as("number"),
      expr("DATE '2026-01-01' + CAST(id % 3 AS INT)").as("day"),
      expr("CASE WHEN id % 5 > 0 THEN concat('a b/', id % 5) END").as("word"),
      expr("id % 2 + 0.5D").as("real"),
      expr("TIMESTAMP '2026-01-01 10:00:00' + make_interval(0, 0, 0, 0, CAST(id % 2 AS INT))").as("moment")
    )
    parts.write.partitionBy("number", "day", "word", "real", "moment").parquet(at("hive"))
    val read     = SourceRead("format" -> "parquet", "path" -> at("hive"))
    val expected = spark.read.parquet(at("hive"))
    assert(read.source.schema == expected.schema)
    assert(read.rows() == SourceRead.ofSpark(expected))
    val typed = SourceRead("format" -> "parquet", "path" -> at("hive"), "schema" -> "id BIGINT, number STRING")
    assert(typed.source.schema("number").dataType == StringType)
    assert(typed.rows().size == 60)
  }

  test("a base path keeps the columns of folders above a path") {
    spark.range(10).withColumn("k", col("id") % 2).write.partitionBy("k").parquet(at("base"))
    assert(SourceRead("format" -> "parquet", "path" -> at("base/k=1")).source.schema.fieldNames.toSeq == Seq("id"))
    val read = SourceRead("format" -> "parquet", "path" -> at("base/k=1"), "basePath" -> at("base"))
    assert(read.source.schema.fieldNames.toSeq == Seq("id", "k"))
  }

  test("metadata columns have the file and block of a row, as in Spark") {
    spark.range(0, 50, 1, 2).write.parquet(at("meta dir/ä"))
    val read   = SourceRead("format" -> "parquet", "path" -> at("meta dir/ä"))
    val names  = Seq("_file_size", "id", "_file_path", "_file_modification_time", "_file_block_start")
    val wanted = StructType(names.map(n => (read.source.schema ++ read.source.metadataColumns).find(_.name == n).get))
    val own    = spark.read.parquet(at("meta dir/ä")).selectExpr(
      "_metadata.file_size AS _file_size",
      "id",
      "_metadata.file_path AS _file_path",
      "_metadata.file_modification_time AS _file_modification_time",
      "_metadata.file_block_start AS _file_block_start"
    )
    val expected = SourceRead.ofSpark(own)
    assert(read.rows(wanted) == expected)
    assert(read.batches(wanted) == expected)
  }

  test("a column of the files hides the metadata column of its name, as in Spark") {
    val own = spark.range(3).selectExpr("id AS _file_size", "CAST(id AS STRING) AS _file_path", "id")
    own.write.parquet(at("hidden"))
    val read = SourceRead("format" -> "parquet", "path" -> at("hidden"))
    assert(read.rows() == SourceRead.ofSpark(own) && read.batches(own.schema) == SourceRead.ofSpark(own))
  }

  test("a missing path is an error with its name, at the schema and at the listing") {
    val missing = at("nowhere")
    Seq(missing, s"$missing/*.txt").foreach { path =>
      val source = SourceRead("format" -> "text", "path" -> path, "schema" -> "value STRING")
      Seq(intercept[SpliceException](source.source.schema), intercept[SpliceException](source.positions)).foreach {
        error =>
          assert(error.getCondition == FileErrors.PathNotFound)
          assert(error.getMessage.contains(path))
      }
    }
  }

  test("a scheme without a file system is an error with its path") {
    val error = intercept[SpliceException](SourceRead("format" -> "text", "path" -> "nosuch://bucket/x").source.schema)
    assert(error.getCondition == "SPLICE_FILES.FILE_SYSTEM_NOT_FOUND" && error.getMessage.contains("nosuch://bucket/x"))
  }

  test("a scheme without the class of its file system, and an unknown host, are errors with the path") {
    Seq("lost://b/x", "lost://b/*", "hdfs://no-such-host.invalid:8020/x").foreach { path =>
      val source = SourceRead("format" -> "text", "path" -> path, "fs.lost.impl" -> "no.such.Class").source
      val error  = intercept[SpliceException](source.schema)
      assert(error.getCondition == "SPLICE_FILES.FILE_SYSTEM_NOT_FOUND" && error.getMessage.contains(path))
    }
  }

  test("an empty folder has no inferred schema, and no rows with a given schema") {
    Files.createDirectories(Paths.get(at("empty")))
    val error = intercept[SpliceException](SourceRead("format" -> "parquet", "path" -> at("empty")).source.schema)
    assert(error.getCondition == "SPLICE_FILES.SCHEMA_NOT_FOUND" && error.getMessage.contains("'schema'"))
    assert(SourceRead("format" -> "parquet", "path" -> at("empty"), "schema" -> "id BIGINT").rows().isEmpty)
  }

  test("a file within several paths is read once") {
    Seq("over/2026-10/a.txt", "over/2026-11/b.txt", "over/2026-11/c.txt").foreach(write(_))
    val month                               = at("over/2026-11")
    def paths(paths: String*)               = "paths" -> paths.map(p => s"\"$p\"").mkString("[", ",", "]")
    def counts(expected: Int, all: String*) = assert(count(paths(all: _*)) == expected, all)
    counts(6, at("over/2026-*"), month)
    counts(4, month, s"$month/", s"file://$month", s"${at("over")}//2026-11")
    counts(4, month, s"$month/b.txt")
    counts(4, s"$month/b*", s"$month/*.txt")
    counts(2, s"$month/b.txt", s"$month/b.txt")
    assert(count(paths(at("over"), month), "recursiveFileLookup" -> "true") == 6)
  }

  test("a partitioned folder and its subfolders are read once, with all columns") {
    Seq("cols/k=1/a.txt", "cols/k=1/_skipped.txt", "cols/k=2/b.txt").foreach(write(_))
    val paths = Seq("cols", "cols/k=1", "cols/k=2/b.txt").map(p => s"\"${at(p)}\"").mkString("[", ",", "]")
    val read  = SourceRead("format" -> "text", "paths" -> paths)
    assert(read.source.schema.fieldNames.toSeq == Seq("value", "k"))
    assert(read.rows() == SourceRead.ofSpark(spark.read.text(at("cols"))))
  }
}
