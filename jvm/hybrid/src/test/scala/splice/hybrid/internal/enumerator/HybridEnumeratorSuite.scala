// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.enumerator

import java.time.{Clock, Instant, ZoneOffset}

import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.hybrid.internal.split.HybridPosition
import splice.hybrid.{HybridWorlds, Legs}
import splice.source.errors.SpliceException
import splice.source.runtime.ProgressMetric
import splice.source.{Limits, Position, ReadMode, Source, SplitEnumerator, StartPosition}
import splice.testkit.LoggedMessages
import splice.testkit.internal.memory.MemoryLog

final class HybridEnumeratorSuite extends AnyFunSuite with HybridWorlds {

  test("the log starts after the last offset of the history, and each row is read once") {
    new World {
      Using.resource(Legs.run(source, log)) { c =>
        val all = batches(c)
        assert(all.map(b => leg(b._2)) == Seq("history", "live"))
        assert(all.map(b => ids(c.ranges(b._1, b._2))) == Seq(Seq(0, 1, 2), Seq(3, 4, 5)))
        assert(ids(c.ranges(all.head._1, all.last._2)) == (0L to 5L))
      }
    }
  }

  test("the offset of the switch includes the first range of the new leg") {
    new World {
      Using.resource(Legs.run(source, log)) { c =>
        val ended = c.advance(c.initial(), everything = false)
        val until = c.advance(ended, everything = false)
        assert(c.ranges(ended, until).map(_.splitId).toSet == Set(s"live/${live.name}-0", s"live/${live.name}-1"))
        assert(until.json.contains("\"history\"") && ended.precedes(until))
      }
    }
  }

  test("a switch is progress even if the new leg has no rows") {
    new World {
      override val history: MemoryLog = Legs.archiveOf(live, Map(0 -> 3, 1 -> 3))
      Using.resource(Legs.run(source, log)) { c =>
        val ended = c.advance(c.initial(), everything = true)
        val until = c.advance(ended, everything = true)
        assert(leg(until) == "live" && ended != until && c.ranges(ended, until).isEmpty)
        assert(c.advance(until, everything = true) == until)
        live.append(1, 77)
        assert(ids(c.ranges(until, c.advance(until, everything = true))) == Seq(77L))
      }
    }
  }

  test("the ends of all legs are frozen together, including legs that begin later") {
    new World {
      Using.resource(Legs.run(source, log)) { c =>
        c.freeze()
        live.append(0, 100)
        history.archive(0, live.read(0, 3, 4).head)
        val all = batches(c)
        assert(all.map(b => ids(c.ranges(b._1, b._2))) == Seq(Seq(0, 1, 2), Seq(3, 4, 5)))
      }
    }
  }

  test("after a restart in the next leg, an ended leg is neither frozen, created nor called") {
    new World {
      val until: Position = Using.resource(Legs.run(source, log))(c => batches(c).last._2)
      val created: Int    = history.requested("enumerator")
      history.remove()
      live.append(0, 8)
      Using.resource(Legs.run(source, log)) { c =>
        c.freeze()
        val at   = c.position(until.json)
        val next = c.advance(at, everything = false)
        assert(ids(c.ranges(at, next)) == Seq(8L))
        c.committed(at)
        c.committed(next)
        assert(c.figures(next)(ProgressMetric.Leg) == "live")
      }
      assert(history.requested("enumerator") == created && history.requested("freeze") == 0)
    }
  }

  test("a switch that was logged before a crash is used without the storage of the previous leg") {
    new World {
      val ended: Position = Using.resource(Legs.run(source, log)) { c =>
        val ended = c.advance(c.initial(), everything = false)
        c.advance(ended, everything = false)
        ended
      }
      history.remove()
      Using.resource(Legs.run(source, log)) { c =>
        val at    = c.position(ended.json)
        val until = c.advance(at, everything = false)
        assert(leg(until) == "live" && ids(c.ranges(at, until)) == Seq(3, 4, 5))
      }
    }
  }

  test("commits are passed to each created leg, and previous legs are closed") {
    new World {
      Using.resource(Legs.run(source, log)) { c =>
        val all = batches(c)
        c.committed(all.head._2)
        assert(history.requested("close") == 0)
        c.committed(all.last._2)
        assert(history.requested("close") == 1)
        val last = all.last._2.asInstanceOf[HybridPosition]
        assert(history.requested(s"committed ${last.position("history").json}") == 2)
        assert(live.requested(s"committed ${last.position("live").json}") == 1)
      }
      // The check of the first start also opens and closes the later leg.
      assert(history.requested("close") == 1 && live.requested("close") == 2)
    }
  }

  test("a commit succeeds even if an ended leg fails to close") {
    new World {
      history.failOnRequest("close")
      Using.resource(Legs.run(source, log)) { c =>
        val all = batches(c)
        c.committed(all.last._2)
        c.committed(all.last._2)
        assert(history.requested("close") == 1)
      }
    }
  }

  test("the report has the metrics of the current leg, its name and the number of switches") {
    new World {
      Using.resource(Legs.run(source, log)) { c =>
        val all = batches(c)
        assert(c.figures(all.head._2)(ProgressMetric.Switches) == "0")
        val report = c.figures(all.last._2)
        assert(report(ProgressMetric.Leg) == "live" && report(ProgressMetric.Switches) == "1")
        assert(report(ProgressMetric.Position) == "0:3 1:3" && report(ProgressMetric.Splits) == "2")
        assert(c.gauges(all.last._2).toSeq == Seq(ProgressMetric.Splits -> 2L))
      }
    }
  }

  test("a gap fails before a decision is stored, and a restart with onGap = warn continues") {
    new World {
      live.forget(0, 3)
      val ended: Position = Using.resource(Legs.run(source, log)) { c =>
        val ended = c.advance(c.initial(), everything = false)
        val error = intercept[SpliceException](c.advance(ended, everything = false))
        assert(error.getCondition == "SPLICE_HAND_OVER_DATA.GAP" && error.getMessage.contains(s"${live.name}-0 2"))
        assert(log.scope("leg-live").keys("") == Nil)
        ended
      }
      assert(history.requested("remaining") == 1)
      val tolerant: Source[_ <: Position] =
        Legs.source(Legs.history(history), Legs.live(live, "handOver" -> "offsets", "onGap" -> "warn"))
      Using.resource(Legs.run(tolerant, log)) { c =>
        val at = c.position(ended.json)
        assert(ids(c.ranges(at, c.advance(at, everything = false))) == Seq(3, 5))
      }
      assert(history.requested("remaining") == 1)
    }
  }

  test("nowMinus uses the coordinator's clock at the switch, once") {
    new World {
      override def rule: Seq[(String, String)] = Seq("handOver" -> "nowMinus", "handOver.duration" -> "2s")
      def clock(second: Int): Clock            = Clock.fixed(Instant.ofEpochSecond(second.toLong), ZoneOffset.UTC)
      val ended: Position                      = Using.resource(Legs.run(source, log, clock(5))) { c =>
        val ended = c.advance(c.initial(), everything = false)
        assert(ids(c.ranges(ended, c.advance(ended, everything = false))) == Seq(3, 4, 5))
        ended
      }
      Using.resource(Legs.run(source, log, clock(500))) { c =>
        val at = c.position(ended.json)
        assert(ids(c.ranges(at, c.advance(at, everything = false))) == Seq(3, 4, 5))
      }
    }
  }

  test("eventTime reads the rows of the overlap twice") {
    new World {
      override def rule: Seq[(String, String)] =
        Seq("handOver" -> "eventTime", "handOver.column" -> "timestamp", "handOver.overlap" -> "1s")
      Using.resource(Legs.run(source, log)) { c =>
        assert(batches(c).map(b => ids(c.ranges(b._1, b._2))) == Seq(Seq(0, 1, 2), Seq(1, 2, 3, 4, 5)))
      }
    }
  }

  test("a one-batch trigger logs one warning that the batch stops at the end of the leg") {
    new World {
      def warnings(source: Source[_ <: Position], mode: ReadMode, limits: Limits, isFrozen: Boolean = false): Int = {
        val run = SplitEnumerator.untyped(source, Legs.context(new MemorySideLog).copy(mode = mode))
        LoggedMessages.during("splice.hybrid.internal.enumerator.HybridEnumerator")(Using.resource(run) { chain =>
          if (isFrozen) chain.freeze()
          chain.advance(chain.advance(chain.start(StartPosition.Configured), limits), limits)
        })._2.count(_.contains("This trigger runs one batch"))
      }
      assert(warnings(source, ReadMode.Stream, Limits.Everything) == 1)
      assert(warnings(source, ReadMode.Stream, Limits.Everything, isFrozen = true) == 1)
      assert(warnings(source, ReadMode.Stream, Limits.NotSet) == 0)
      assert(warnings(source, ReadMode.Batch, Limits.Everything) == 0, "a bounded read continues")
      assert(warnings(source, ReadMode.Stream, Limits.NotSet, isFrozen = true) == 0, "AvailableNow continues")
      assert(warnings(Legs.source(Legs.live(live)), ReadMode.Stream, Limits.Everything) == 0, "there is one leg")
    }
  }

  test("the columns that a later rule counts are checked at the first start, before a row is read") {
    Seq(
      ("handOver.offset", "none", "COLUMN_NOT_FOUND", "(offset)"),
      ("handOver.partition", "topic", "COLUMN_TYPE_MISMATCH", "(partition)"),
      ("handOver.topic", "offset", "COLUMN_TYPE_MISMATCH", "(topic)")
    ).foreach { case (option, column, condition, role) =>
      new World {
        override def own: Seq[(String, String)] = Seq(option -> column) ++
          Option.when(option == "handOver.partition")("handOver.topic" -> "_log") ++
          Option.when(option == "handOver.topic")("handOver.offset" -> "id")
        val error: SpliceException = intercept[SpliceException](Legs.run(source, log).initial())
        assert(error.getCondition == s"SPLICE_HAND_OVER.$condition", error.getMessage)
        Seq(s"'$column' $role", "leg 'history'", s"'live.$option'").foreach(words =>
          assert(error.getMessage.contains(words), error.getMessage)
        )
        assert(log.get("initial").isEmpty && history.requested("readers") == 0)
      }
    }
  }
}
