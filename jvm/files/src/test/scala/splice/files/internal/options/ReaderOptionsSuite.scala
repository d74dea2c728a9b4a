// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.options

import java.nio.file.{Files, Paths}

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.files.storage.CountingFileSystem
import splice.files.{FileSource, LocalSpark, SourceRead}
import splice.source.errors.SpliceException
import splice.source.options.SourceOptions
import splice.source.runtime.SideLog
import splice.source.{Limits, SourceProvider, StartPosition}
import splice.testkit.internal.simulation.StoppingSideLog

/** Tests of changed format options at a restart. */
final class ReaderOptionsSuite extends AnyFunSuite with LocalSpark {

  private def write(name: String, text: String): Unit = {
    val file = Paths.get(at(name))
    Files.createDirectories(file.getParent)
    Files.writeString(file, text)
  }

  private def read(log: SideLog, format: String, name: String, options: (String, String)*): SourceRead = {
    val all =
      Seq("format" -> format, "path" -> s"counting://${at(name)}", "maxFilesPerTrigger" -> "1", "orderBy" -> "path")
    new SourceRead(SourceRead.source(all ++ options: _*), log)
  }

  /** Returns calls that read the batch of an earlier start and the next batch, in a start with `options`. */
  private def restarts(log: SideLog, format: String, name: String, options: (String, String)*): Seq[() => Any] = {
    def enumerator = read(log, format, name, options: _*).enumerator
    def first      = read(log, format, name, options: _*).source.position("""{"files":1,"v":1}""")
    def start      = read(log, format, name, options: _*).source.position("""{"files":0,"v":1}""")
    Seq(() => enumerator.splits(start, first), () => enumerator.advance(first, Limits.Everything))
  }

  private def assertRejected(starts: Seq[() => Any], words: String*): Unit = starts.foreach { start =>
    val error = intercept[SpliceException](start())
    assert(error.getCondition == "SPLICE_FILES_OPTION.READER_OPTION_CHANGED")
    words.foreach(word => assert(error.getMessage.contains(word)))
  }

  test("after the first read, a changed, added or removed option is an error") {
    Seq("a", "b").foreach(name => write(s"csv/$name.csv", "id;name\n1;x\n"))
    val log    = new MemorySideLog
    val before = Seq("header" -> "true", "sep" -> ";")
    assert(read(log, "csv", "csv", before: _*).rows().size == 2)
    def start(options: (String, String)*) = restarts(log, "csv", "csv", options: _*)
    assertRejected(start("header" -> "true", "sep" -> ","), "'sep' is ',' and was ';'", "Set 'sep' to ';'")
    assertRejected(start("header" -> "true"), "'sep' is not set and was ';'")
    assertRejected(start(before :+ "mode" -> "FAILFAST": _*), "'mode' is 'FAILFAST' and was not set", "Remove 'mode'")
    start("HEADER" -> "TRUE", "sep" -> ";").foreach(_())
    val unrelated =
      Seq("fs.counting.key" -> "k", "password" -> "x", "ignoreMissingFiles" -> "true", "modifiedAfter" -> "2026-01-01")
    start(before ++ unrelated: _*).foreach(_())
  }

  test("an error has the option with the prefix of its leg") {
    Seq("a", "b").foreach(name => write(s"leg/$name.csv", "1\n"))
    val log                  = new MemorySideLog
    def source(mode: String) = SourceProvider.create(
      SourceOptions(Map(
        "history.source" -> "files",
        "history.format" -> "csv",
        "history.path"   -> at("leg"),
        "history.mode"   -> mode
      ))
        .scope("history")
    ).asInstanceOf[FileSource]
    val until = new SourceRead(source("FAILFAST"), log).positions.last
    val next  = new SourceRead(source("PERMISSIVE"), log)
    assertRejected(
      Seq(() => next.enumerator.splits(next.source.position("""{"files":0,"v":1}"""), until)),
      "'history.mode'"
    )
  }

  test("a change between splittable and whole files is an error") {
    val options = Seq(
      ("json", "multiLine", (0 until 40).map(i => s"""{"id":$i}""").mkString("\n")),
      ("csv", "multiLine", (0 until 100).mkString("\n")),
      ("text", "wholetext", (0 until 100).mkString("\n"))
    )
    options.foreach { case (format, option, text) =>
      Seq("false" -> "true", "true" -> "false").foreach { case (before, after) =>
        write(s"split.$before.$format/a", text)
        val log                = new MemorySideLog
        def all(value: String) = Seq(option -> value, "maxPartitionBytes" -> "64")
        assert(read(log, format, s"split.$before.$format", all(before): _*).rows().nonEmpty)
        restarts(log, format, s"split.$before.$format", all(before.toUpperCase): _*).foreach(_())
        assertRejected(
          restarts(log, format, s"split.$before.$format", all(after): _*).take(1),
          s"'$option' is '$after' and was '$before'"
        )
      }
    }
  }

  test("before the first read, a start with other options lists again and uses its options") {
    Seq("a", "b").foreach(name => write(s"again/$name.csv", "id;name\n1;x\n"))
    val log             = new MemorySideLog
    val (first, second) = (Seq("sep" -> ";"), Seq("sep" -> ";", "header" -> "true"))
    val start           = read(log, "csv", "again", first: _*).enumerator.start(StartPosition.Configured)
    val next            = read(log, "csv", "again", second: _*)
    val until           = next.enumerator.advance(start, next.enumerator.limits(start))
    assert(start.json == """{"files":0,"v":1}""" && until.json == """{"files":1,"list":1,"v":1}""")
    assert(next.source.schema.fieldNames.toSeq == Seq("id", "name"))
    assert(next.rows(ranges = next.enumerator.splits(start, until)).size == 1)
    assert(log.keys("") == Seq("files-00000000", "files-end"))
    assert(log.scope("list-1").keys("") == Seq("files-00000000", "files-end"))
    // The offset has the number of the second list, so the options of the first start no longer match.
    assertRejected(
      Seq(() => read(log, "csv", "again", first: _*).enumerator.splits(start, until)),
      "'header' is not set"
    )
    val (again, requested) = CountingFileSystem.during(at("again")) {
      val same = read(log, "csv", "again", second: _*).enumerator
      Seq(same.advance(start, Limits.Everything).json, same.advance(until, Limits.Everything).json)
    }
    assert(requested.isEmpty && again == Seq.fill(2)("""{"files":2,"list":1,"v":1}"""))
    // After a rollback to its start, a checkpoint may use its first list again.
    val back = read(log, "csv", "again", first: _*)
    assert(back.positions.last.json == """{"files":2,"v":1}""" && back.rows().size == 4)
  }

  test("a later start completes a list that a stopped driver has begun") {
    Seq("a", "b").foreach(name => write(s"crash/$name.csv", "id\n1\n"))
    val log   = new MemorySideLog
    val start = read(log, "csv", "crash").enumerator.start(StartPosition.Configured)
    val stops = new StoppingSideLog(log, _ == "files-end")
    assertThrows[IllegalStateException] {
      read(stops, "csv", "crash", "header" -> "true").enumerator.advance(start, Limits.Everything)
    }
    assert(log.scope("list-1").keys("") == Seq("files-00000000"))
    val third = read(log, "csv", "crash", "header" -> "true", "mode" -> "FAILFAST")
    assert(third.positions.last.json == """{"files":2,"list":2,"v":1}""" && third.rows().size == 2)
    val second = read(log, "csv", "crash", "header" -> "true")
    assert(second.positions.last.json == """{"files":2,"list":1,"v":1}""" && second.rows().size == 2)
  }

  test("a source with an empty second list ends") {
    write("emptied/a.csv", "id\n1\n")
    val log   = new MemorySideLog
    val start = read(log, "csv", "emptied").enumerator.start(StartPosition.Configured)
    Files.delete(Paths.get(at("emptied/a.csv")))
    val next  = read(log, "csv", "emptied", "header" -> "true", "schema" -> "id INT").enumerator
    val until = next.advance(start, Limits.Everything)
    assert(until.json == """{"files":0,"list":1,"v":1}""" && next.advance(until, Limits.Everything) == until)
    assert(next.evidence(until).isDefined && next.splits(start, until).isEmpty)
  }

  test("the text of secrets is not stored") {
    write("secret/a.csv", "1\n")
    val log = new MemorySideLog
    read(log, "csv", "secret", "key.password" -> "s3cr3t", "proxy" -> "http://user:s3cr3t@host").positions
    val text = log.get("files-00000000").get.mkString
    assert(!text.contains("s3cr3t") && text.contains("@host") && !text.contains("password"))
  }
}
