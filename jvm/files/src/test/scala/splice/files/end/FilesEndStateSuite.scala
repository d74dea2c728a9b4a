// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.end

import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Paths}
import java.time.Instant

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.scalatest.funsuite.AnyFunSuite

import splice.files.{LocalSpark, SourceRead}
import splice.source._

/** What a hand-over learns from files that have been read. */
final class FilesEndStateSuite extends AnyFunSuite with LocalSpark {

  private val columns = OffsetColumns("topic", "partition", "offset")

  private def end(options: (String, String)*): EndState = {
    val read = SourceRead(Seq("format" -> "parquet") ++ options: _*)
    val all  = read.positions
    assert(all.init.forall(read.enumerator.end(_).isEmpty))
    read.enumerator.end(all.last).get
  }

  private def archive(name: String, rows: DataFrame, files: Int = 3): String = {
    rows.repartition(files).write.parquet(at(name))
    at(name)
  }

  private def records(topic: String, partition: Int, offsets: Seq[Long]): DataFrame = {
    val session = spark
    import session.implicits._
    offsets.toDF("offset").select(lit(topic).as("topic"), lit(partition).as("partition"), col("offset"))
  }

  test("offsets with holes and duplicates, partitions mixed in every file") {
    val rows = records("a", 0, 0L to 99L) union records("a", 1, (10L to 19L) ++ (10L to 19L)) union
      records("a", 2, (0L to 49L) ++ (100L to 200L)) union records("b", 0, Seq(7L)) union
      records("b", 1, (0L to 98L by 2) :+ 99L)
    val found = end("path" -> archive("holes", rows)).offsets(columns)
    assert(found.map(s => (s.partition.toString, s.first, s.last, s.count, s.missing)) ==
      Seq(
        ("a-0", 0, 99, 100, 0),
        ("a-1", 10, 19, 10, 0),
        ("a-2", 0, 200, 151, 50),
        ("b-0", 7, 7, 1, 0),
        ("b-1", 0, 99, 51, 49)
      ))
    assert(found(2).holes == Seq((50L, 100L)))
    assert(found.map(_.rows) == Seq(100, 20, 151, 1, 51))
    assert(found.map(_.repeated) == Seq(Nil, Seq(10L -> 20L), Nil, Nil, Nil))
    assert(found(4).holes.size == 49 && found(4).holes.take(2) == Seq((1L, 2L), (3L, 4L)))
    assert(Seq(0, 1, 3).forall(found(_).holes.isEmpty))
  }

  test("topic and partition given by folders, and narrow types") {
    val rows = (records("t", 0, 0L to 9L) union records("t", 1, 5L to 6L)).select(
      col("topic"),
      col("partition"),
      col("offset").cast("int").as("offset")
    )
    rows.write.partitionBy("topic", "partition").orc(at("folders"))
    val found = end("format" -> "orc", "path" -> at("folders")).offsets(columns)
    assert(found.map(s => (s.partition, s.first, s.last)) ==
      Seq((LogPartition("t", 0), 0, 9), (LogPartition("t", 1), 5, 6)))
    archive("short", rows.withColumn("partition", col("partition").cast("short")))
    assert(end("path" -> at("short")).offsets(columns).map(_.count) == Seq(10, 2))
  }

  test("offsets from text formats, by columns of other names in another case") {
    records("t", 3, 1L to 5L).toDF("T", "P", "O").write.json(at("json"))
    val found = end("format" -> "json", "path" -> at("json")).offsets(OffsetColumns("t", "p", "o"))
    assert(found == Seq(OffsetSummary(LogPartition("t", 3), 1, 5, 5, Nil, 5)))
  }

  test("rows that do not say which record they were are counted") {
    val rows  = records("t", 0, 0L to 9L).withColumn("partition", when(col("offset") < 7, col("partition")))
    val error = intercept[SpliceException](end("path" -> archive("nulls", rows)).offsets(columns))
    assert(error.getCondition == "SPLICE_FILES.INVALID_OFFSETS")
    assert(error.getMessage.contains("'partition'") && error.getMessage.contains("in 3 of them"))
    val negative =
      intercept[SpliceException](end("path" -> archive("negative", records("t", 0, Seq(-1L, 4L)))).offsets(columns))
    assert(negative.getMessage.contains("'offset'") && negative.getMessage.contains("in 1 of them"))
  }

  test("columns that are not there or of another type are named") {
    val path   = archive("types", records("t", 0, 0L to 9L).withColumn("text", col("offset").cast("string")))
    val state  = end("path" -> path)
    val absent = intercept[SpliceException](state.offsets(columns.copy(offset = "kafka_offset")))
    assert(absent.getCondition == "SPLICE_FILES.COLUMN_NOT_FOUND")
    assert(Seq("kafka_offset", "topic, partition, offset, text", path).forall(absent.getMessage.contains(_)))
    val typed = intercept[SpliceException](state.offsets(columns.copy(offset = "text")))
    assert(typed.getCondition == "SPLICE_FILES.COLUMN_TYPE" && typed.getMessage.contains("STRING"))
    assert(intercept[SpliceException](state.eventTimes("offset")).getMessage.contains("BIGINT"))
  }

  test("event times of every time type; nulls and absent rows say nothing") {
    val times = spark.range(0, 1000).select(
      timestamp_micros(col("id") * 1000001).as("instant"),
      expr("TIMESTAMP_NTZ '2026-03-01 12:00:00' + make_interval(0, 0, 0, CAST(id AS INT) % 7)").as("local"),
      expr("DATE '2026-01-31' + CAST(id % 5 AS INT)").as("day"),
      expr("CAST(NULL AS TIMESTAMP)").as("never")
    )
    val state                              = end("path" -> archive("times", times))
    def range(first: String, last: String) = Some(TimeRange(Instant.parse(first), Instant.parse(last)))
    assert(state.eventTimes("instant") == range("1970-01-01T00:00:00Z", "1970-01-01T00:16:39.000999Z"))
    assert(state.eventTimes("never").isEmpty)
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try {
      val tokyo = end("path" -> at("times"))
      assert(tokyo.eventTimes("local") == range("2026-03-01T03:00:00Z", "2026-03-07T03:00:00Z"))
      assert(tokyo.eventTimes("DAY") == range("2026-01-30T15:00:00Z", "2026-02-03T15:00:00Z"))
    } finally spark.conf.set("spark.sql.session.timeZone", "UTC")
    times.where("false").write.parquet(at("no rows"))
    val empty = end("path" -> at("no rows"), "schema" -> "instant TIMESTAMP")
    assert(empty.eventTimes("instant").isEmpty)
  }

  test("modification times come from the list, and an empty folder has neither times nor offsets") {
    val path  = archive("modified", records("t", 0, 0L to 9L), files = 2)
    val files = Files.list(
      Paths.get(path)
    ).toArray.map(_.asInstanceOf[java.nio.file.Path]).filter(_.toString.endsWith(".parquet"))
    files.zip(Seq("2026-01-01T00:00:00Z", "2026-02-01T00:00:01Z")).foreach { case (file, time) =>
      Files.setLastModifiedTime(file, FileTime.from(Instant.parse(time)))
    }
    val state = end("path" -> path)
    assert(state.modificationTimes.contains(TimeRange(
      Instant.parse("2026-01-01T00:00:00Z"),
      Instant.parse("2026-02-01T00:00:01Z")
    )))
    Files.createDirectories(Paths.get(at("empty")))
    val empty = end("path" -> at("empty"), "schema" -> "topic STRING, partition INT, offset BIGINT, at TIMESTAMP")
    assert(empty.modificationTimes.isEmpty && empty.eventTimes("at").isEmpty && empty.offsets(columns).isEmpty)
  }
}
