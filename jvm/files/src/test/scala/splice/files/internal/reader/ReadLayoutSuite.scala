// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.reader

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import splice.files.internal.options.FileKind
import splice.files.internal.split.{FileBlock, FileSchemas}

/** Tests of the choice between columns of one name, and of the column order of Spark's readers. */
final class ReadLayoutSuite extends AnyFunSuite {

  private val block = FileBlock(0, "/lake/a", 5, 10, 100, 7, InternalRow(3, UTF8String.fromString("x")))

  private def layout(wanted: String, data: String, partition: String, kind: FileKind = FileKind.Json): ReadLayout =
    ReadLayout(StructType.fromDDL(wanted), FileSchemas(StructType.fromDDL(data), StructType.fromDDL(partition)), kind)

  test("a partition column replaces a file column and a metadata column of the same name") {
    val own = layout("k INT, id INT, _file_size STRING", "id INT, k INT", "k INT, _file_size STRING")
    assert(own.file.fieldNames.toSeq == Seq("id") && own.constants.fieldNames.toSeq == Seq("k", "_file_size"))
    assert(own.values(block) == InternalRow(3, UTF8String.fromString("x")))
    assert(own.order == Seq(1, 0, 2) && !own.inOrder)
  }

  test("a file column hides a metadata column of the same name in any case") {
    val own = layout("_file_size INT, _file_block_start BIGINT", "id INT, _FILE_SIZE INT", "k INT, p STRING")
    assert(own.file.fieldNames.toSeq == Seq("_FILE_SIZE"))
    assert(own.constants.fieldNames.toSeq == Seq("_file_block_start") && own.values(block) == InternalRow(5L))
    assert(own.inOrder)
  }

  test("metadata columns have the values of the block") {
    val own =
      layout("_file_modification_time TIMESTAMP, _file_size BIGINT, _file_block_start BIGINT", "id INT", "k INT")
    assert(own.values(block) == InternalRow(7000L, 100L, 5L) && own.file.isEmpty)
  }

  test("a column that no listed file has is read from the files, after the listed columns") {
    val own = layout("later INT, id INT", "id INT, name STRING", "k INT, p STRING")
    assert(own.data.fieldNames.toSeq == Seq("id", "name", "later") && own.file.fieldNames.toSeq == Seq("later", "id"))
  }

  test("a column that no listed CSV file has is null, because CSV columns are matched by position") {
    val own = layout("later INT, id INT", "id INT, name STRING", "k INT, p STRING", FileKind.Csv)
    assert(own.data.fieldNames.toSeq == Seq("id", "name") && own.file.fieldNames.toSeq == Seq("id"))
    assert(own.constants.fieldNames.toSeq == Seq("later") && own.values(block).isNullAt(0))
    assert(own.order == Seq(1, 0))
  }

  test("the files are read with the listed spelling and comment of a column") {
    val own = layout("NAME STRING, ID INT COMMENT 'changed'", "id INT COMMENT 'number', name STRING", "k INT, p STRING")
    assert(own.file == StructType.fromDDL("name STRING, id INT COMMENT 'number'") && own.order == Seq(0, 1))
  }

  test("a partition column replaces the file column of its name, and other partition columns are last") {
    val schemas = FileSchemas(StructType.fromDDL("a INT, K STRING, b INT"), StructType.fromDDL("p INT, k INT"))
    assert(schemas.rows == StructType.fromDDL("a INT, k INT, b INT, p INT"))
  }
}
