// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.enumerator

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.files.internal.options.ReaderOptions
import splice.files.internal.split.{BlockHome, FileSchemas, ListedFile, Packing}
import splice.source.errors.SpliceException
import splice.source.internal.entries.Json
import splice.source.runtime.SideLog

// scalafix:off DisableSyntax.null; Spark's rows and Kafka's records define null for an absent value

/** Tests of the list in the side log. */
final class FileListEntriesSuite extends AnyFunSuite {

  private val packing = Packing(1000, 10, 2)

  private def list(sizes: Long*) = new FileList(
    FileSchemas.empty,
    packing,
    sizes.toIndexedSeq.map(size => ListedFile(s"/lake/f$size", size, 0, splittable = true, InternalRow.empty))
  )

  private def logOf(segments: (Int, Seq[String])*): SideLog = {
    val log = new MemorySideLog
    segments.foreach { case (first, lines) => log.getOrCreate(f"files-$first%08d")(lines) }
    log
  }

  private def read(log: SideLog): FileList = new FileListEntries(log).read()

  private def condition(body: => Any): String = intercept[SpliceException](body).getCondition

  test("a list is equal after a write and a read, with every type of partition value") {
    val partition = StructType.fromDDL(
      "a INT, b BIGINT, c DOUBLE, d DATE, e TIMESTAMP, f STRING, g DECIMAL(38,0), h BOOLEAN, i TIMESTAMP_NTZ, " +
        "j SMALLINT, k FLOAT, l TINYINT, m BINARY, n INTERVAL YEAR TO MONTH, o INTERVAL DAY TO SECOND, p CHAR(2), " +
        "q VARCHAR(2)"
    )
    val values = InternalRow(
      -7,
      1L << 60,
      0.1d,
      20000,
      -5L,
      UTF8String.fromString("ä\"/ ="),
      Decimal(BigDecimal("12345678901234567890"), 38, 0),
      true,
      1700000000000000L,
      3.toShort,
      1.5f,
      1.toByte,
      Array[Byte](0, -1),
      -14,
      1L << 40,
      UTF8String.fromString("ab"),
      UTF8String.fromString("c")
    )
    val nulls = InternalRow.fromSeq(Seq.fill(partition.size)(null))
    val files = IndexedSeq(
      ListedFile(
        "file:/lake/x/1%20a",
        1L << 40,
        1700000000123L,
        splittable = true,
        values,
        Seq(BlockHome(0, 5, Seq("h1", "h2")), BlockHome(5, 9, Seq("h2")))
      ),
      ListedFile("file:/lake/xy/2", 0, 1, splittable = false, nulls),
      ListedFile("file:/lake/x/3", 7, 2, splittable = false, values)
    )
    val schemas = FileSchemas(StructType.fromDDL("x ARRAY<STRING>"), partition)
    val lines   = FileListEntries.write(new FileList(
      schemas,
      packing,
      files,
      ReaderOptions(SortedMap("header" -> "true", "sep" -> "|"))
    ))
    val again = read(logOf(0 -> lines))
    assert(again.files == files && again.schemas == schemas && again.packing == packing)
    assert(again.reader.values == SortedMap("header" -> "true", "sep" -> "|"))
    assert(again.files.head.values.getInt(13) == -14)
    assert(lines.forall(!_.contains('\n')))
    assert(read(logOf(0 -> FileListEntries.write(list(3)))).reader == ReaderOptions.Empty)
    assert(read(logOf(0 -> FileListEntries.write(list()))).files.isEmpty)
  }

  test("the first line has a version and sorted keys, and the line of a file has optional fields in a final object") {
    val homes = Seq(BlockHome(0, 5, Seq("h1")))
    val lines = FileListEntries.write(new FileList(
      FileSchemas.empty,
      packing,
      IndexedSeq(
        ListedFile("/lake/a", 5, 1, splittable = true, InternalRow.empty, homes),
        ListedFile("/lake/b", 6, 2, splittable = false, InternalRow.empty)
      )
    ))
    val head = Json.fields(Json.read(lines.head).get)
    assert(head.map(_._1) == head.map(_._1).sorted && head.toMap.apply("v").asInt == 1)
    assert(lines.tail == Seq("""["a",5,1,true,0,{"homes":[[0,5,0]]}]""", """["b",6,2,false,0]"""))
    val later =
      lines.updated(1, """["a",5,1,true,0,{"homes":[[0,5,0]],"rows":7}]""").updated(2, """["b",6,2,false,0,{"x":1}]""")
    assert(read(logOf(0 -> later)).files == read(logOf(0 -> lines)).files)
  }

  test("consecutive segments form one list") {
    val log =
      logOf(
        0 -> FileListEntries.write(list(1, 2)),
        2 -> FileListEntries.write(list(3)),
        3 -> FileListEntries.write(list(4, 5))
      )
    val whole = read(log)
    assert(whole.files == list(1, 2, 3, 4, 5).files && whole.packing == packing)
  }

  test("segments that are not consecutive are rejected") {
    def second(first: Int, more: FileList) =
      logOf(0 -> FileListEntries.write(list(1, 2)), first -> FileListEntries.write(more))
    assert(condition(read(second(3, list(3)))) == "SPLICE_CHECKPOINT.CORRUPT")
    assert(condition(read(second(1, list(3)))) == "SPLICE_CHECKPOINT.CORRUPT")
    val columns = FileSchemas(StructType.fromDDL("x INT"), new StructType())
    Seq(
      new FileList(FileSchemas.empty, packing.copy(maxPartitionBytes = 7), list(3).files),
      new FileList(columns, packing, list(3).files),
      new FileList(FileSchemas.empty, packing, list(3).files, ReaderOptions(SortedMap("sep" -> "|")))
    ).foreach(other => assert(condition(read(second(2, other))) == "SPLICE_CHECKPOINT.CORRUPT"))
    assert(condition(read(logOf(2 -> FileListEntries.write(list(3))))) == "SPLICE_CHECKPOINT.ENTRY_NOT_FOUND")
    assert(condition(read(new MemorySideLog)) == "SPLICE_CHECKPOINT.ENTRY_NOT_FOUND")
  }

  test("a corrupt or newer segment is rejected") {
    val lines                     = FileListEntries.write(list(1, 2))
    def refused(to: Seq[String]*) = to.map(changed => condition(read(logOf(0 -> changed)))).distinct
    assert(refused(lines.updated(0, lines.head.replace("\"v\":1", "\"v\":2"))) ==
      Seq("SPLICE_CHECKPOINT.VERSION_NOT_SUPPORTED"))
    assert(
      refused(
        lines.updated(1, "[1,2]"),
        lines.updated(1, "["),
        lines.updated(1, """["a",5,1,true,9]"""),
        lines.updated(0, "{\"v\":1}"),
        lines.updated(0, lines.head.replace("struct", "array")),
        Nil
      ) == Seq("SPLICE_CHECKPOINT.CORRUPT")
    )
  }

  test("the first list and the first end are kept") {
    val log     = new MemorySideLog
    val entries = new FileListEntries(log)
    entries.create(list(1, 2))
    entries.create(fail("a list exists"))
    assert(condition(entries.size) == "SPLICE_CHECKPOINT.ENTRY_NOT_FOUND")
    entries.close(2)
    entries.close(fail("the list is closed"))
    assert(new FileListEntries(log).size == 2 && read(log).files.size == 2)
    assert(log.get("files-end").contains(Seq("""{"files":2,"v":1}""")))
    assert(log.keys("files-") == Seq("files-00000000", "files-end"))
    log.remove("files-00000000")
    new FileListEntries(log).create(fail("the list is lost, and its files may have been read"))
    assert(condition(read(log)) == "SPLICE_CHECKPOINT.ENTRY_NOT_FOUND")
  }
}
