// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.Coordinator
import splice.source._
import splice.testkit.LoggedMessages
import splice.testkit.memory.{MemoryLog, MemoryOptions}

/** Logs whose ends are committed outside of the checkpoint, and that are removed from their chain before that. */
final class MissingCommitSuite extends AnyFunSuite with HybridWorlds {

  /** A chain of three logs, read until the last one. No batch was committed. */
  private class Logs(commits: Boolean) extends World {
    private val next: MemoryLog = Legs.archiveOf(live, Map(0 -> 1))

    private def leg(name: String, of: MemoryLog, more: (String, String)*) =
      Leg(name, new OfLog(Legs.source(MemoryOptions.of(of, more: _*).toMap), commits), None, None, OnGap.Fail, name)

    private def chain(legs: Leg*) = new HybridSource(Chain(legs.toIndexedSeq), None)

    private val (first, second, last) =
      (leg("first", history, "bounded" -> "true"), leg("second", next, "bounded" -> "true"), leg("live", live))

    val whole: Source[_ <: Position] = chain(first, second, last)
    val alone: Source[_ <: Position] = chain(last)

    val at: String = run(whole)(c => batches(c).last._2.json)

    def run[A](source: Source[_ <: Position])(use: Coordinator => A): A = Using.resource(Legs.run(source, log))(use)

    def committed(name: String): Option[String] = log.scope(s"leg-$name").get("committed").map(_.last)

    /** The names of legs that warnings of a start name. */
    def warned(source: Source[_ <: Position]): Seq[String] = {
      val (_, messages) =
        LoggedMessages.during("splice.hybrid.LegLog")(run(source)(c => c.advance(c.position(at), false)))
      messages.filter(_.contains("was removed from the chain before Splice committed its end")).map(_.split('\'')(1))
    }
  }

  test("a start names each leg that was removed before its last commit, until the leg was there for one start") {
    new Logs(commits = true) {
      assert(warned(whole).isEmpty)
      assert(warned(alone) == Seq("first", "second") && warned(alone) == Seq("first", "second"))
      run(whole)(c => c.committed(c.position(at)))
      assert(committed("first").nonEmpty && committed("second").nonEmpty)
      assert(warned(alone).isEmpty)
    }
  }

  test("a leg that was removed after its last commit is not named") {
    new Logs(commits = true) {
      run(whole)(c => c.committed(c.position(at)))
      assert(warned(alone).isEmpty)
    }
  }

  test("a leg that commits nothing outside of the checkpoint is not named") {
    new Logs(commits = false) {
      assert(committed("first").isEmpty && warned(alone).isEmpty)
    }
  }
}
