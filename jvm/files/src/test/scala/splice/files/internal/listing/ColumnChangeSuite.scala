// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.listing

import java.nio.file.{Files, Paths}

import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.files.internal.options.FileKind
import splice.files.internal.split.FileSchemas
import splice.files.{LocalSpark, SourceRead}
import splice.source.errors.SpliceException
import splice.source.runtime.SideLog
import splice.source.{Limits, StartPosition}

/** Tests of changed columns at a restart. */
final class ColumnChangeSuite extends AnyFunSuite with LocalSpark {

  private def write(name: String, text: String): Unit = {
    val file = Paths.get(at(name))
    Files.createDirectories(file.getParent)
    Files.writeString(file, text)
  }

  private def start(log: SideLog, name: String, options: (String, String)*): SourceRead = {
    val all =
      Seq("format" -> "csv", "path" -> at(name), "maxFilesPerTrigger" -> "1", "orderBy" -> "path", "header" -> "true")
    new SourceRead(SourceRead.source(all ++ options: _*), log)
  }

  private val infer = "inferSchema" -> "true"

  private def next(read: SourceRead, at: String): Seq[String] = {
    val columns = read.source.schema
    val from    = read.source.position(at)
    val until   = read.enumerator.advance(from, read.enumerator.limits(from))
    read.rows(columns, read.enumerator.splits(from, until))
  }

  private def rejected(read: SourceRead, at: String, words: String*): Unit = {
    val error = intercept[SpliceException](next(read, at))
    assert(error.getCondition == "SPLICE_FILES_DATA.COLUMN_CHANGED")
    words.foreach(word => assert(error.getMessage.contains(word)))
  }

  private val one = """{"files":1,"v":1}"""

  test("comments and other metadata of fields are not parts of a type") {
    val log                = new MemorySideLog
    def schema(a: String)  = "schema" -> s"a STRUCT<b: INT$a>, c ARRAY<STRUCT<d: INT$a>>"
    def json(more: String) = start(log, "comments", "format" -> "json", schema(more))
    Seq("a", "b").foreach(name => write(s"comments/$name", """{"a":{"b":1},"c":[{"d":2}]}"""))
    json(" COMMENT 'home'").enumerator.start(StartPosition.Configured)
    assert(next(json(""), one).size == 1)
  }

  test("a changed inferred type is an error, and the schema in the error corrects it") {
    Seq("a", "b").foreach(file => write(s"types/$file.csv", "id,n\n1,2\n"))
    val log = new MemorySideLog
    assert(next(start(log, "types", infer), start(log, "types", infer).positions.head.json).size == 1)
    write("types/c.csv", "id,n\n1.5,2\n")
    val words = Seq("'id'", "is DOUBLE", "was INT", "Set 'schema' to 'id INT,n INT'")
    rejected(start(log, "types", infer), one, words: _*)
    // A repeated batch is also rejected.
    val again = start(log, "types", infer)
    again.source.schema
    val start0 = again.source.position("""{"files":0,"v":1}""")
    assert(intercept[SpliceException](again.enumerator.splits(
      start0,
      again.source.position(one)
    )).getMessage.contains("DOUBLE"))
    val repaired = Seq(infer, "schema" -> "id INT, n INT")
    assert(next(start(log, "types", repaired: _*), one).size == 1)
    assert(start(log, "types", repaired: _*).source.identity == start(log, "types", infer).source.identity)
  }

  test("without an analysis of all columns, the columns of the readers are compared") {
    Seq("a", "b").foreach(file => write(s"readers/$file.csv", "id,n\n1,2\n"))
    val log   = new MemorySideLog
    val read  = start(log, "readers", infer)
    val all   = read.allRanges
    val error = intercept[SpliceException](read.enumerator.readers(StructType.fromDDL("n DOUBLE"), all))
    assert(error.getCondition == "SPLICE_FILES_DATA.COLUMN_CHANGED")
    assert(read.rows(StructType.fromDDL("n INT"), all).size == 2)
  }

  test("before the first read, changed columns result in a new list") {
    write("before/a.csv", "id,n\n1,2\n")
    val log   = new MemorySideLog
    val first = start(log, "before", infer).enumerator.start(StartPosition.Configured)
    write("before/b.csv", "id,n\n1.5,2\n")
    val read = start(log, "before", infer)
    assert(read.source.schema == StructType.fromDDL("id DOUBLE, n INT"))
    val until = read.enumerator.advance(first, Limits.Everything)
    assert(until.json == """{"files":2,"list":1,"v":1}""")
    assert(read.rows(ranges = read.enumerator.splits(first, until)).size == 2)
  }

  test("a CSV column that is inferred at a restart is null, and the listed files keep their rows") {
    Seq("a", "b").foreach(file => write(s"later/$file.csv", "id,n\n1,2\n"))
    val log  = new MemorySideLog
    val drop = "mode" -> "DROPMALFORMED"
    assert(next(start(log, "later", drop), start(log, "later", drop).positions.head.json).size == 1)
    write("later/c.csv", "id,n,m\n1,2,3\n4,5,6\n7,8,9\n")
    val again = start(log, "later", drop)
    assert(again.source.schema.fieldNames.toSeq == Seq("id", "n", "m"))
    assert(next(again, one).size == 1)
  }

  test("a given schema may have another case and other comments than the list") {
    Seq("a", "b").foreach(file => write(s"case/$file.csv", "id,n\n1,2\n"))
    val log   = new MemorySideLog
    val first = start(log, "case", "schema" -> "id INT COMMENT 'number', n VARCHAR(9)")
    assert(next(first, first.positions.head.json).size == 1)
    assert(next(start(log, "case", "schema" -> "ID INT, n STRING"), one) == next(first, one))
  }

  test("a restart may widen a number of files with types, and reads the listed files with the wider type") {
    Seq("parquet", "orc").foreach { format =>
      val log                   = new MemorySideLog
      val name                  = s"wide-$format"
      def wide(schema: String*) =
        start(log, name, Seq("format" -> format, "recursiveFileLookup" -> "true") ++ schema.map("schema" -> _): _*)
      def add(n: Int, id: String) = spark.sql(s"SELECT CAST(3 AS $id) AS id, CAST(1.5 AS FLOAT) AS n").coalesce(1)
        .write.format(format).save(at(s"$name/$n"))
      add(0, "INT")
      add(1, "INT")
      val first = wide()
      val ends  = first.positions
      assert(next(first, ends.head.json).size == 1)
      rejected(wide("id STRING, n FLOAT"), ends(1).json, "is STRING", "was INT")
      rejected(wide("id INT, n INT"), ends(1).json, "is INT", "was FLOAT")
      val again = wide("id BIGINT, n DOUBLE")
      assert(again.source.schema == StructType.fromDDL("id BIGINT, n DOUBLE"))
      assert(next(again, ends(1).json) == Seq("[0,3,3ff8000000000000]"))
    }
  }

  test("the error of a file with a wider type has both types and the remedy") {
    val name = "later-wide"
    Seq("INT", "BIGINT").zipWithIndex.foreach { case (id, n) =>
      spark.sql(s"SELECT CAST(3 AS $id) AS id").coalesce(1).write.parquet(at(s"$name/$n"))
    }
    val read =
      start(new MemorySideLog, name, "format" -> "parquet", "recursiveFileLookup" -> "true", "schema" -> "id INT")
    val error = intercept[SpliceException](read.rows())
    assert(error.getCondition == "SPLICE_FILES_DATA.FILE_NOT_READABLE")
    Seq("column [id]", "INT64", "int", "'schema'").foreach(part =>
      assert(error.getMessage.contains(part), error.getMessage)
    )
  }

  test("a given schema must equal the list in names, types and order") {
    val listed              = FileSchemas(StructType.fromDDL("a INT, b STRING"), StructType.fromDDL("day DATE"))
    def change(ddl: String) = ColumnChange.ofGiven(StructType.fromDDL(ddl), listed, FileKind.Csv)
    assert(change("a INT, b STRING").isEmpty && change("A INT NOT NULL, b STRING, day DATE").isEmpty)
    assert(change("a BIGINT, b STRING").contains(ColumnChange("a", "INT", "BIGINT")))
    assert(change("a INT, b STRING, day STRING").contains(ColumnChange("day", "DATE", "STRING")))
    assert(change("a INT, b STRING, c INT").contains(ColumnChange("c", "not a column", "INT")))
    assert(change("a INT").contains(ColumnChange("b", "STRING", "not a column")))
    assert(change("b STRING, a INT").contains(ColumnChange("b", "column 2", "column 1")))
    val more = StructType.fromDDL("c STRING, a INT")
    assert(ColumnChange.ofTypes(more, listed, FileKind.Csv).isEmpty)
  }
}
