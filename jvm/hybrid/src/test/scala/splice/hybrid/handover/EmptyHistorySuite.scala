// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.handover

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.hybrid.{Legs, LocalSpark}
import splice.source.Position
import splice.source.errors.SpliceException
import splice.source.runtime.SideLog

/** Tests of a file leg without files. */
final class EmptyHistorySuite extends AnyFunSuite with LocalSpark {

  private def history(folder: Path, more: (String, String)*): (String, Seq[(String, String)]) =
    "history" ->
      (Seq("source" -> "files", "format" -> "json", "path" -> folder.toString, "schema" -> "id BIGINT") ++ more)

  private def chain(folder: Path, more: (String, String)*): Map[String, String] = {
    val log = Legs.log()
    log.append(0, 1)
    Legs.options(history(folder, more: _*), Legs.live(log, "select" -> "id"))
  }

  private def start(options: Map[String, String], log: SideLog = new MemorySideLog): Position =
    Legs.run(Legs.source(options), log).initial()

  test("an empty leg before another leg fails, and a restart reads files that arrived later") {
    val folder  = Files.createTempDirectory("splice-empty")
    val options = chain(folder)
    val log     = new MemorySideLog
    val error   = intercept[SpliceException](start(options, log))
    assert(error.getCondition == "SPLICE_FILES.NO_FILES")
    Seq("'history.onEmpty'", folder.toString).foreach(words => assert(error.getMessage.contains(words)))
    Files.writeString(folder.resolve("a.json"), """{"id":1}""")
    val run   = Legs.run(Legs.source(options), log)
    val first = run.initial()
    assert(run.tasks(first, run.advance(first, everything = true)).flatMap(_.ranges).size == 1)
    Seq("a.json").foreach(name => Files.delete(folder.resolve(name)))
    Files.delete(folder)
  }

  test("a bounded read of the chain also fails") {
    val folder = Files.createTempDirectory("splice-empty")
    val error  = intercept[SpliceException](Legs.run(Legs.source(chain(folder))).everything())
    assert(error.getCondition == "SPLICE_FILES.NO_FILES")
    Files.delete(folder)
  }

  test("the last leg, or a leg with onEmpty warn, may be empty") {
    val folder = Files.createTempDirectory("splice-empty")
    start(chain(folder, "onEmpty" -> "warn"))
    start(Legs.options(history(folder)))
    Files.delete(folder)
  }
}
