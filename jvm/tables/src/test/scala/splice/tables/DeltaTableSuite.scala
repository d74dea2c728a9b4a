// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables

import java.nio.file.{Files, Paths}

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.SaveMode
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.Trigger
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog

/** Tests of tables of Delta: versions, deletion vectors, changes while a query reads, and errors. */
final class DeltaTableSuite extends AnyFunSuite with DeltaSpark {

  private def sql(statement: String): Unit = { val _ = spark.sql(statement) }

  /** Table with the ids 0 to 99 in 4 days of 2 files each, with deletion vectors. */
  private def table(name: String): String = {
    val path = at(name)
    sql(s"CREATE TABLE delta.`$path` (id BIGINT, day INT) USING delta PARTITIONED BY (day) " +
      "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    spark.range(0, 100, 1, 2).selectExpr("id", "CAST(id % 4 AS INT) AS day")
      .write.format("delta").mode(SaveMode.Append).save(path)
    path
  }

  private def read(path: String, options: (String, String)*): TableRead =
    new TableRead(source(Seq("format" -> "delta", "path" -> path) ++ options: _*))

  private def ids(rows: Seq[String]): Seq[Long] = rows.map(_.takeWhile(_ != '|').toLong).sorted

  private def condition(body: => Any): Exception with SparkThrowable = intercept[Exception with SparkThrowable](body)

  test("a run reads the version of its first start, by day and as column batches, while the table changes") {
    val path  = table("changes")
    val log   = new MemorySideLog
    val small = "maxBytesPerTrigger" -> "1"
    def of    = source("format" -> "delta", "path" -> path, small)
    val first = new TableRead(of, log)
    val all   = first.positions
    assert(all.size == 6 && first.isColumnar)
    sql(s"DELETE FROM delta.`$path` WHERE id % 10 = 3")
    sql(s"UPDATE delta.`$path` SET id = id + 1000 WHERE id % 10 = 4")
    sql(s"ALTER TABLE delta.`$path` ADD COLUMN name STRING")
    spark.range(500, 510).selectExpr("id", "1 AS day", "'n' AS name")
      .write.format("delta").mode(SaveMode.Append).save(path)
    sql(s"OPTIMIZE delta.`$path`")
    val again = new TableRead(of, log)
    assert(again.positions == all)
    val batches = again.batches()
    assert(batches.map(ids(_).map(_ % 4).distinct) == Seq(Seq(0), Seq(1), Seq(2), Seq(3), Nil))
    assert(ids(batches.flatten) == (0L until 100L))
    assert(batches.flatten.forall(_.endsWith("|null")), "the pinned version lacks the column")
    val expected = (0L until 100L).filter(_ % 10 != 3).map(id => if (id % 10 == 4) id + 1000 else id) ++
      (500L until 510L)
    val current = read(path)
    assert(ids(current.batches().flatten) == expected.sorted)
    assert(current.evidence.table.flatMap(_.id).exists(_.toInt > 5))
  }

  test("a version, a time and the current version select the rows of their commit") {
    val table = new CopiedTable(Files.createDirectory(folder.resolve("versions")))
    (1 to 3).foreach(_ => table.commit())
    val path  = table.path.toString
    val times = spark.sql(s"DESCRIBE HISTORY delta.`$path`").orderBy("version").select("timestamp").collect()
      .map(_.getTimestamp(0).toInstant.toString)
    def rows(options: (String, String)*) = read(path, options: _*).batches().flatten.size
    assert(rows() == 300 && rows("versionAsOf" -> "0") == 100)
    assert(rows("timestampAsOf" -> times(1)) == 200)
    val pinned = read(path, "versionAsOf" -> "1").evidence.table.get
    assert(pinned.id.contains("1") && pinned.committed.toString == times(1) && pinned.metadata("operation") == "WRITE")
    assert(condition(rows("versionAsOf" -> "77")).getCondition == "SPLICE_TABLE.VERSION_NOT_FOUND")
    assert(condition(rows("timestampAsOf" -> "1999-01-01 00:00:00")).getCondition == "SPLICE_TABLE.VERSION_NOT_FOUND")
  }

  test("a column that is no partition column divides the table by width and by number, with deletion vectors") {
    val path = table("width")
    sql(s"DELETE FROM delta.`$path` WHERE id % 10 = 3")
    val expected = (0L until 100L).filter(_ % 10 != 3)
    Seq("sliceEvery" -> "25", "slices" -> "4").foreach { width =>
      val batches = read(path, "sliceBy" -> "id", width, "maxBytesPerTrigger" -> "1").batches()
      assert(batches.map(ids(_).map(_ / 25).distinct) == Seq(Seq(0), Seq(1), Seq(2), Seq(3), Nil), width)
      assert(ids(batches.flatten) == expected)
    }
  }

  test("a predicate restricts the rows, and an invalid one is an error with the option") {
    val path = table("where")
    assert(ids(read(path, "where" -> "id < 10 AND day IN (1, 2)").batches().flatten) == Seq(1, 2, 5, 6, 9))
    val error = condition(read(path, "where" -> "nothing = 1").batches())
    assert(error.getCondition == "SPLICE_TABLE_OPTION.INVALID_WHERE" && error.getMessage.contains("nothing"))
    val shuffled = condition(read(path, "where" -> "id IN (SELECT max(id) FROM range(5))").batches())
    assert(shuffled.getCondition == "SPLICE_TABLE.PLAN_NOT_SUPPORTED")
    assert(condition(read(path, "where" -> "rand() < 0.5").batches()).getMessage.contains("rand"))
  }

  test("a table in a catalog and a view are read by name; a view has no versions") {
    val path = table("named")
    sql(s"CREATE TABLE orders USING delta LOCATION '$path'")
    try {
      sql("CREATE VIEW early AS SELECT id, day FROM orders WHERE id < 10")
      val named = new TableRead(source("table" -> "orders", "maxBytesPerTrigger" -> "1"))
      assert(ids(named.batches().flatten) == (0L until 100L) && named.evidence.table.exists(_.format == "delta"))
      assert(ids(new TableRead(source("table" -> "orders", "versionAsOf" -> "1")).batches().flatten).size == 100)
      assert(condition(new TableRead(source("table" -> "early")).positions).getCondition == "SPLICE_TABLE.NO_VERSIONS")
      val view = new TableRead(source("table" -> "early", "onNoVersion" -> "warn", "maxBytesPerTrigger" -> "1"))
      assert(ids(view.batches().flatten) == (0L until 10L))
    } finally {
      sql("DROP VIEW IF EXISTS early")
      sql("DROP TABLE orders")
    }
  }

  test("files of the version that a clean-up removed are an error that names the retention") {
    val path  = table("vacuumed")
    val log   = new MemorySideLog
    val first = new TableRead(source("format" -> "delta", "path" -> path), log)
    assert(first.positions.size == 2)
    Files.walk(Paths.get(path)).filter(_.toString.endsWith(".parquet")).forEach(Files.delete(_))
    val error = intercept[Exception](new TableRead(source("format" -> "delta", "path" -> path), log).batches())
    assert(error.getMessage.contains("SPLICE_TABLE.FILE_NOT_FOUND") &&
      error.getMessage.contains("deletedFileRetentionDuration"))
  }

  test("a missing table, format and column are errors with the option and the next step") {
    assert(condition(read(at("missing")).positions).getCondition == "SPLICE_TABLE.TABLE_NOT_FOUND")
    assert(condition(new TableRead(source("table" -> "no.such.table")).positions).getMessage.contains("'table'"))
    assert(condition(new TableRead(source("format" -> "nothing")).positions).getCondition ==
      "SPLICE_TABLE.FORMAT_NOT_FOUND")
    val path                           = table("columns")
    def by(options: (String, String)*) = condition(read(path, options: _*).positions).getCondition
    assert(by("sliceBy" -> "nothing") == "SPLICE_TABLE_OPTION.COLUMN_NOT_FOUND")
    assert(by("sliceBy" -> "id") == "SPLICE_TABLE_OPTION.WIDTH_NOT_SET")
    assert(by("sliceBy" -> "id", "sliceEvery" -> "1d") == "SPLICE_TABLE_OPTION.INVALID_WIDTH")
    assert(by("sliceBy" -> "id", "sliceEvery" -> "0.001") == "SPLICE_TABLE_OPTION.TOO_MANY_SLICES")
  }

  test(
    "a restart may name the fixed version, for example after the type of a column has changed, and no other version"
  ) {
    val table = new CopiedTable(Files.createDirectory(folder.resolve("renamed")))
    table.commit()
    val log                         = new MemorySideLog
    def of(more: (String, String)*) = source(Seq("format" -> "delta", "path" -> table.path.toString) ++ more: _*)
    val first                       = new TableRead(of(), log)
    assert(first.positions.size == 2)
    table.commit()
    assert(new TableRead(of("versionAsOf" -> "0"), log).batches().flatten.size == 100)
    val error = condition(new TableRead(of("versionAsOf" -> "1"), log).batches())
    assert(error.getCondition == "SPLICE_TABLE_OPTION.VERSION_CHANGED" &&
      error.getMessage.contains("'versionAsOf' = '1'"))
  }

  test("the session settings of the first start apply to the predicate of a later run") {
    val path = table("session")
    val log  = new MemorySideLog
    def of   = source("format" -> "delta", "path" -> path, "where" -> "CAST('x' || id AS INT) IS NULL")
    spark.conf.set(SQLConf.ANSI_ENABLED.key, false)
    try {
      assert(new TableRead(of, log).positions.nonEmpty)
      spark.conf.set(SQLConf.ANSI_ENABLED.key, true)
      assert(ids(new TableRead(of, log).batches().flatten).size == 100)
    } finally spark.conf.unset(SQLConf.ANSI_ENABLED.key)
  }

  test("the last batch of a writing query is found in the pinned version, and a restore undoes later batches") {
    val path                      = at("written")
    val in                        = at("written-in")
    def write(from: Long): String = {
      spark.range(from, from + 2, 1, 1).write.mode(SaveMode.Append).parquet(in)
      val query = spark.readStream.schema("id BIGINT").parquet(in)
        .writeStream.format("delta").option("checkpointLocation", at("written-checkpoint"))
        .trigger(Trigger.AvailableNow()).start(path)
      query.awaitTermination()
      query.id.toString
    }
    val query = (0 until 3).map(i => write(i * 2L)).last
    spark.range(90, 91).write.format("delta").mode(SaveMode.Append).save(path)
    def last(options: (String, String)*) = read(path, options: _*).evidence.lastBatch(query)
    assert(last().contains(2L) && last("versionAsOf" -> "1").contains(1L))
    assert(read(path).evidence.lastBatch("another").isEmpty)
    sql(s"RESTORE TABLE delta.`$path` TO VERSION AS OF 1")
    assert(last().contains(1L))
    assert(write(6L) == query && last().contains(3L))
  }
}
