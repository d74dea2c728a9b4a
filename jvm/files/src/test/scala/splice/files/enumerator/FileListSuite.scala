// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.enumerator

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import splice.files.split.{BlockHome, FileSchemas, ListedFile, Packing}
import splice.source.SpliceException

/** The list, its text, and how far a batch goes in it. */
final class FileListSuite extends AnyFunSuite {

  private val packing = Packing(1000, 10, 2)

  private def sizes(sizes: Long*) = new FileList(
    FileSchemas.empty,
    packing,
    sizes.zipWithIndex.map { case (s, i) =>
      ListedFile(s"/f$i", s, 0, splittable = true, InternalRow.empty)
    }.toIndexedSeq
  )

  test("a batch takes files up to its limits, and always one") {
    val list = sizes(10, 20, 30, 40)
    assert(list.reach(0, None, None) == 4)
    assert(list.reach(0, Some(3), None) == 3)
    assert(list.reach(3, Some(Int.MaxValue), None) == 4)
    assert(list.reach(0, None, Some(30)) == 2)
    assert(list.reach(0, None, Some(29)) == 1)
    assert(list.reach(0, None, Some(5)) == 1)
    assert(list.reach(2, Some(1), Some(1000)) == 3)
    assert(list.reach(4, Some(1), Some(1)) == 4)
    assert(list.bytes(1, 3) == 50)
  }

  test("a list survives its text, with every type of folder value") {
    val partition = StructType.fromDDL(
      "a INT, b BIGINT, c DOUBLE, d DATE, e TIMESTAMP, f STRING, g DECIMAL(38,0), h BOOLEAN, i TIMESTAMP_NTZ, j SMALLINT, k FLOAT, l TINYINT, m BINARY"
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
      Array[Byte](0, -1)
    )
    val nulls = InternalRow.fromSeq(Seq.fill(13)(null))
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
    val list = new FileList(
      FileSchemas(StructType.fromDDL("x ARRAY<STRING>"), partition),
      packing,
      files,
      Some("multiLine" -> true)
    )
    val again = FileListLog.read(FileListLog.write(list))
    assert(again.files == files)
    assert(again.schemas == list.schemas && again.packing == packing)
    assert(again.splitBy == list.splitBy && FileListLog.read(FileListLog.write(sizes())).splitBy.isEmpty)
    assert(FileListLog.read(FileListLog.write(sizes())).files.isEmpty)
    assert(FileListLog.write(list).forall(!_.contains('\n')))
  }

  test("a list that is damaged or of a newer version is refused") {
    val lines                         = FileListLog.write(sizes(1, 2))
    def condition(lines: Seq[String]) = intercept[SpliceException](FileListLog.read(lines)).getCondition
    assert(condition(lines.updated(0, lines.head.replace("\"v\":1", "\"v\":2"))) == "SPLICE_CHECKPOINT.NEWER_VERSION")
    assert(condition(lines.updated(1, "[1,2]")) == "SPLICE_CHECKPOINT.CORRUPT")
    assert(condition(lines.updated(1, "[")) == "SPLICE_CHECKPOINT.CORRUPT")
    assert(condition(lines.updated(0, "{\"v\":1}")) == "SPLICE_CHECKPOINT.CORRUPT")
    assert(condition(Nil) == "SPLICE_CHECKPOINT.CORRUPT")
  }

  test("an offset is short, sorted, and refused when it is newer, foreign or damaged") {
    val progress = FilesPosition(Int.MaxValue - 1, Int.MaxValue)
    assert(progress.json == """{"files":2147483646,"of":2147483647,"v":1}""")
    assert(FilesPosition.read(progress.json) == progress)
    def condition(json: String) = intercept[SpliceException](FilesPosition.read(json)).getCondition
    assert(condition("""{"files":1,"of":2,"v":2}""") == "SPLICE_CHECKPOINT.NEWER_VERSION")
    assert(condition("""{"orders":{"0":5}}""") == "SPLICE_CHECKPOINT.FOREIGN")
    assert(condition("""{"files":3,"of":2,"v":1}""") == "SPLICE_CHECKPOINT.CORRUPT")
    assert(condition("""{"files":1,"o""") == "SPLICE_CHECKPOINT.CORRUPT")
  }

  test("positions of one list follow each other") {
    assert(FilesPosition(1, 5).precedes(FilesPosition(1, 5)) && FilesPosition(1, 5).precedes(FilesPosition(4, 5)))
    assert(!FilesPosition(4, 5).precedes(FilesPosition(1, 5)) && !FilesPosition(1, 5).precedes(FilesPosition(2, 6)))
  }
}
