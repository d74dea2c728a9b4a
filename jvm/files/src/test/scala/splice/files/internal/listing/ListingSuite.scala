// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.listing

import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Paths}
import java.time.Instant

import org.apache.hadoop.security.AccessControlException
import org.apache.spark.sql.functions.lit
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.files.internal.enumerator.{FileList, FileListEntries}
import splice.files.storage.DenyingFileSystem
import splice.files.{FileSource, LocalSpark, SourceRead}
import splice.source.options.SourceOptions
import splice.source.{ReadMode, SourceProvider}

/** Tests of the list of a start: the order of files, the columns, and the packing of tasks. */
final class ListingSuite extends AnyFunSuite with LocalSpark {

  private def write(name: String, modified: String = "2026-01-01T00:00:00Z"): Unit = {
    val file = Paths.get(at(name))
    Files.createDirectories(file.getParent)
    val _ = Files.setLastModifiedTime(Files.writeString(file, "1\n"), FileTime.from(Instant.parse(modified)))
  }

  private def list(source: FileSource, cores: Int = 2): FileList = {
    val log = new MemorySideLog
    val _   = new SourceRead(source, log, cores = cores).positions
    new FileListEntries(log).read()
  }

  private def text(name: String, options: (String, String)*): FileSource =
    SourceRead.source(Seq("format" -> "text", "path" -> at(name)) ++ options: _*)

  private def names(list: FileList): Seq[String] = list.files.map(_.path.split('/').last)

  test("files are ordered by modification time and path, or by path only") {
    Seq("b" -> "02", "a" -> "03", "d" -> "01", "c" -> "02").foreach { case (name, day) =>
      write(s"order/$name", s"2026-01-${day}T00:00:00Z")
    }
    assert(names(list(text("order"))) == Seq("d", "b", "c", "a"))
    assert(names(list(text("order", "orderBy" -> "path"))) == Seq("a", "b", "c", "d"))
  }

  test("a stream has the files of its start and the columns of its analysis") {
    def csv = SourceRead.source("format" -> "csv", "path" -> at("later"), "inferSchema" -> "true")
    write("later/a")
    val (stream, batch) = (csv, csv)
    Seq(stream, batch).foreach(source => assert(source.schema == StructType.fromDDL("_c0 INT")))
    Files.writeString(Paths.get(at("later/b")), "x,y\n")
    assert(names(list(stream)).sorted == Seq("a", "b") && stream.schema == StructType.fromDDL("_c0 INT"))
    val log = new MemorySideLog
    val _   = new SourceRead(batch, log, ReadMode.Batch).positions
    assert(names(new FileListEntries(log).read()) == Seq("a"))
    assert(csv.schema.size == 2)
  }

  test("a column of the option schema is a partition column if its folders arrive after the analysis") {
    Files.createDirectories(Paths.get(at("arrives")))
    val schema = "id BIGINT, day STRING, amount DOUBLE"
    val source = SourceRead.source("format" -> "csv", "path" -> at("arrives"), "schema" -> schema)
    assert(source.schema == StructType.fromDDL(schema))
    Files.createDirectories(Paths.get(at("arrives/day=1")))
    Files.writeString(Paths.get(at("arrives/day=1/a.csv")), "5,2.5\n")
    val files = list(source).schemas
    assert(files.data == StructType.fromDDL("id BIGINT, amount DOUBLE") &&
      files.partition.fieldNames.toSeq == Seq("day"))
  }

  test(
    "the option or the session sets the size of a task, and the session or the cores set the number of tasks"
  ) {
    write("tasks/a")

    assert(list(text("tasks"), cores = 3).packing.minPartitions == 3)
    assert(list(text("tasks", "maxPartitionBytes" -> "7k")).packing.maxPartitionBytes == 7168)
    val settings = Seq(
      "spark.sql.files.maxPartitionBytes" -> "5000",
      "spark.sql.files.openCostInBytes"   -> "600",
      "spark.sql.files.minPartitionNum"   -> "9"
    )
    settings.foreach { case (key, value) => spark.conf.set(key, value) }
    try {
      val packing = list(text("tasks"), cores = 3).packing
      assert((packing.maxPartitionBytes, packing.openCostInBytes, packing.minPartitions) == ((5000L, 600L, 9)))
    } finally settings.foreach { case (key, _) => spark.conf.unset(key) }
  }

  test("a given schema is nullable at every level") {
    write("nulls/a")
    val strict = new StructType()
      .add("a", ArrayType(LongType, containsNull = false), nullable = false)
      .add("m", MapType(StringType, LongType, valueContainsNull = false), nullable = false)
      .add("s", new StructType().add("x", LongType, nullable = false), nullable = false)
    val read = SourceRead.source("format" -> "json", "path" -> at("nulls"), "schema" -> strict.json).schema
    assert(read == StructType.fromDDL("a ARRAY<BIGINT>, m MAP<STRING, BIGINT>, s STRUCT<x: BIGINT>"))
  }

  test("a partition column replaces a file column of the same name, as in Spark") {
    spark.range(3).withColumn("k", lit(1)).write.parquet(at("hides/k=9"))
    val read = SourceRead("format" -> "parquet", "path" -> at("hides"))
    val own  = spark.read.parquet(at("hides"))
    assert(read.source.schema == own.schema && read.rows() == SourceRead.ofSpark(own))
  }

  test("the identity is independent of the order of paths, and a single path is plain text") {
    def path(paths: String*)     = FileSource.builder("text", paths: _*).build().options
    def identity(paths: String*) =
      SourceProvider.create(SourceOptions(path(paths: _*))).identity.apply("path")
    assert(identity("/b", "/a", "/b/") == """["file:///a","file:///b"]""" &&
      identity("/a", "/b") == identity("/b", "/a"))
    assert(identity("/a") == "file:///a" && identity("/a", "/a/") == "file:///a")
  }

  test("parent folders of a path may deny access, but the path must not") {
    def read(path: String) = SourceRead(
      "format"          -> "text",
      "path"            -> s"denying://${at(path)}",
      "fs.denying.impl" -> classOf[DenyingFileSystem].getName
    )
    write("locked/open/k=1/a")
    assert(read("locked/open/k=1").rows().size == 1)
    write("locked-too/a")
    assertThrows[AccessControlException](read("locked-too").rows())
  }
}
