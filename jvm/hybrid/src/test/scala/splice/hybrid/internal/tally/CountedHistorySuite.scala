// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.tally

import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Path}
import java.time.Instant

import scala.annotation.tailrec
import scala.reflect.ClassTag
import scala.util.Using

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.hybrid.internal.chain.LegEnumerators
import splice.hybrid.internal.options.ChainParser
import splice.hybrid.{Legs, LocalSpark}
import splice.source._
import splice.source.errors.SpliceException
import splice.source.log.OffsetRuns
import splice.source.options.SourceOptions
import splice.source.runtime.{Jobs, Report}

/** Tests of row counts of files by task readers and by a job. */
final class CountedHistorySuite extends AnyFunSuite with LocalSpark {

  private lazy val folder: Path = Files.createTempDirectory("splice-counted")

  private val exact = Seq("handOver" -> "offsets")

  private def byTime(column: String, zone: String*) =
    Seq("handOver" -> "eventTime", "handOver.column" -> column, "handOver.overlap" -> "0s") ++
      zone.map("handOver.zone" -> _)

  private object NoJobs extends Jobs {
    override def run[A, B: ClassTag](inputs: Seq[A])(near: A => Seq[String])(task: A => B): Seq[B] =
      fail(s"a job reads $inputs")
  }

  /** History of files that was read to its end. */
  private class World(rule: Seq[(String, String)], options: (String, String)*)(jobs: Jobs = Jobs.InThread) {
    private val own   = Seq("source" -> "files", "format" -> "parquet") ++ options
    private val named = "history" -> own.toMap.toSeq
    val chain         = ChainParser.parse(SourceOptions(Legs.options(named, Legs.live(Legs.log(), rule: _*))))
    val context       = Legs.context(new MemorySideLog).copy(jobs = jobs)
    val enumerators   = new LegEnumerators(chain, context)(_ => None)
    val tallies       = new Tallies(chain, context, enumerators, _ => false, _.source.schema)
    val leg           = chain.first

    private def inner = enumerators(leg)(identity)

    lazy val start: Position = inner.start(StartPosition.Configured)
    lazy val until: Position = last(start)

    @tailrec private def last(at: Position): Position = {
      val next = inner.advance(at, Limits.Everything)
      if (next == at) at else last(next)
    }

    lazy val end: Evidence = {
      val at = until
      tallies.ended(leg, at, inner.evidence(at).get)
    }

    /** Reads all ranges as tasks do, and delivers their reports. */
    def read(requested: StructType, asBatches: Boolean): Seq[Report] = {
      val ranges         = inner.splits(start, until)
      val (wanted, plan) = tallies.plan(leg, requested).get
      val readers        = inner.readers(wanted, ranges)
      val reports        = ranges.flatMap { range =>
        val task = TaskRanges(None, IndexedSeq(range))
        if (asBatches) all(plan.batches(readers.batches(task), task)) else all(plan.rows(readers.rows(task), task))
      }
      tallies.reported(reports)
      reports
    }

    private def all(reader: SplitReader[_]): Seq[Report] = Using.resource(reader) { open =>
      assert(open.report(ended = false).isEmpty)
      while (SplitReader.hasNext(open)) ()
      open.report(ended = true)
    }
  }

  private def world(options: (String, String)*) = new World(exact, options: _*)()

  private def archive(name: String, rows: DataFrame, files: Int = 3): String = {
    rows.repartition(files).write.parquet(at(name))
    at(name)
  }

  private def at(name: String): String = folder.resolve(name).toString

  private def records(topic: String, partition: Int, offsets: Seq[Long]): DataFrame = {
    val session = spark
    import session.implicits._
    offsets.toDF("offset").select(lit(topic).as("topic"), lit(partition).as("partition"), col("offset"))
  }

  private lazy val mixed: String = archive(
    "holes",
    records("a", 0, 0L to 99L) union records("a", 1, (10L to 19L) ++ (10L to 19L)) union
      records("a", 2, (0L to 49L) ++ (100L to 200L)) union records("b", 0, Seq(7L)) union
      records("b", 1, (0L to 98L by 2) :+ 99L)
  )

  private val accepted = Seq("onDuplicates" -> "warn")

  private def checkMixed(found: Seq[OffsetSummary]): Unit = {
    assert(found.map(s => (s.partition.toString, s.from, s.until, s.offsets.count)) ==
      Seq(("a-0", 0, 100, 100), ("a-1", 10, 20, 10), ("a-2", 0, 201, 151), ("b-0", 7, 8, 1), ("b-1", 0, 100, 51)))
    def holes(i: Int) = found(i).offsets.holes(found(i).from, found(i).until).toSeq
    assert(holes(2) == Seq((50L, 100L)))
    assert(found.map(_.offsets.rows) == Seq(100, 20, 151, 1, 51))
    assert(found.map(_.offsets.repeated.toSeq) == Seq(Nil, Seq(10L -> 20L), Nil, Nil, Nil))
    assert(holes(4) == (1L to 97L by 2).map(o => o -> (o + 1)))
    assert(Seq(0, 1, 3).forall(holes(_).isEmpty))
  }

  test("a job counts offsets with holes and duplicates in files with mixed partitions") {
    checkMixed(new World(exact ++ accepted, "path" -> mixed)().end.offsets())
  }

  for {
    asBatches <- Seq(false, true)
    requested <- Seq(Nil, Seq("offset"), Seq("topic", "partition", "offset"))
  } test(s"tasks count the same without a job, batches = $asBatches, selected = '${requested.mkString(", ")}'") {
    val own      = new World(exact ++ accepted, "path" -> mixed)(NoJobs)
    val selected = StructType(requested.map(own.leg.source.schema(_)))
    own.read(selected, asBatches)
    own.read(selected, asBatches)
    checkMixed(own.end.offsets())
  }

  test("a job counts only the ranges without a report") {
    var read = Seq.empty[Seq[SplitRange]]
    object Counted extends Jobs {
      override def run[A, B: ClassTag](inputs: Seq[A])(near: A => Seq[String])(task: A => B): Seq[B] = {
        read :+= inputs.collect { case range: SplitRange => range }
        inputs.map(task)
      }
    }
    val own     = new World(exact ++ accepted, "path" -> mixed, "maxPartitionBytes" -> "100")(Counted)
    val before  = own.enumerators(own.leg)(_.splits(own.start, own.until))
    val reports = new World(exact ++ accepted, "path" -> mixed, "maxPartitionBytes" -> "100")().read(
      new StructType(),
      asBatches = true
    )
    assert(before.size > 10 && reports.size == before.size)
    own.tallies.reported(reports.drop(4))
    checkMixed(own.end.offsets())
    assert(read.flatten.flatMap(_.extents).toSet == before.take(4).flatMap(_.extents).toSet)
  }

  test("topic and partition may be partition columns, and narrow types are counted") {
    val rows = (records("t", 0, 0L to 9L) union records("t", 1, 5L to 6L)).select(
      col("topic"),
      col("partition"),
      col("offset").cast("int").as("offset")
    )
    rows.write.partitionBy("topic", "partition").orc(at("folders"))
    val expected             = Seq((LogPartition("t", 0), 0, 9), (LogPartition("t", 1), 5, 6))
    def found(end: Evidence) = end.offsets().map(s => (s.partition, s.from, s.until - 1))
    assert(found(world("format" -> "orc", "path" -> at("folders")).end) == expected)
    Seq(true, false).foreach { asBatches =>
      val own = new World(exact, "format" -> "orc", "path" -> at("folders"))(NoJobs)
      own.read(new StructType(), asBatches)
      assert(found(own.end) == expected)
    }
    archive("short", rows.withColumn("partition", col("partition").cast("short")))
    assert(world("path" -> at("short")).end.offsets().map(_.offsets.count) == Seq(10, 2))
  }

  test("offsets of text formats are counted by columns with other names and case") {
    records("t", 3, 1L to 5L).toDF("T", "P", "O").write.json(at("json"))
    val named = exact ++ Seq("topic", "partition", "offset").map(name => s"handOver.$name" -> name.take(1))
    val ofLeg = "logColumns" -> """{"topic":"t","partition":"P","offset":"o"}"""
    Seq(named -> Nil, exact -> Seq(ofLeg)).foreach { case (rule, more) =>
      val own = new World(rule, Seq("format" -> "json", "path" -> at("json")) ++ more: _*)(NoJobs)
      own.read(StructType.fromDDL("O BIGINT"), asBatches = false)
      assert(own.end.offsets() == Seq(OffsetSummary(LogPartition("t", 3), OffsetRuns.of(1L -> 6L))))
    }
  }

  test("rows without a valid offset are counted and rejected") {
    val rows  = records("t", 0, 0L to 9L).withColumn("partition", when(col("offset") < 7, col("partition")))
    val path  = archive("nulls", rows)
    val error = intercept[SpliceException](world("path" -> path).end)
    assert(error.getCondition == "SPLICE_HAND_OVER_DATA.INVALID_OFFSETS")
    Seq("'partition'", "in 3 rows", "'history'", path).foreach(words => assert(error.getMessage.contains(words)))
    // The second call finds the finished count in the side log, as a later start with the same rule does.
    val counted = world("path" -> path)
    Seq(1, 2).foreach { _ =>
      assert(intercept[SpliceException](counted.end).getCondition == "SPLICE_HAND_OVER_DATA.INVALID_OFFSETS")
    }
    val negative = archive("negative", records("t", 0, Seq(-1L, 4L)))
    Seq(true, false).foreach { asBatches =>
      val own = new World(exact, "path" -> negative)(NoJobs)
      own.read(new StructType(), asBatches)
      val error = intercept[SpliceException](own.end)
      assert(error.getMessage.contains("'offset'") && error.getMessage.contains("in 1 rows"), error.getMessage)
    }
  }

  test("missing columns and columns of another type are reported before data is read") {
    val path = archive("types", records("t", 0, 0L to 9L).withColumn("text", col("offset").cast("string")))
    def refused(rule: (String, String)*) =
      intercept[SpliceException](new World(rule, "path" -> path)().tallies.checkColumns())
    val absent = refused(exact :+ "handOver.offset" -> "kafka_offset": _*)
    assert(absent.getCondition == "SPLICE_HAND_OVER.COLUMN_NOT_FOUND")
    Seq(
      "kafka_offset",
      "topic, partition, offset, text",
      path,
      "Set 'history.logColumns' to the columns of leg 'history', or to 'none'",
      "'live.handOver.offset'"
    ).foreach(words => assert(absent.getMessage.contains(words), absent.getMessage))
    val own     = "logColumns" -> """{"topic":"topic","partition":"partition","offset":"text"}"""
    val ownType = intercept[SpliceException](new World(exact, "path" -> path, own)().tallies.checkColumns())
    assert(ownType.getCondition == "SPLICE_HAND_OVER.COLUMN_TYPE_MISMATCH")
    assert(ownType.getMessage.contains("'text'") && ownType.getMessage.contains("Correct 'history.logColumns'"))
    val typed = refused(exact :+ "handOver.offset" -> "text": _*)
    assert(typed.getCondition == "SPLICE_HAND_OVER.COLUMN_TYPE_MISMATCH" && typed.getMessage.contains("STRING"))
    val time = refused(byTime("offset"): _*)
    assert(time.getMessage.contains("BIGINT") && time.getMessage.contains("'live.handOver.column'"))
  }

  test("a hand-over matches columns case-sensitively in a case-sensitive session") {
    spark.conf.set("spark.sql.caseSensitive", "true")
    try {
      spark.sql("SELECT 1L AS o, 'text' AS O, 't' AS topic, 0 AS partition").write.parquet(at("cases"))
      def found(name: String) =
        new World(exact :+ "handOver.offset" -> name, "path" -> at("cases"))().end.offsets()
      assert(found("o").map(_.until) == Seq(2))
      assert(intercept[SpliceException](found("O")).getCondition == "SPLICE_HAND_OVER.COLUMN_TYPE_MISMATCH")
    } finally spark.conf.unset("spark.sql.caseSensitive")
  }

  test("event times of every time type are counted, and nulls are ignored") {
    val times = spark.range(0, 1000).select(
      timestamp_micros(col("id") * 1000001).as("instant"),
      expr("TIMESTAMP_NTZ '2026-03-01 12:00:00' + make_interval(0, 0, 0, CAST(id AS INT) % 7)").as("local"),
      expr("DATE '2026-01-31' + CAST(id % 5 AS INT)").as("day"),
      expr("CAST(NULL AS TIMESTAMP)").as("never")
    )
    val path                                 = archive("times", times)
    def range(first: String, last: String)   = Some(TimeRange(Instant.parse(first), Instant.parse(last)))
    def found(column: String, zone: String*) = {
      val all = Seq(None, Some(true), Some(false)).map { asBatches =>
        val own = new World(byTime(column, zone: _*), "path" -> path)(if (asBatches.isEmpty) Jobs.InThread else NoJobs)
        asBatches.foreach(own.read(StructType.fromDDL("day DATE"), _))
        own.end.eventTimes()
      }
      assert(all.distinct.size == 1)
      all.head
    }
    assert(found("instant") == range("1970-01-01T00:00:00Z", "1970-01-01T00:16:39.000999Z"))
    assert(found("never").isEmpty)
    assert(found("local", "Asia/Tokyo") == range("2026-03-01T03:00:00Z", "2026-03-07T03:00:00Z"))
    assert(found("DAY", "Asia/Tokyo") == range("2026-01-30T15:00:00Z", "2026-02-03T15:00:00Z"))
    Seq("local", "day").foreach { column =>
      val error = intercept[SpliceException](found(column))
      assert(error.getCondition == "SPLICE_HAND_OVER.COLUMN_TYPE_MISMATCH")
      assert(error.getMessage.contains("handOver.zone"))
    }
    times.where("false").write.parquet(at("no rows"))
    val empty = new World(byTime("instant"), "path" -> at("no rows"), "schema" -> "instant TIMESTAMP")()
    assert(empty.end.eventTimes().isEmpty)
  }

  test("event times use the settings of the first start") {
    Files.createDirectories(folder.resolve("parser"))
    Files.writeString(folder.resolve("parser/a.csv"), "2026-1-1 0:0:0\n")
    val csv    = Seq("format" -> "csv", "schema" -> "t TIMESTAMP", "timestampFormat" -> "yyyy-MM-dd HH:mm:ss")
    val parser = "spark.sql.legacy.timeParserPolicy"
    spark.conf.set(parser, "LEGACY")
    val parsed = new World(byTime("t"), csv :+ "path" -> at("parser"): _*)()
    spark.conf.unset(parser)
    assert(parsed.end.eventTimes().map(_.first).contains(Instant.parse("2026-01-01T00:00:00Z")))
  }

  test("the file list has the modification times, and an empty folder has neither times nor offsets") {
    val path  = archive("modified", records("t", 0, 0L to 9L), files = 2)
    val files = Files.list(folder.resolve("modified")).toArray.collect {
      case file: Path if file.toString.endsWith(".parquet") => file
    }
    files.zip(Seq("2026-01-01T00:00:00Z", "2026-02-01T00:00:01Z")).foreach { case (file, time) =>
      Files.setLastModifiedTime(file, FileTime.from(Instant.parse(time)))
    }
    assert(world("path" -> path).end.modificationTimes().contains(TimeRange(
      Instant.parse("2026-01-01T00:00:00Z"),
      Instant.parse("2026-02-01T00:00:01Z")
    )))
    Files.createDirectories(folder.resolve("empty"))
    val schema = "schema" -> "topic STRING, partition INT, offset BIGINT, at TIMESTAMP"
    val empty  = new World(exact, "path" -> at("empty"), schema, "onEmpty" -> "warn")(NoJobs).end
    assert(empty.modificationTimes().isEmpty && empty.offsets().isEmpty)
  }
}
