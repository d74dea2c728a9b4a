// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.errors

import java.time.Clock

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.SparkSqlParser
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.source.options.SourceOptions
import splice.source.{EnumeratorContext, Limits, ReadMode, StartPosition}
import splice.tables.DeltaSpark
import splice.tables.internal.enumerator.{TableEnumerator, TablePosition}
import splice.tables.internal.options.TableSettings
import splice.tables.internal.table.TableReader

/** Tests of the condition of an error of Spark, which decides the next step of the user. */
final class TableErrorsSuite extends AnyFunSuite with DeltaSpark {

  private lazy val parquet: String = {
    spark.range(4).write.parquet(at("parquet"))
    at("parquet")
  }

  private lazy val delta: String = {
    val table = new CopiedTable(folder.resolve("delta"))
    (1 to 2).foreach(_ => table.commit())
    table.path.toString
  }

  /** Condition and message of the error of a start. */
  private def failure(options: (String, String)*): (String, String) = condition {
    val made = source(options: _*)
    val _    = made.schema
    made.enumerator(context).start(StartPosition.Configured)
  }

  private def condition(body: => Any): (String, String) = intercept[Exception](body) match {
    case e: SparkThrowable => e.getCondition -> e.getMessage
    case other             => fail(other)
  }

  private def context =
    EnumeratorContext(new MemorySideLog, ReadMode.Stream, Clock.systemUTC(), 2, "test")

  test("options that locate a table of a format are accepted, although 'dbtable' resembles 'table'") {
    val jdbc = Seq("format" -> "jdbc", "url" -> "jdbc:nosuch:orders", "onNoVersion" -> "warn")
    Seq("dbtable" -> "orders", "query" -> "SELECT 1").foreach { place =>
      assert(failure(jdbc :+ place: _*)._1 == "SPLICE_TABLE.DRIVER_NOT_FOUND", place)
    }
    assert(failure("format" -> "delta", "path" -> delta, "tables" -> "a")._1 == "SPLICE_OPTION.UNKNOWN")
  }

  test("a format without its jar, and a text that is not the name of a table") {
    assert(failure("format" -> "nosuch", "path" -> "/lake")._1 == "SPLICE_TABLE.FORMAT_NOT_FOUND")
    assert(failure("table" -> "lake..orders")._1 == "SPLICE_TABLE.TABLE_NOT_READABLE")
  }

  test("a missing version, and a format without versions") {
    val (condition, text) = failure("format" -> "delta", "path" -> delta, "versionAsOf" -> "9")
    assert(condition == "SPLICE_TABLE.VERSION_NOT_FOUND")
    assert(text.contains("'versionAsOf' = 9"))
    Seq("2001-01-01", "2101-01-01").foreach { time =>
      val found = failure("format" -> "delta", "path" -> delta, "timestampAsOf" -> time)
      assert(found._1 == "SPLICE_TABLE.VERSION_NOT_FOUND", time)
    }
    Seq("versionAsOf" -> "9", "timestampAsOf" -> "2101-01-01").foreach { version =>
      val found = failure("format" -> "parquet", "path" -> parquet, "onNoVersion" -> "warn", version)
      assert(found._1 == "SPLICE_TABLE_OPTION.VERSION_NOT_SUPPORTED", version)
    }
  }

  test("a session without the SQL extension of Delta") {
    val settings = TableSettings(SourceOptions(Map("format" -> "delta", "path" -> delta)))
    val reader   = new TableReader(settings)
    // Spark's parser reads the statement of Delta as a description of a column of a table HISTORY.
    val plan  = new SparkSqlParser().parsePlan(s"DESCRIBE HISTORY delta.`$delta`")
    val state = spark.asInstanceOf[classic.SparkSession].sessionState
    val found = condition(reader.explained(None)(state.executePlan(plan).assertAnalyzed()))
    assert(found._1 == "SPLICE_TABLE.EXTENSION_NOT_FOUND")
  }

  test("a column that has another type in the version that the query reads") {
    val path                = at("typed")
    def write(kind: String) = spark.range(4).selectExpr(s"CAST(id AS $kind) AS id").write.format("delta")
      .mode("overwrite").option("overwriteSchema", "true").save(path)
    val stored = context
    def run()  = {
      val made = source("format" -> "delta", "path" -> path)
      made.enumerator(stored.copy(columns = Some(made.schema)))
    }
    write("BIGINT")
    val start = run().start(StartPosition.Configured)
    write("STRING")
    val (found, text) = condition {
      val later = run().asInstanceOf[TableEnumerator]
      later.advance(start.asInstanceOf[TablePosition], Limits.Everything)
    }
    assert(found == "SPLICE_TABLE.COLUMN_CHANGED")
    Seq("Column id", "BIGINT", "STRING").foreach(words => assert(text.contains(words)))
  }

  test("an error of an option keeps its condition") {
    val options = Seq("format" -> "delta", "path" -> delta, "sliceBy" -> "id")
    assert(failure(options: _*)._1 == "SPLICE_TABLE_OPTION.WIDTH_NOT_SET")
    assert(failure(options :+ ("sliceEvery" -> "1d"): _*)._1 == "SPLICE_TABLE_OPTION.INVALID_WIDTH")
    assert(failure("format" -> "parquet", "path" -> parquet)._1 == "SPLICE_TABLE.NO_VERSIONS")
  }
}
