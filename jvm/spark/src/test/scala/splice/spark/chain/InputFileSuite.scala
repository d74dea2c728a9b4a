// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.chain

import java.nio.file.Files

import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.funsuite.AnyFunSuite

import splice.spark.WithSpark

/** Spark's functions for the input file of a row. */
final class InputFileSuite extends AnyFunSuite with WithSpark {

  private val columns =
    Seq(
      "CAST(id AS INT) AS id",
      "input_file_name() AS name",
      "input_file_block_start() AS start",
      "input_file_block_length() AS length"
    )

  private def shown(frame: DataFrame): Seq[Row] = frame.selectExpr(columns: _*).collect().toSeq.sortBy(_.getInt(0))

  test("a batch and a stream return the file and the block of each row, as Spark's reader does") {
    val vectors = numbers("vectors", 0, 100, 3)
    val lines   = Files.createDirectory(folder.resolve("some lines"))
    Seq("a", "b").zipWithIndex.foreach { case (name, i) =>
      Files.writeString(lines.resolve(s"$name.csv"), (i * 100 until i * 100 + 100).mkString("", "\n", "\n"))
    }
    Seq("parquet" -> vectors, "csv" -> lines.toString).foreach { case (format, path) =>
      val options  = Map("format" -> format, "path" -> path, "schema" -> "id BIGINT")
      val expected = shown(spark.read.schema("id BIGINT").format(format).load(path))
      assert(expected.forall(_.getString(1).nonEmpty) && expected.map(_.getString(1)).distinct.size > 1)
      assert(shown(spark.read.format("splice-files").options(options).load()) == expected)
      val stream = spark.readStream.format("splice-files").options(options).load().selectExpr(columns: _*)
      drain(stream, s"functions-$format")
      val out = spark.read.parquet(folder.resolve(s"functions-$format-out").toString)
      assert(out.collect().toSeq.sortBy(_.getInt(0)) == expected)
    }
    val blocks = shown(
      spark.read.format("splice-files").option("format", "csv").option("path", lines.toString)
        .option("schema", "id BIGINT").option("maxPartitionBytes", "64").load()
    )
    assert(blocks.size == 200 && blocks.map(row => (row.getString(1), row.getLong(2))).distinct.size > 2)
    assert(blocks.forall(_.getLong(3) <= 64))
  }
}
