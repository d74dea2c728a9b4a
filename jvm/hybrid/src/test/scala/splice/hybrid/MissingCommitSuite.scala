// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import java.io.{IOException, InterruptedIOException}

import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.Coordinator
import splice.hybrid.internal.chain.{Chain, Leg}
import splice.simulation.planted.PassingSideLog
import splice.source.options.FailOrWarn
import splice.source.runtime.SideLog
import splice.source.{Position, Source}
import splice.testkit.LoggedMessages
import splice.testkit.internal.memory.{MemoryLog, MemoryOptions}

/** Tests of log legs that are removed from a chain before their end is committed outside of the checkpoint. */
final class MissingCommitSuite extends AnyFunSuite with HybridWorlds {

  /** Chain of three logs that was read up to the last log. No batch was committed. */
  private class Logs(commits: String => Boolean, isCommitted: String => Boolean = _ => true) extends World {
    private val next: MemoryLog = Legs.archiveOf(live, Map(0 -> 1))

    private def leg(name: String, of: MemoryLog, more: (String, String)*) = {
      val source = Legs.source(MemoryOptions.of(of, more: _*).toMap)
      Leg(name, new OfLog(source, commits(name), () => isCommitted(name)), None, None, FailOrWarn.Fail, name)
    }

    private def chain(legs: Leg*) = new HybridSource(Chain(legs.toIndexedSeq), None)

    private val (first, second, last) =
      (leg("first", history, "bounded" -> "true"), leg("second", next, "bounded" -> "true"), leg("live", live))

    val whole: Source[_ <: Position] = chain(first, second, last)
    val alone: Source[_ <: Position] = chain(last)
    val ends: Source[_ <: Position]  = chain(first, last)
    val rest: Source[_ <: Position]  = chain(second, last)

    val at: String = run(whole)(c => batches(c).last._2.json)

    def run[A](source: Source[_ <: Position])(use: Coordinator => A): A = Using.resource(Legs.run(source, log))(use)

    /** Commits the end in a separate run, and returns the warnings about missing commits. */
    def commit(side: SideLog = log): Seq[String] =
      LoggedMessages.during("splice.hybrid.internal.enumerator.LegCommits") {
        Using.resource(Legs.run(whole, side))(c => c.committed(c.position(at)))
      }._2

    def committed(name: String): Option[String] = log.scope(s"leg-$name").get("committed").map(_.last)

    /** Returns the names of legs in the warnings of a start. */
    def warned(source: Source[_ <: Position]): Seq[String] = {
      val (_, messages) =
        LoggedMessages.during("splice.hybrid.internal.handover.LegEntries")(run(source)(c =>
          c.advance(c.position(at), false)
        ))
      messages.filter(_.contains("was removed from the chain before Splice committed the end")).map(_.split('\'')(1))
    }
  }

  test("each start warns of every leg that was removed before its last commit, until the leg is added for one start") {
    new Logs(commits = _ => true) {
      assert(warned(whole).isEmpty)
      assert(warned(alone) == Seq("first", "second") && warned(alone) == Seq("first", "second"))
      run(whole)(c => c.committed(c.position(at)))
      assert(committed("first").nonEmpty && committed("second").nonEmpty)
      assert(warned(alone).isEmpty)
    }
  }

  test("a start does not warn of a leg in the chain, even before a removed leg") {
    new Logs(commits = _ => true) {
      assert(warned(ends) == Seq("second") && warned(rest) == Seq("first"))
    }
  }

  test("a start does not warn of a leg that was removed after its last commit") {
    new Logs(commits = _ => true) {
      run(whole)(c => c.committed(c.position(at)))
      assert(warned(alone).isEmpty)
    }
  }

  test("a start does not warn of a leg without commits outside of the checkpoint") {
    new Logs(commits = _ => false) {
      assert(committed("first").isEmpty && warned(alone).isEmpty)
    }
  }

  test("a start warns only of removed legs that commit outside of the checkpoint") {
    Seq("first", "second").foreach { named =>
      new Logs(commits = Set(named, "live")) { assert(warned(alone) == Seq(named)) }
      new Logs(commits = Set(named))         { assert(warned(alone) == Seq(named)) }
    }
    new Logs(commits = Set("live")) { assert(warned(alone).isEmpty) }
  }

  /** Side log that fails to store the success of a last commit. */
  final private class Full(inner: SideLog, failure: => Exception) extends PassingSideLog(inner) {
    override def getOrCreate(key: String)(lines: => Seq[String]): Seq[String] =
      if (key == "committed") throw failure else inner.getOrCreate(key)(lines)
    override def scope(name: String): SideLog = new Full(inner.scope(name), failure)
  }

  test("if the success of a last commit cannot be stored, no batch fails and the next run repeats the commit") {
    new Logs(commits = _ => true) {
      val warnings: Seq[String] = commit(new Full(log, new IOException("no space")))
      assert(warnings.count(_.contains("repeats the last commit of a leg")) == 1, warnings)
      assert(committed("first").isEmpty && committed("second").isEmpty)
      assert(commit().isEmpty && committed("first").nonEmpty && committed("second").nonEmpty)
    }
  }

  test("a warning names a leg whose last commit fails, and the commits of the other legs are stored") {
    Seq[() => Boolean](() => false, () => throw new IllegalStateException("no broker")).foreach { failed =>
      new Logs(commits = _ => true, name => name != "first" || failed()) {
        val warnings: Seq[String] = commit()
        assert(warnings.count(_.contains("Leg 'first' has ended, but Splice could not commit the end")) == 1)
        assert(warnings.size == 1 && committed("first").isEmpty && committed("second").nonEmpty)
      }
    }
  }

  test("an interrupt of a last commit ends the call") {
    new Logs(commits = _ => true) {
      intercept[InterruptedIOException](commit(new Full(log, new InterruptedIOException("stopped"))))
    }
    new Logs(commits = _ => true, _ => throw new InterruptedIOException("stopped")) {
      intercept[InterruptedIOException](commit())
      assert(committed("first").isEmpty)
    }
  }

  test("an ended log that was opened for its last commit is closed immediately") {
    new Logs(commits = _ => true) {
      Using.resource(Legs.run(whole, log)) { c =>
        c.committed(c.position(at))
        assert(history.requested("enumerator") == 2 && history.requested("close") == 2)
      }
    }
  }
}
