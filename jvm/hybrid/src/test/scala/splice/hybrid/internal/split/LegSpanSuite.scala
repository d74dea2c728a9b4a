// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.split

import java.nio.file.{Files, Path}

import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.Coordinator
import splice.hybrid.{HybridWorlds, Legs, LocalSpark}
import splice.source.errors.SpliceException
import splice.source.runtime.{Boundedness, ProgressMetric}
import splice.source.{Position, Source}
import splice.testkit.internal.memory.{MemoryLog, MemoryOptions}

final class LegSpanSuite extends AnyFunSuite with LocalSpark with HybridWorlds {

  test("with an empty leg among three legs, each switch is logged and a span over all legs is read leg by leg") {
    new World {
      val empty: MemoryLog             = Legs.log(1)
      val chain: Source[_ <: Position] = Legs.source(
        Legs.history(history),
        "middle" -> MemoryOptions.of(empty, "bounded" -> "true"),
        Legs.live(live, "startingOffsets" -> "earliest")
      )
      Using.resource(Legs.run(chain, log)) { c =>
        val all = batches(c)
        assert(all.map(b => leg(b._2)) == Seq("history", "live"))
        assert(Seq("middle", "live").forall(leg => log.scope(s"leg-$leg").get("hand-over-00000000").isDefined))
        assert(ids(c.ranges(c.initial(), all.last._2)) == Seq(0, 0, 1, 1, 2, 2, 3, 4, 5))
        assert(c.figures(all.last._2)(ProgressMetric.Switches) == "2")
      }
    }
  }

  test("after a restart, a span can begin within a leg") {
    new World {
      override def bound: Seq[(String, String)] = Seq("maxRows" -> "1")
      val all: Seq[(Position, Position)]        = Using.resource(Legs.run(source, log))(batches(_))
      Using.resource(Legs.run(source, log)) { c =>
        val spans = for { a <- all; b <- all if a._1.precedes(b._2) } yield a._1 -> b._2
        spans.foreach { case (from, until) =>
          val apart =
            all.filter(b => from.precedes(b._1) && b._2.precedes(until)).flatMap(b => ids(c.ranges(b._1, b._2)))
          assert(ids(c.ranges(from, until)) == apart.sorted)
        }
      }
    }
  }

  test("a span over a start that is not in the side log is rejected") {
    new World {
      val all: Seq[(Position, Position)] = Using.resource(Legs.run(source, log))(batches(_))
      log.scope("leg-live").remove("hand-over-00000000")
      Using.resource(Legs.run(source, log)) { c =>
        val error = intercept[SpliceException](c.ranges(all.head._1, all.last._2))
        assert(error.getCondition == "SPLICE_CHECKPOINT.ENTRY_NOT_FOUND" && error.getMessage.contains("'live'"))
      }
    }
  }

  test("a restart in a leg whose switch is not in the side log is rejected before a batch is planned") {
    new World {
      override def own: Seq[(String, String)] = Seq("maxRows" -> "1")
      val all: Seq[(Position, Position)]      = Using.resource(Legs.run(source, log))(batches(_))
      val (from, until)                       = all.last
      assert(leg(from) == "live")
      log.scope("leg-live").remove("hand-over-00000000")
      private val calls = Seq[Coordinator => Any](
        _.advance(from, everything = false),
        _.ranges(from, until),
        _.realTime(() => 1).foreach(_.begin(from))
      )
      calls.foreach { call =>
        val error = intercept[SpliceException](Using.resource(Legs.run(source, log))(call))
        assert(error.getCondition == "SPLICE_CHECKPOINT.ENTRY_NOT_FOUND" && error.getMessage.contains("'live'"))
      }
    }
  }

  test("a bounded hybrid source ends at the end of its last leg") {
    new World {
      val chain: Source[_ <: Position] =
        Legs.source(Legs.history(history), Legs.live(live, "bounded" -> "true", "handOver" -> "offsets"))
      Using.resource(Legs.run(chain, log)) { c =>
        val all = batches(c)
        assert(chain.boundedness == Boundedness.Bounded)
        assert(c.evidence(all.head._2).isEmpty)
        assert(c.evidence(all.last._2).map(_.position).contains(all.last._2))
      }
    }
  }

  test("a changed chain is rejected with the difference") {
    new World {
      Legs.run(source, log).close()
      def difference(other: Source[_ <: Position]): String = {
        val error = intercept[SpliceException](Legs.run(other, log))
        assert(error.getCondition == "SPLICE_CHECKPOINT.SOURCE_CHANGED")
        error.getMessage
      }
      assert(difference(Legs.source(Legs.live(live))).contains("legs was 'history,live' and is 'live' now"))
      val before: Source[_ <: Position] = Legs.source(
        "older" -> MemoryOptions.of(history, "bounded" -> "true"),
        Legs.history(history),
        Legs.live(live, "handOver" -> "offsets")
      )
      assert(difference(before).contains("is 'older,history,live' now"))
      val other = Legs.log()
      assert(difference(Legs.source(Legs.history(history), Legs.live(other, "handOver" -> "offsets")))
        .contains(s"live.log was '${live.name}' and is '${other.name}' now"))
      // Options of a leg may change until the leg is used.
      Legs.run(Legs.source(Legs.history(history), Legs.live(live, "select" -> "*")), log).close()
    }
  }

  test("legs can be added after the current leg, and the storage of an ended leg is not used") {
    new World {
      val end: Seq[(String, String)]   = Seq("bounded" -> "true", "handOver" -> "offsets")
      val first: Source[_ <: Position] = Legs.source(Legs.history(history), Legs.live(live, end: _*))
      val at: Position                 = Using.resource(Legs.run(first, log))(batches(_).last._2)
      val next: MemoryLog              = Legs.log(1)
      next.append(0, 100)
      history.remove()
      val longer: Source[_ <: Position] = Legs.source(
        Legs.history(history),
        Legs.live(live, end: _*),
        "next" -> MemoryOptions.of(next)
      )
      assert(longer.schema.nonEmpty)
      Using.resource(Legs.run(longer, log)) { c =>
        val from  = c.position(at.json)
        val until = c.advance(from, everything = false)
        assert(leg(until) == "next" && ids(c.ranges(from, until)) == Seq(100L))
      }
      assert(log.keys("chain-") == Seq("chain-00000000", "chain-00000001"))
    }
  }

  test("the storage of a leg may change only after the end of the leg") {
    new World {
      private val folder = Files.createTempDirectory("splice-moved")
      Files.writeString(folder.resolve("a.json"), """{"id":1}""")
      override def rule: Seq[(String, String)]          = Seq("handOver" -> "nowMinus", "handOver.duration" -> "1h")
      private def at(path: Path): Source[_ <: Position] = Legs.source(
        "history" -> Seq("source" -> "files", "format" -> "json", "path" -> path.toString, "schema" -> "id BIGINT"),
        Legs.live(live, rule :+ ("select" -> "id"): _*)
      )
      private val moved = at(folder.resolve("moved"))
      private val ended =
        Using.resource(Legs.run(at(folder), log))(c => c.advance(c.initial(), everything = false).json)
      assert(intercept[SpliceException](Legs.run(moved, log)).getCondition == "SPLICE_CHECKPOINT.SOURCE_CHANGED")
      private val switched = Using.resource(Legs.run(at(folder), log)) { c =>
        c.advance(c.position(ended), everything = false).json
      }
      live.append(0, 9)
      Using.resource(Legs.run(moved, log)) { c =>
        val from = c.position(switched)
        assert(leg(from) == "live" && ids(c.ranges(from, c.advance(from, everything = false))) == Seq(9L))
      }
      Files.delete(folder.resolve("a.json"))
      Files.delete(folder)
    }
  }

  test("a leg whose storage does not exist is not stored, so that a corrected start continues") {
    new World {
      private val folder = Files.createTempDirectory("splice-typo")
      Files.writeString(folder.resolve("a.json"), """{"id":1}""")
      private def files(path: Path) = Seq(
        "source" -> "files",
        "format" -> "json",
        "path"   -> path.toString,
        "schema" -> "id BIGINT"
      )
      override def rule: Seq[(String, String)]              = Seq("handOver" -> "nowMinus", "handOver.duration" -> "1h")
      private val last                                      = Legs.live(live, rule :+ ("select" -> "id"): _*)
      private def first(path: Path)                         = Legs.source("history" -> files(path), last)
      private def longer(path: Path): Source[_ <: Position] =
        Legs.source("history" -> files(folder), "more" -> files(path), last)
      private def rejected(source: Source[_ <: Position], stored: Seq[String]): Unit = {
        assert(intercept[SpliceException](Legs.run(source, log)).getCondition == "SPLICE_FILES.PATH_NOT_FOUND")
        assert(log.keys("chain-") == stored)
      }
      rejected(first(folder.resolve("typo")), Nil)
      Legs.run(first(folder), log).close()
      rejected(longer(folder.resolve("typo")), Seq("chain-00000000"))
      Legs.run(longer(folder), log).close()
      assert(log.keys("chain-").size == 2)
      Files.delete(folder.resolve("a.json"))
      Files.delete(folder)
    }
  }

  test("a restart needs no storage of a leg that was read to its end before a failed switch") {
    new World {
      live.forget(0, 3)
      private val folder                         = Files.createTempDirectory("splice-read")
      private def chain(rule: (String, String)*) = Legs.source(
        "history" -> Seq(
          "source" -> "files",
          "format" -> "json",
          "path"   -> folder.toString,
          "schema" -> "id BIGINT, topic STRING, partition INT, offset BIGINT",
          "select" -> "id"
        ),
        Legs.live(live, Seq("handOver" -> "offsets", "select" -> "id") ++ rule: _*)
      )
      Files.writeString(
        folder.resolve("a.json"),
        Seq(0, 1).map(p => s"""{"id":$p,"topic":"${live.name}","partition":$p,"offset":0}""").mkString("\n")
      )
      val ended: String = Using.resource(Legs.run(chain(), log)) { c =>
        val at = c.advance(c.initial(), everything = false)
        assert(intercept[SpliceException](c.advance(at, everything = false)).getCondition ==
          "SPLICE_HAND_OVER_DATA.GAP")
        at.json
      }
      Files.delete(folder.resolve("a.json"))
      Files.delete(folder)
      Using.resource(Legs.run(chain("onGap" -> "warn"), log)) { c =>
        assert(leg(c.advance(c.position(ended), everything = false)) == "live")
      }
    }
  }

  test("a rule whose start no longer exists can be replaced by another rule") {
    new World {
      live.forget(0, 3)
      val error: SpliceException = intercept[SpliceException](Using.resource(Legs.run(source, log))(batches(_)))
      assert(error.getCondition == "SPLICE_HAND_OVER_DATA.GAP" && error.getMessage.contains(s"${live.name}-0 2"))
      assert(log.scope("leg-live").keys("") == Nil)
      val other: Source[_ <: Position] =
        Legs.source(Legs.history(history), Legs.live(live, "handOver" -> "nowMinus", "handOver.duration" -> "1h"))
      val last: Position = Using.resource(Legs.run(other, log))(c => batches(c).last._2)
      assert(leg(last) == "live")
      assert(log.scope("leg-live").get("hand-over-00000000").exists(_.head.contains("nowMinus")))
    }
  }

  test("a rule may change until its leg begins, and the stored decision applies afterwards") {
    new World {
      override def bound: Seq[(String, String)] = Seq("maxRows" -> "1")
      def latest: Source[_ <: Position]         =
        Legs.source(Legs.history(history), Legs.live(live, "handOver" -> "nowMinus", "handOver.duration" -> "1h"))
      val first: Position = Using.resource(Legs.run(latest, log))(c => c.advance(c.initial(), everything = false))
      assert(leg(first) == "history")
      val last: Position = Using.resource(Legs.run(source, log))(c => batches(c).last._2)
      assert(leg(last) == "live")
      val decided: Option[Seq[String]] = log.scope("leg-live").get("hand-over-00000000")
      assert(decided.exists(_.head.contains("handOver=offsets")))
      Using.resource(Legs.run(latest, log))(c => assert(c.advance(c.position(last.json), everything = false) == last))
      assert(log.scope("leg-live").get("hand-over-00000000") == decided)
    }
  }
}
