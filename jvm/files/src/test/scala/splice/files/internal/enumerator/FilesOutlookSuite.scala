// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.enumerator

import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Path, Paths}
import java.time.Instant

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.files.{FileSource, LocalSpark, SourceRead}
import splice.source.log.Outlook
import splice.source.runtime.SideLog
import splice.source.{EnumeratorContext, Position, ReadMode, SplitEnumerator, StartPosition, TimeRange}

/** Tests of the outlook of files before tasks read the files. */
final class FilesOutlookSuite extends AnyFunSuite with LocalSpark {

  private def enumerator[A](source: FileSource, log: SideLog = new MemorySideLog)(
      use: SplitEnumerator[Position] => A
  ): A = {
    val context = EnumeratorContext(log, ReadMode.Stream, java.time.Clock.systemUTC(), 2, "outlook")
    Using.resource(SplitEnumerator.untyped(source, context))(use)
  }

  private def data(path: String): Seq[Path] = Using.resource(Files.list(Paths.get(path))) { all =>
    all.iterator.asScala.filter(file => !file.getFileName.toString.matches("[._].*")).toSeq
  }

  Seq("parquet" -> Some(100L), "orc" -> Some(100L), "json" -> None).foreach { case (format, rows) =>
    test(s"$format: files, bytes, rows of footers and modification times, before and after the start") {
      val path = at(format)
      spark.range(0, 100, 1, 5).write.format(format).save(path)
      data(path).zipWithIndex.foreach { case (file, i) =>
        val _ = Files.setLastModifiedTime(file, FileTime.from(Instant.parse(s"2026-01-0${i + 1}T00:00:00Z")))
      }
      val source                      = SourceRead.source("format" -> format, "path" -> path)
      val log                         = new MemorySideLog
      def check(known: Outlook): Unit = {
        assert(known.files.contains(5L) && known.rows == rows && known.warnings.isEmpty)
        assert(known.bytes.contains(data(path).map(file => Files.size(file)).sum))
        assert(known.modified.contains(
          TimeRange(Instant.parse("2026-01-01T00:00:00Z"), Instant.parse("2026-01-05T00:00:00Z"))
        ))
      }
      enumerator(source, log)(run => check(run.outlook()))
      assert(log.keys("").isEmpty)
      enumerator(source, log) { run =>
        val _ = run.start(StartPosition.Configured)
        check(run.outlook())
      }
    }
  }

  Seq("parquet" -> "TIMESTAMP_MICROS", "parquet" -> "TIMESTAMP_MILLIS", "parquet" -> "INT96", "orc" -> "").foreach {
    case (format, kind) =>
      test(s"$format $kind: the outlook has the greatest times of footers") {
        val path = at(s"times-$format-$kind")
        spark.conf.set("spark.sql.parquet.outputTimestampType", if (kind.isEmpty) "INT96" else kind)
        try spark.range(0, 10, 1, 3).selectExpr(
            "id",
            "TIMESTAMP'2026-05-01T00:00:00Z' + make_interval(0, 0, 0, 0, 0, 0, 9 - id) AS at",
            "if(id < 7, NULL, TIMESTAMP'1969-12-31T23:59:50Z') AS old",
            "CAST(NULL AS TIMESTAMP) AS none",
            "TIMESTAMP_NTZ'2099-01-01 00:00:00' AS local",
            "named_struct('at', TIMESTAMP'2099-01-01T00:00:00Z') AS inner"
          ).write.format(format).save(path)
        finally spark.conf.unset("spark.sql.parquet.outputTimestampType")
        val expected =
          Map("at" -> Instant.parse("2026-05-01T00:00:09Z"), "old" -> Instant.parse("1969-12-31T23:59:50Z"))
        enumerator(SourceRead.source("format" -> format, "path" -> path)) { run =>
          // Parquet readers ignore the statistics of this type.
          assert(run.outlook().latest == (if (kind == "INT96") Map.empty else expected))
          assert(run.outlook().rows.contains(10L))
        }
      }
  }

  test("the outlook of a started source uses its list, without files that arrived later") {
    val path = at("grows")
    spark.range(0, 10, 1, 1).write.parquet(path)
    val log = new MemorySideLog
    enumerator(SourceRead.source("format" -> "parquet", "path" -> path), log)(_.start(StartPosition.Configured))
    spark.range(0, 10, 1, 1).write.mode("append").parquet(path)
    enumerator(SourceRead.source("format" -> "parquet", "path" -> path), log) { run =>
      assert(run.outlook().files.contains(1L) && run.outlook().rows.contains(10L))
    }
  }

  test("the counts of readable and unreadable footers are added over several tasks") {
    val path = at("several")
    spark.range(0, 40, 1, 20).write.parquet(path)
    def known(use: Outlook => Unit): Unit =
      enumerator(SourceRead.source("format" -> "parquet", "path" -> path, "schema" -> "id BIGINT"))(run =>
        use(run.outlook())
      )
    known(whole => assert(whole.files.contains(20L) && whole.rows.contains(40L)))
    Seq("a", "z").foreach(name => Files.writeString(Paths.get(path, s"$name.parquet"), "PAR"))
    known { broken =>
      assert(broken.rows.isEmpty && broken.warnings.size == 1)
      assert(broken.warnings.head.contains("2 files") && broken.warnings.head.contains("a.parquet"))
    }
  }

  test("files outside partition folders are a warning of the outlook") {
    Seq("mixed", "mixed/k=1").foreach(name => spark.range(0, 10, 1, 1).write.parquet(at(name)))
    enumerator(SourceRead.source("format" -> "parquet", "path" -> at("mixed"))) { run =>
      val known = run.outlook()
      assert(known.files.contains(1L) && known.warnings.size == 1)
      assert(known.warnings.head.contains("1 of 2 files"), known.warnings)
    }
  }

  test("an unreadable footer is a warning, and the number of rows is missing") {
    val path = at("broken")
    spark.range(0, 10, 1, 2).write.parquet(path)
    Files.writeString(Paths.get(path, "z.parquet"), "PAR")
    enumerator(SourceRead.source("format" -> "parquet", "path" -> path, "schema" -> "id BIGINT")) { run =>
      val known = run.outlook()
      assert(known.files.contains(3L) && known.rows.isEmpty)
      assert(known.warnings.size == 1 && known.warnings.head.contains("z.parquet"), known.warnings)
    }
  }
}
