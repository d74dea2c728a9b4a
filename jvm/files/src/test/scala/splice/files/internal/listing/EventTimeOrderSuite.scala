// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.listing

import java.nio.file.{Files, Paths}
import java.time.{Clock, Instant}

import scala.util.{Random, Using}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.files.internal.split.ListedFile
import splice.files.{LocalSpark, SourceRead}
import splice.source.errors.SpliceException
import splice.source.runtime.ProgressMetric
import splice.source.{EnumeratorContext, ReadMode, SplitEnumerator, StartPosition, TimeRange}

/** Tests of the order of files by the times of a column. */
final class EventTimeOrderSuite extends AnyFunSuite with LocalSpark {

  private def file(name: String) = ListedFile(name, 1, 0, splittable = false, InternalRow.empty)

  /** The delay that reads of whole files in an order need, by Spark's rule for late rows. */
  private def needed(order: Seq[TimeRange]): Long = order.indices.map { i =>
    order.take(i).map(_.last.toEpochMilli).maxOption
      .fold(0L)(newest => math.max(newest - order(i).first.toEpochMilli + 1, 0L))
  }.maxOption.getOrElse(0L)

  test("no other order of the files needs a smaller delay, and the delay is exact") {
    val random = new Random(7)
    (1 to 500).foreach { n =>
      val ranges = Seq.fill(1 + random.nextInt(6)) {
        val first = random.nextInt(20).toLong
        TimeRange(Instant.ofEpochMilli(first), Instant.ofEpochMilli(first + random.nextInt(10)))
      }
      val byName = ranges.zipWithIndex.map { case (range, i) => s"f$i" -> range }.toMap
      val found  = EventTimeOrder(byName.toSeq.map { case (name, range) => file(name) -> Some(range) })
      val least  = ranges.permutations.map(needed).min
      assert(needed(found.files.map(f => byName(f.path))) == least, s"world $n: $ranges")
      assert(found.delay.fold(0L)(_.needed.toMillis) == least, s"world $n: $ranges")
    }
  }

  test("files without a value of the column are first") {
    val range = TimeRange(Instant.EPOCH, Instant.EPOCH)
    val found = EventTimeOrder(Seq(file("a") -> Some(range), file("b") -> None))
    assert(found.files.map(_.path) == Seq("b", "a") && found.delay.isEmpty)
  }

  private val start = Instant.parse("2026-05-01T00:00:00Z")

  /** Writes a file with two rows, whose times are these seconds after a start. */
  private def write(path: String, id: Int, kind: String, format: String, type96: Boolean = false)(
      first: Int,
      last: Int
  ): Unit = {
    def at(second: Int) = s"CAST(TIMESTAMP'2026-05-01T00:00:00Z' + INTERVAL '$second' SECOND AS $kind) AS at"
    val rows            = spark.range(1).selectExpr(s"$id AS id", at(first))
      .union(spark.range(1).selectExpr(s"$id AS id", at(last)))
    spark.conf.set("spark.sql.parquet.outputTimestampType", if (type96) "INT96" else "TIMESTAMP_MICROS")
    try rows.coalesce(1).write.mode("append").format(format).save(path)
    finally spark.conf.unset("spark.sql.parquet.outputTimestampType")
  }

  /** The ids of the files in their order, with the delay in the progress. */
  private def read(format: String, path: String, more: (String, String)*): (Seq[String], Option[String]) = {
    val options   = Seq("format" -> format, "path" -> path, "maxFilesPerTrigger" -> "1") ++ more
    val run       = SourceRead(options: _*)
    val positions = run.positions
    val columns   = StructType(run.source.schema.filter(_.name == "id"))
    val ids       = positions.zip(positions.drop(1)).flatMap { case (from, until) =>
      run.rows(columns, run.enumerator.splits(from, until)).distinct
    }
    ids -> run.enumerator.figures(positions.last).get(ProgressMetric.DelayNeeded)
  }

  private val byTime = "orderBy" -> "eventTime:at"

  Seq("parquet" -> "TIMESTAMP", "parquet" -> "TIMESTAMP_NTZ", "orc" -> "TIMESTAMP").foreach { case (format, kind) =>
    test(s"$format: files with a column of type $kind are in the order of the middle of their times") {
      val path = at(s"order-$format-$kind")
      Seq(1 -> (50 -> 60), 2 -> (0 -> 40), 3 -> (30 -> 45)).foreach { case (id, (first, last)) =>
        write(path, id, kind, format)(first, last)
      }
      assert(read(format, path, byTime) == (Seq("[0,2]", "[0,3]", "[0,1]") -> Some("10001")))
      assert(read(format, path)._2.isEmpty)
    }
  }

  test("a file whose column has only nulls, and a file without the column, are first") {
    val path = at("order-nulls")
    write(path, 1, "TIMESTAMP_NTZ", "parquet")(1, 2)
    spark.range(1).selectExpr("2 AS id", "CAST(NULL AS TIMESTAMP_NTZ) AS at").write.mode("append").parquet(path)
    spark.range(1).selectExpr("3 AS id").write.mode("append").parquet(path)
    val (ids, delay) = read("parquet", path, byTime, "schema" -> "id INT, at TIMESTAMP_NTZ")
    assert(ids.last == "[0,1]" && ids.toSet == Set("[0,1]", "[0,2]", "[0,3]") && delay.contains("0"))
  }

  test("a partition column orders files of each format, without statistics") {
    val path = at("order-folders")
    Seq(2 -> "2026-05-02", 1 -> "2026-05-01", 3 -> "2026-05-03").foreach { case (id, day) =>
      spark.range(1).selectExpr(s"$id AS id").write.mode("append").json(s"$path/AT=$day")
    }
    assert(read("json", path, byTime) == (Seq("[0,1]", "[0,2]", "[0,3]") -> Some("0")))
  }

  private def refused(format: String, path: String, order: String): SpliceException =
    intercept[SpliceException](read(format, path, "orderBy" -> order))

  test("files without statistics are an error that names the option, the column and the file") {
    val path = at("order-int96")
    write(path, 1, "TIMESTAMP", "parquet", type96 = true)(1, 2)
    val error = refused("parquet", path, "eventTime:at")
    assert(error.getCondition == "SPLICE_FILES_OPTION.STATISTICS_NOT_FOUND")
    Seq("'orderBy'", "'at'", "part-").foreach(text => assert(error.getMessage.contains(text)))
    Files.writeString(Paths.get(path, "broken.parquet"), "PAR")
    assert(intercept[SpliceException](read("parquet", path, byTime, "schema" -> "id INT, at TIMESTAMP"))
      .getMessage.contains("broken.parquet"))
  }

  test("a column without times is an error that names the allowed columns") {
    val path = at("order-types")
    write(path, 1, "TIMESTAMP", "parquet")(1, 2)
    val lines = at("order-lines")
    spark.range(1).selectExpr("TIMESTAMP'2026-05-01T00:00:00Z' AS at").write.json(lines)
    Seq(refused("parquet", path, "eventTime:id"), refused("parquet", path, "eventTime:none")).foreach { error =>
      assert(error.getCondition == "SPLICE_FILES_OPTION.TIME_COLUMN_NOT_SUPPORTED" &&
        error.getMessage.contains("'orderBy'"))
    }
    assert(intercept[SpliceException](read("json", lines, byTime, "schema" -> "at TIMESTAMP"))
      .getCondition == "SPLICE_FILES_OPTION.TIME_COLUMN_NOT_SUPPORTED")
  }

  test("the warning of a plan has the delay, and both files") {
    val path = at("order-plan")
    write(path, 1, "TIMESTAMP", "parquet")(0, 40)
    write(path, 2, "TIMESTAMP", "parquet")(30, 60)
    val source  = SourceRead.source("format" -> "parquet", "path" -> path, byTime)
    val context = EnumeratorContext(new MemorySideLog, ReadMode.Stream, Clock.systemUTC(), 2, "order")
    Using.resource(SplitEnumerator.untyped(source, context)) { e =>
      val warnings = e.outlook().warnings
      val _        = e.start(StartPosition.Configured)
      assert(e.outlook().warnings == warnings)
      assert(warnings.size == 1 && warnings.head.contains("10001 ms"), warnings)
      Seq(start.plusSeconds(40), start.plusSeconds(30)).foreach(time => assert(warnings.head.contains(time.toString)))
    }
  }
}
