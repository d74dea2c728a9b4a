// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import java.time.{Clock, Instant, ZoneOffset}

import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.{Coordinator, MemorySideLog}
import splice.source._
import splice.testkit.memory.{MemoryLog, MemoryOptions, MemoryRange}

final class HybridEnumeratorSuite extends AnyFunSuite {

  private trait World {
    val live: MemoryLog = Legs.log()
    (0 until 6).foreach(i => live.append(i % 2, i.toLong, millis = 1000L * i))
    val history: MemoryLog = Legs.archiveOf(live, Map(0 -> 2, 1 -> 1))
    val log                = new MemorySideLog

    def rule: Seq[(String, String)]  = Seq("handOver" -> "offsets")
    def own: Seq[(String, String)]   = Nil
    def bound: Seq[(String, String)] = Nil

    lazy val source: Source = Legs.source(Legs.history(history, bound: _*), Legs.live(live, rule ++ own: _*))

    def ids(ranges: Seq[SplitRange]): Seq[Long] = ranges.collect { case LegRange(_, range: MemoryRange, _) =>
      MemoryLog(range.log).read(range.partition, range.from, range.until).map(_.id)
    }.flatten.sorted
  }

  private def leg(p: Progress): String = p.asInstanceOf[HybridProgress].leg

  /** All batches until nothing is new. */
  private def batches(c: Coordinator, everything: Boolean = false): Seq[(Progress, Progress)] =
    Iterator.unfold(c.initial()) { at =>
      val next = c.advance(at, everything)
      if (next == at) None else Some(((at, next), next))
    }.toSeq

  test("history first, then the log from one past it, each row once") {
    new World {
      Using.resource(Legs.run(source, log)) { c =>
        val all = batches(c)
        assert(all.map(b => leg(b._2)) == Seq("history", "live"))
        assert(all.map(b => ids(c.ranges(b._1, b._2))) == Seq(Seq(0, 1, 2), Seq(3, 4, 5)))
        assert(ids(c.ranges(all.head._1, all.last._2)) == (0L to 5L))
      }
    }
  }

  test("the offset that switches holds the first range of the new leg") {
    new World {
      Using.resource(Legs.run(source, log)) { c =>
        val ended = c.advance(c.initial(), everything = false)
        val until = c.advance(ended, everything = false)
        assert(c.ranges(ended, until).map(_.splitId).toSet == Set(s"live/${live.name}-0", s"live/${live.name}-1"))
        assert(until.json.contains("\"history\"") && ended.precedes(until))
      }
    }
  }

  test("a switch is progress even when the new leg has no row yet") {
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

  test("the new leg's own limits hold from its first batch on") {
    new World {
      override def own: Seq[(String, String)] = Seq("maxRows" -> "2")
      (6 until 40).foreach(i => live.append(i % 2, i.toLong))
      Using.resource(Legs.run(source, log)) { c =>
        val sizes = batches(c).map(b => ids(c.ranges(b._1, b._2)).size)
        assert(sizes.head == 3 && sizes.tail.forall(_ <= 2) && sizes.sum == 40)
      }
      Using.resource(Legs.run(source)) { c =>
        assert(batches(c, everything = true).map(b => ids(c.ranges(b._1, b._2)).size) == Seq(3, 37))
      }
    }
  }

  test("limits are those of the leg that a batch begins in") {
    new World {
      override def own: Seq[(String, String)]   = Seq("maxRows" -> "2")
      override def bound: Seq[(String, String)] = Seq("maxRows" -> "1")
      Using.resource(Legs.run(source, log)) { c =>
        assert(batches(c).map(b => ids(c.ranges(b._1, b._2)).size) == Seq(1, 1, 1, 2, 1))
      }
    }
  }

  test("a minimum of the new leg waits in the new leg, and all available overrules it") {
    new World {
      override def own: Seq[(String, String)] = Seq("minRows" -> "100")
      val enumerator                          = source.enumerator(Legs.context(log))
      val ended = enumerator.advance(enumerator.start(StartPosition.Configured), ReadLimits(maxRows = Some(9)))
      val until = enumerator.advance(ended, enumerator.limits(ended))
      assert(leg(until) == "live" && enumerator.splits(ended, until).isEmpty)
      assert(enumerator.limits(until).minRows.contains(100L))
      assert(ids(enumerator.splits(until, enumerator.advance(until, ReadLimits.All))) == Seq(3, 4, 5))
      enumerator.close()
    }
  }

  test("the ends of all legs are frozen together, also of one that begins later") {
    new World {
      Using.resource(Legs.run(source, log)) { c =>
        c.freeze()
        val start = c.initial()
        live.append(0, 100)
        history.archive(0, live.read(0, 3, 4).head)
        val all = batches(c)
        assert(all.map(b => ids(c.ranges(b._1, b._2))).flatten.toSet == (0L to 5L).toSet)
        assert(start == all.head._1)
      }
    }
  }

  test("an ended leg is not frozen, nor made again, nor asked anything after a restart in the next leg") {
    new World {
      val until: Progress = Using.resource(Legs.run(source, log))(c => batches(c).last._2)
      val made: Int       = history.asked("enumerator")
      history.remove()
      live.append(0, 8)
      Using.resource(Legs.run(source, log)) { c =>
        c.freeze()
        val at   = c.progress(until.json)
        val next = c.advance(at, everything = false)
        assert(ids(c.ranges(at, next)) == Seq(8L))
        c.committed(at)
        c.committed(next)
        assert(c.report(next)(ProgressMetric.Leg) == "live")
      }
      assert(history.asked("enumerator") == made && history.asked("freeze") == 0)
    }
  }

  test("a switch that was logged before a crash is taken without the storage of the leg before") {
    new World {
      val ended: Progress = Using.resource(Legs.run(source, log)) { c =>
        val ended = c.advance(c.initial(), everything = false)
        c.advance(ended, everything = false)
        ended
      }
      history.remove()
      Using.resource(Legs.run(source, log)) { c =>
        val at    = c.progress(ended.json)
        val until = c.advance(at, everything = false)
        assert(leg(until) == "live" && ids(c.ranges(at, until)) == Seq(3, 4, 5))
      }
    }
  }

  test("commits reach each leg that this run made, and close those before") {
    new World {
      Using.resource(Legs.run(source, log)) { c =>
        val all = batches(c)
        c.committed(all.head._2)
        assert(history.asked("close") == 0)
        c.committed(all.last._2)
        assert(history.asked("close") == 1)
        val last = all.last._2.asInstanceOf[HybridProgress]
        assert(history.asked(s"committed ${last.position("history").json}") == 2)
        assert(live.asked(s"committed ${last.position("live").json}") == 1)
      }
      assert(history.asked("close") == 1 && live.asked("close") == 1)
    }
  }

  test("the report is the current leg's, with the leg and the switches so far") {
    new World {
      Using.resource(Legs.run(source, log)) { c =>
        val all = batches(c)
        assert(c.report(all.head._2)(ProgressMetric.Switches) == "0")
        val report = c.report(all.last._2)
        assert(report(ProgressMetric.Leg) == "live" && report(ProgressMetric.Switches) == "1")
        assert(report(ProgressMetric.Position) == "0:3 1:3" && report(ProgressMetric.Splits) == "2")
      }
    }
  }

  test("a gap fails, and a restart with onGap = warn goes on from the same decision") {
    new World {
      live.forget(0, 3)
      val ended: Progress = Using.resource(Legs.run(source, log)) { c =>
        val ended = c.advance(c.initial(), everything = false)
        val error = intercept[SpliceException](c.advance(ended, everything = false))
        assert(error.getMessage.contains("begins at 3, and 2 is wanted"))
        ended
      }
      assert(history.asked("offsets") == 1)
      val tolerant: Source =
        Legs.source(Legs.history(history), Legs.live(live, "handOver" -> "offsets", "onGap" -> "warn"))
      Using.resource(Legs.run(tolerant, log)) { c =>
        val at = c.progress(ended.json)
        assert(ids(c.ranges(at, c.advance(at, everything = false))) == Seq(3, 5))
      }
      assert(history.asked("offsets") == 1)
    }
  }

  test("now minus is the coordinator's clock at the switch, once") {
    new World {
      override def rule: Seq[(String, String)] = Seq("handOver" -> "nowMinus", "handOver.duration" -> "2s")
      def clock(second: Int): Clock            = Clock.fixed(Instant.ofEpochSecond(second.toLong), ZoneOffset.UTC)
      val ended: Progress                      = Using.resource(Legs.run(source, log, clock(5))) { c =>
        val ended = c.advance(c.initial(), everything = false)
        assert(ids(c.ranges(ended, c.advance(ended, everything = false))) == Seq(3, 4, 5))
        ended
      }
      Using.resource(Legs.run(source, log, clock(500))) { c =>
        val at = c.progress(ended.json)
        assert(ids(c.ranges(at, c.advance(at, everything = false))) == Seq(3, 4, 5))
      }
    }
  }

  test("event time and its overlap: the overlap is read twice") {
    new World {
      override def rule: Seq[(String, String)] =
        Seq("handOver" -> "eventTime", "handOver.column" -> "timestamp", "handOver.overlap" -> "1s")
      Using.resource(Legs.run(source, log)) { c =>
        assert(batches(c).map(b => ids(c.ranges(b._1, b._2))) == Seq(Seq(0, 1, 2), Seq(1, 2, 3, 4, 5)))
      }
    }
  }

  test("three legs, one of them empty: each switch is logged, and a span over all is read leg by leg") {
    new World {
      val empty: MemoryLog = Legs.log(1)
      val chain: Source    = Legs.source(
        Legs.history(history),
        "middle" -> MemoryOptions.of(empty, "bounded" -> "true"),
        Legs.live(live, "startingOffsets" -> "earliest")
      )
      Using.resource(Legs.run(chain, log)) { c =>
        val all = batches(c)
        assert(all.map(b => leg(b._2)) == Seq("history", "live"))
        assert(log.get("switch-1").isDefined && log.get("switch-2").isDefined)
        assert(ids(c.ranges(c.initial(), all.last._2)) == Seq(0, 0, 1, 1, 2, 2, 3, 4, 5))
        assert(c.report(all.last._2)(ProgressMetric.Switches) == "2")
      }
    }
  }

  test("a span that begins inside a leg, after a restart") {
    new World {
      override def bound: Seq[(String, String)] = Seq("maxRows" -> "1")
      val all: Seq[(Progress, Progress)]        = Using.resource(Legs.run(source, log))(batches(_))
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

  test("a span whose switch is not in the log is refused") {
    new World {
      val all: Seq[(Progress, Progress)] = Using.resource(Legs.run(source, log))(batches(_))
      log.remove("switch-1")
      Using.resource(Legs.run(source, log)) { c =>
        val error = intercept[SpliceException](c.ranges(all.head._1, all.last._2))
        assert(error.getCondition == "SPLICE_CHECKPOINT.MISSING_ENTRY" && error.getMessage.contains("'live'"))
      }
    }
  }

  test("a bounded hybrid ends where its last leg ends") {
    new World {
      val chain: Source =
        Legs.source(Legs.history(history), Legs.live(live, "bounded" -> "true", "handOver" -> "offsets"))
      Using.resource(Legs.run(chain, log)) { c =>
        val all = batches(c)
        assert(chain.boundedness == Boundedness.Bounded)
        assert(c.end(all.head._2).isEmpty)
        assert(c.end(all.last._2).map(_.position).contains(all.last._2))
      }
    }
  }

  test("a changed chain is refused with the difference") {
    new World {
      Legs.run(source, log).close()
      def difference(other: Source): String = {
        val error = intercept[SpliceException](Legs.run(other, log))
        assert(error.getCondition == "SPLICE_CHECKPOINT.CHANGED")
        error.getMessage
      }
      assert(difference(Legs.source(Legs.live(live))).contains("legs was 'history,live' and is 'live' now"))
      assert(
        difference(Legs.source(Legs.history(history), Legs.live(live)))
          .contains("live.handOver was 'handOver=offsets handOver.topic=topic")
      )
      assert(
        difference(Legs.source(Legs.history(history), Legs.live(live, "handOver" -> "offsets", "select" -> "*")))
          .contains("live.select")
      )
    }
  }
}
