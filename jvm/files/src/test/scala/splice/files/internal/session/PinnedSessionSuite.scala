// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.session

import java.nio.file.{Files, Paths}
import java.time.Instant
import java.time.temporal.ChronoUnit

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.files.{LocalSpark, SourceRead}
import splice.source.internal.PinnedSession
import splice.source.runtime.{SessionSettings, SideLog}
import splice.testkit.LoggedMessages

/** Tests of session settings that affect values of files. The settings of the first start apply. */
final class PinnedSessionSuite extends AnyFunSuite with LocalSpark {

  private def within[A](settings: (String, String)*)(body: => A): A = {
    val before = settings.map { case (key, _) => key -> spark.conf.getOption(key) }
    settings.foreach { case (key, value) => spark.conf.set(key, value) }
    try body
    finally before.foreach { case (key, value) => value.fold(spark.conf.unset(key))(spark.conf.set(key, _)) }
  }

  private def zone(name: String) = "spark.sql.session.timeZone" -> name

  /** Writes two files with equal content. */
  private def write(name: String, text: String): Unit = Seq("a", "b").foreach { file =>
    Files.createDirectories(Paths.get(at(name)))
    Files.writeString(Paths.get(at(s"$name/$file")), text)
  }

  private def start(log: SideLog, format: String, name: String, options: (String, String)*): SourceRead = {
    val all = Seq("format" -> format, "path" -> at(name), "maxFilesPerTrigger" -> "1", "orderBy" -> "path") ++ options
    new SourceRead(SourceRead.source(all: _*), log, session = SessionSettings.pinned(log))
  }

  /** Returns the rows of two batches, which are read by two starts. The second start has the settings `after`. */
  private def batches(format: String, name: String, options: (String, String)*)(
      after: (String, String)
  ): (Seq[String], Seq[String]) = {
    val log           = new MemorySideLog
    def read(at: Int) = {
      val next = start(log, format, name, options: _*)
      val ends = next.positions
      next.rows(ranges = next.enumerator.splits(ends(at), ends(at + 1)))
    }
    (read(0), within(after)(read(1)))
  }

  test("the time zone of parsed timestamps is pinned") {
    write("zone", "2026-01-01 00:00:00\n")
    Seq("csv" -> "t TIMESTAMP", "csv" -> "t DATE, u TIMESTAMP").foreach { case (format, schema) =>
      val (before, after) = batches(format, "zone", "schema" -> schema)(zone("Asia/Tokyo"))
      assert(before == after && before.size == 1)
    }
    write("zone.json", """{"t":"2026-01-01 00:00:00"}""")
    val (before, after) = batches("json", "zone.json", "schema" -> "t TIMESTAMP")(zone("Asia/Tokyo"))
    assert(before == after)
  }

  test("the time parser policy, which tasks read for each row, is pinned") {
    write("parser", "2026-1-1 0:0:0\n")
    val options = Seq("schema" -> "t TIMESTAMP", "timestampFormat" -> "yyyy-MM-dd HH:mm:ss")
    val log     = new MemorySideLog
    val _       = within("spark.sql.legacy.timeParserPolicy" -> "LEGACY")(SessionSettings.pinned(log))
    val micros  = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.parse("2026-01-01T00:00:00Z"))
    assert(start(log, "csv", "parser", options: _*).rows() == Seq.fill(2)(s"[0,${micros.toHexString}]"))
    assert(start(new MemorySideLog, "csv", "parser", options: _*).rows() == Seq.fill(2)("[1,0]"))
  }

  test("dates in another format than that of the option are parsed or null as in the first start") {
    val options = Seq("schema" -> "t DATE", "dateFormat" -> "yyyy/MM/dd", "timestampFormat" -> "yyyy/MM/dd HH:mm")
    Seq("csv" -> "2026-01-02\n", "json" -> """{"t":"2026-01-02"}""").foreach { case (format, text) =>
      write(s"fallback.$format", text)
      val key             = s"spark.sql.legacy.$format.enableDateTimeParsingFallback"
      val (before, after) = batches(format, s"fallback.$format", options: _*)(key -> "true")
      assert(before == after && before == Seq("[1,0]"))
    }
  }

  test("the session of the thread is restored, even after an error") {
    val own    = SparkSession.active
    val pinned = new PinnedSession(SessionSettings(Seq(zone("Asia/Tokyo"))))
    assert(pinned.run(SparkSession.active.conf.get("spark.sql.session.timeZone")) == "Asia/Tokyo")
    assert(SparkSession.active eq own)
    assertThrows[IllegalStateException](pinned.run(throw new IllegalStateException("broken")))
    assert((SparkSession.active eq own) && own.conf.get("spark.sql.session.timeZone") == "UTC")
  }

  test("the column of corrupt records is pinned") {
    write("corrupt", "{\n")
    val key = "spark.sql.columnNameOfCorruptRecord"
    within(key -> "bad") {
      val (before, after) = batches("json", "corrupt", "schema" -> "id INT, bad STRING")(key -> "other")
      assert(before == after)
    }
  }

  test("a setting without a default that the first start did not set stays without a value") {
    val key = "spark.sql.binaryOutputStyle"
    val log = new MemorySideLog
    SessionSettings.pinned(log)
    within(key -> "HEX") {
      val conf = SessionSettings.pinned(log).conf
      assert(!conf.contains(key) && conf.getConf(SQLConf.BINARY_OUTPUT_STYLE).isEmpty)
    }
  }

  test("a rebase mode that is an error for old dates is not kept, so that another mode repairs the query") {
    val key = "spark.sql.parquet.datetimeRebaseModeInRead"
    val log = new MemorySideLog
    val _   = within(key -> "EXCEPTION")(SessionSettings.pinned(log))
    Seq("LEGACY", "CORRECTED").foreach { mode =>
      val used = within(key -> mode)(SessionSettings.pinned(log).conf.getConfString(key))
      assert(used == mode)
    }
    val legacy = new MemorySideLog
    within(key -> "LEGACY")(SessionSettings.pinned(legacy))
    assert(SessionSettings.pinned(legacy).conf.getConfString(key) == "LEGACY")
  }

  test("one warning has both values") {
    val log               = new MemorySideLog
    def pinned()          = LoggedMessages.during(classOf[SessionSettings].getName)(SessionSettings.pinned(log))
    val (first, no)       = pinned()
    val (again, warnings) = within(zone("Asia/Tokyo"), "spark.sql.caseSensitive" -> "true")(pinned())
    assert(no.isEmpty && again == first && warnings.size == 1)
    Seq(
      "spark.sql.session.timeZone is 'UTC', and 'Asia/Tokyo'",
      "spark.sql.caseSensitive is 'false', and 'true'"
    ).foreach {
      words => assert(warnings.head.contains(words))
    }
  }
}
