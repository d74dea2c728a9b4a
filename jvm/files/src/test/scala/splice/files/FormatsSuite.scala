// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

/** Tests that rows and columns equal the rows and columns of Spark's reader. */
final class FormatsSuite extends AnyFunSuite with LocalSpark {

  private lazy val orders: DataFrame = spark
    .range(0, 1000, 1, 4)
    .select(
      col("id").as("order_id"),
      when(col("id") % 7 =!= 0, concat(lit("name "), col("id"))).as("name"),
      (col("id") / 3).as("amount"),
      timestamp_micros(col("id") * 1000003).as("event_time"),
      (col("id") % 5 === 0).as("paid"),
      expr("DATE '2026-01-01' + CAST(id % 30 AS INT)").as("day")
    )

  private lazy val nested: DataFrame =
    orders.withColumn("tags", array(col("name"), lit("x"))).withColumn("inner", struct("order_id", "paid"))

  private def same(format: String, path: String, options: (String, String)*): SourceRead = {
    val read     = SourceRead(Seq("format" -> format, "path" -> path) ++ options: _*)
    val plain    = options.filterNot(_._1 == "schema").toMap
    val expected =
      options.toMap.get("schema").fold(spark.read)(spark.read.schema).format(format).options(plain).load(path)
    assert(read.source.schema == expected.schema)
    val rows = SourceRead.ofSpark(expected)
    assert(rows.nonEmpty)
    assert(read.rows() == rows)
    if (read.columnar()) assert(read.batches() == rows)
    read
  }

  test("parquet is read as rows and as columns") {
    nested.write.parquet(at("parquet"))
    assert(same("parquet", at("parquet")).columnar())
  }

  test("orc is read as rows and as columns") {
    nested.write.orc(at("orc"))
    assert(same("orc", at("orc")).columnar())
  }

  test("json files are read") {
    nested.write.json(at("json"))
    assert(!same("json", at("json")).columnar())
  }

  test("csv with a header and inferred types") {
    orders.write.option("header", "true").csv(at("csv"))
    same("csv", at("csv"), "header" -> "true", "inferSchema" -> "true")
  }

  test("csv with another separator and a given schema") {
    orders.select("order_id", "name").write.option("sep", ";").csv(at("csv2"))
    same("csv", at("csv2"), "sep" -> ";", "schema" -> "order_id BIGINT, name STRING")
  }

  test("text is read by line and by file") {
    orders.select(col("order_id").cast("string")).write.text(at("text"))
    same("text", at("text"))
    same("text", at("text"), "wholetext" -> "true")
  }

  test("parquet without Spark's vectorized reader") {
    spark.conf.set("spark.sql.parquet.enableVectorizedReader", "false")
    try {
      orders.write.parquet(at("plain"))
      assert(!same("parquet", at("plain")).columnar())
    } finally spark.conf.unset("spark.sql.parquet.enableVectorizedReader")
  }

  test("a given schema can omit columns and add columns that files lack") {
    orders.write.parquet(at("given"))
    same("parquet", at("given"), "schema" -> "amount DOUBLE, later STRING, order_id BIGINT")
  }

  test("files are read in parts by one task") {
    orders.coalesce(1).write.option("parquet.block.size", "2000").parquet(at("blocks"))
    val read = same("parquet", at("blocks"), "maxPartitionBytes" -> "3000")
    assert(read.allRanges.size > 1)
    orders.coalesce(1).write.json(at("lines"))
    assert(same("json", at("lines"), "maxPartitionBytes" -> "10k").allRanges.size > 5)
  }

  test("all, some or no columns are read in any order") {
    orders.withColumn("part", col("order_id") % 3).write.partitionBy("part").parquet(at("some"))
    val read    = SourceRead("format" -> "parquet", "path" -> at("some"))
    val columns = Seq("part", "name", "order_id")
    val wanted  = StructType(columns.map(read.source.schema(_)))
    val rows    = SourceRead.ofSpark(spark.read.parquet(at("some")).select(columns.map(col): _*))
    assert(read.columnar(wanted) && read.rows(wanted) == rows && read.batches(wanted) == rows)
    val none = new StructType()
    assert(read.rows(none).size == 1000 && read.batches(none).size == 1000)
  }

  test("an unknown format is rejected with a list of all formats") {
    val error = intercept[IllegalArgumentException](SourceRead("format" -> "avro", "path" -> "/x"))
    assert(error.getMessage.contains("'avro'") && error.getMessage.contains("parquet, orc, json, csv, text"))
  }
}
