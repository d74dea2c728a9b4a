// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.Coordinator
import splice.hybrid.internal.chain.{Chain, Leg}
import splice.hybrid.internal.split.HybridPosition
import splice.source.errors.SpliceException
import splice.source.internal.entries.Json
import splice.source.options.FailOrWarn
import splice.source.runtime.ProgressMetric
import splice.source.{Position, Source}
import splice.testkit.LoggedMessages
import splice.testkit.internal.memory.{MemoryLog, MemoryOptions}

/** Tests of the removal of legs from a chain with a kept checkpoint. */
final class RemovedLegSuite extends AnyFunSuite with HybridWorlds {

  private type Own = (String, Seq[(String, String)])

  /** Two archives with the first five of the six log records, one row per batch. */
  private trait Archives extends World {
    val old: MemoryLog    = Legs.archiveOf(live, Map(0 -> 2))
    val recent: MemoryLog = Legs.log(1)
    live.read(1, 0, 2).foreach(recent.archive(0, _))
    live.read(0, 2, 3).foreach(recent.archive(0, _))

    def first: Own                     = "old"      -> MemoryOptions.of(old, "bounded" -> "true", "maxRows" -> "1")
    def second: Own                    = "recent"   -> MemoryOptions.of(recent, "bounded" -> "true", "maxRows" -> "1")
    def third(rule: (String, String)*) = Legs.live(live, Seq("maxRows" -> "1") ++ rule: _*)
    val exact: (String, String)        = "handOver" -> "offsets"
    lazy val whole: Source[_ <: Position] = Legs.source(first, second, third(exact))

    def run[A](source: Source[_ <: Position])(use: Coordinator => A): A = Using.resource(Legs.run(source, log))(use)

    /** Returns the offsets of a run that continues from an offset until no data is available or a condition holds. */
    def offsets(source: Source[_ <: Position], from: Option[String] = None)(done: String => Boolean): Seq[String] =
      run(source) { c =>
        val begin = from.fold(c.initial())(c.position)
        begin.json +: Iterator.unfold(begin) { at =>
          val next = if (done(leg(at))) at else c.advance(at, everything = false)
          if (next == at) None else Some(next.json -> next)
        }.toSeq
      }

    def rows(source: Source[_ <: Position], from: String, until: String): Seq[Long] =
      run(source)(c => ids(c.ranges(c.position(from), c.position(until))))

    def refused(source: => Source[_ <: Position]): SpliceException =
      intercept[SpliceException](Legs.run(source, log).close())
  }

  private def never(leg: String): Boolean = false

  test("an ended leg can be removed, its position is kept, and each row is read once") {
    new Archives {
      val before: Seq[String] = offsets(whole)(_ == "live")
      old.remove()
      recent.remove()
      val alone: Source[_ <: Position] = Legs.source(third())
      val after: Seq[String]           = offsets(alone, Some(before.last))(never)
      assert(after == before.takeRight(1))
      live.append(0, 77)
      live.append(1, 78)
      val more: Seq[String] = offsets(alone, Some(after.last))(never)
      assert(rows(alone, after.last, more.last) == Seq(77L, 78L))
      Seq("old", "recent").foreach(name => assert(text(more.last, name) == text(before.last, name)))
      assert(run(alone)(c => c.figures(c.position(more.last)))(ProgressMetric.Switches) == "0")
      assert(log.keys("chain-").size == 2, "one entry for one change")
    }
  }

  private def text(offset: String, leg: String) =
    Json.read(offset).flatMap(Json.field(_, "legs")).flatMap(Json.field(_, leg)).map(Json.write)

  test("the batch of the switch is planned again without the leg, with or without a logged offset") {
    new Archives {
      val before: Seq[String] = offsets(whole)(_ == "live")
      old.remove()
      recent.remove()
      val alone: Source[_ <: Position] = Legs.source(third())
      val Seq(ended, switched)         = before.takeRight(2): @unchecked
      assert(leg(run(whole)(_.position(ended))) == "recent" && leg(run(whole)(_.position(switched))) == "live")
      assert(rows(alone, ended, switched) == Seq(5L))
      assert(rows(Legs.source(first, third()), ended, switched) == Seq(5L), "the position is in the removed leg")
      run(alone) { c =>
        c.committed(c.position(ended))
        val at = c.position(ended)
        assert(c.advance(at, everything = false).json == switched && c.figures(at) == c.figures(at))
      }
    }
  }

  test("a batch with rows of a removed leg fails with the name of the leg, and succeeds after the leg is added again") {
    new Archives {
      val before: Seq[String]                                                        = offsets(whole)(_ == "live")
      val alone: Source[_ <: Position]                                               = Legs.source(third())
      val middle: Source[_ <: Position]                                              = Legs.source(first, third())
      val last: String                                                               = before(before.size - 3)
      def needed(source: Source[_ <: Position], from: String, until: String): String = {
        val error = intercept[SpliceException](rows(source, from, until))
        assert(error.getCondition == "SPLICE_HYBRID.REMOVED_LEG")
        error.getMessage
      }
      assert(needed(alone, last, before.last).contains("leg 'recent'"))
      assert(needed(alone, before.head, before.last).contains("leg 'old' and 'recent'"))
      assert(needed(middle, before.head, before.last).contains("leg 'recent'"))
      val stuck: SpliceException = intercept[SpliceException](run(alone)(c => c.advance(c.position(last), false)))
      assert(stuck.getCondition == "SPLICE_HYBRID.REMOVED_LEG" && stuck.getMessage.contains("'recent'"))
      // At this offset, 'old' has ended and no row of 'recent' was read.
      val skipped: String = before.filter(at => text(at, "recent").isEmpty).last
      intercept[SpliceException](run(middle)(c => c.advance(c.position(skipped), false)))
      assert(rows(whole, last, before.last) == Seq(3L, 4L, 5L).takeRight(2))
      assert(rows(whole, before.head, before.last) == (0L to 5L))
    }
  }

  test("a leg that has not ended cannot be removed") {
    new Archives {
      assert(offsets(whole)(_ == "recent").size == 4)
      val error: SpliceException = refused(Legs.source(first, third(exact)))
      assert(error.getCondition == "SPLICE_CHECKPOINT.SOURCE_CHANGED")
      assert(error.getMessage.contains("legs was 'old,recent,live' and is 'old,live' now"))
      assert(error.getMessage.contains("Leg 'recent' has not ended"))
      assert(refused(Legs.source(third())).getMessage.contains("Leg 'recent' has not ended"))
      assert(refused(Legs.source(first)).getMessage.contains("Leg 'live' has not ended"))
    }
  }

  test("a leg that an undecided exact hand-over counts can be removed only after the switch") {
    new Archives {
      val before: Seq[String]    = offsets(whole)(_ == "recent")
      val error: SpliceException = refused(Legs.source(second, third(exact)))
      assert(error.getCondition == "SPLICE_CHECKPOINT.SOURCE_CHANGED")
      assert(error.getMessage.contains("hand-over of leg 'live' is not decided, and counts the rows of leg 'old'"))
      val times: Seq[(String, String)]   = Seq("handOver" -> "nowMinus", "handOver.duration" -> "1h")
      val shorter: Source[_ <: Position] = Legs.source(second, third(times: _*))
      Legs.run(shorter, log).close()
      assert(refused(Legs.source(second, third(exact))).getMessage.contains("counts the rows of leg 'old'"))
      val after: Seq[String] = offsets(whole, Some(before.last))(_ == "live")
      Legs.run(Legs.source(second, third(exact)), log).close()
      assert(rows(whole, before.head, after.last) == (0L to 5L))
    }
  }

  test("legs can be removed and added in one start, and a removed leg keeps its name, kind and position") {
    new Archives {
      val bounded: Own                 = third("bounded" -> "true", exact)
      val begun: Source[_ <: Position] = Legs.source(first, second, bounded)
      val before: Seq[String]          = offsets(begun)(never)
      val next: MemoryLog              = Legs.log(1)
      next.append(0, 100)
      val added: Own                   = "next" -> MemoryOptions.of(next)
      val other: Source[_ <: Position] = Legs.source(third("bounded" -> "true"), added)
      val after: Seq[String]           = offsets(other, Some(before.last))(never)
      assert(leg(run(other)(_.position(after.last))) == "next" && rows(other, before.last, after.last) == Seq(100L))
      assert(refused(Legs.source(
        third("bounded" -> "true"),
        "next" -> MemoryOptions.of(next, "bounded" -> "true"),
        "old"  -> MemoryOptions.of(old)
      ))
        .getMessage.contains("is 'live,next,old' now"))
      assert(refused(Legs.source(second, first, bounded, added)).getMessage.contains("is 'recent,old,live,next' now"))
      val back: Source[_ <: Position] = Legs.source(first, bounded, added)
      assert(rows(back, before.last, after.last) == Seq(100L))
      Legs.run(Legs.source(added), log).close()
      assert(rows(Legs.source(first, second, bounded, added), before.head, after.last) == (0L to 5L) :+ 100L)
    }
  }

  test("a single leg that did not begin by a hand-over is not accepted as the end of a chain") {
    new World {
      Using.resource(Legs.run(source, log))(c => c.advance(c.initial(), everything = false))
      val error: SpliceException = intercept[SpliceException](Legs.run(Legs.source(Legs.live(live)), log))
      assert(error.getMessage.contains("Leg 'history' has not ended"))
    }
  }

  private trait Logs extends World {
    private def leg(name: String, of: MemoryLog, more: (String, String)*) =
      Leg(
        name,
        new OfLog(Legs.source(MemoryOptions.of(of, more: _*).toMap), isCommitted = () => isCommitted),
        None,
        None,
        FailOrWarn.Fail,
        s"$name.select"
      )

    @volatile var isCommitted: Boolean = true

    val logs: Source[_ <: Position] =
      new HybridSource(Chain(IndexedSeq(leg("history", history, "bounded" -> "true"), leg("live", live))), None)
    val Seq(ended, switched) = Using.resource(Legs.run(logs, log))(batches(_)).take(2).map(_._2): @unchecked

    def position(leg: String): String = ended.asInstanceOf[HybridPosition].position(leg).json

    def reported: Int = history.requested(s"committed ${position("history")}")
    assert(reported == 0)
  }

  test("a run that begins at the end of a log commits the end") {
    new Logs {
      Using.resource(Legs.run(logs, log)) { c =>
        val at = c.position(ended.json)
        assert(c.advance(at, everything = false) == switched)
        c.committed(at)
        c.committed(switched)
        assert(reported == 1)
      }
    }
  }

  test("a run that plans the batch of a switch again commits the end of the previous log, once") {
    new Logs {
      Using.resource(Legs.run(logs, log)) { c =>
        assert(c.ranges(c.position(ended.json), c.position(switched.json)).nonEmpty)
        c.committed(switched)
        c.committed(switched)
        assert(reported == 1)
      }
      val created: Int = history.requested("enumerator")
      Using.resource(Legs.run(logs, log)) { c =>
        val at = c.position(switched.json)
        live.append(0, 9)
        c.committed(at)
        c.committed(c.advance(at, everything = false))
      }
      assert(reported == 1 && history.requested("enumerator") == created)
    }
  }

  test("a run that neither reads the previous log nor repeats the switch commits the end of the log, once") {
    new Logs {
      live.append(0, 9)
      // The previous run was killed after the sink received the batch of the switch. Spark does not plan such a batch
      // again.
      Using.resource(Legs.run(logs, log)) { c =>
        val at = c.position(switched.json)
        assert(c.advance(at, everything = false) != at)
        c.committed(at)
        c.committed(at)
        assert(reported == 1)
      }
      assert(log.scope("leg-history").get("committed").exists(_.last == position("history")))
      val created: Int = history.requested("enumerator")
      live.append(0, 10)
      Using.resource(Legs.run(logs, log)) { c =>
        val at = c.position(switched.json)
        c.committed(c.advance(at, everything = false))
        c.stopped(Some(at.json))
      }
      assert(reported == 1 && history.requested("enumerator") == created)
    }
  }

  test(
    "a failed last commit is not stored as committed, and each run repeats the commit with a warning on failure"
  ) {
    new Logs {
      private def warnings(): Int = LoggedMessages.during("splice.hybrid.internal.enumerator.LegCommits") {
        Using.resource(Legs.run(logs, log)) { c =>
          c.committed(c.position(switched.json))
          c.committed(c.position(switched.json))
        }
      }._2.count(_.contains("could not commit the end"))

      private def stored = log.scope("leg-history").get("committed")

      isCommitted = false
      assert(warnings() == 1 && reported == 1 && stored.isEmpty)
      isCommitted = true
      assert(warnings() == 0 && reported == 2 && stored.nonEmpty)
    }
  }

  test("a run without a new batch commits the end of the previous log at its stop") {
    new Logs {
      Using.resource(Legs.run(logs, log)) { c =>
        val at = c.position(switched.json)
        assert(c.advance(at, everything = false) == at)
        c.stopped(Some(at.json))
      }
      assert(reported == 1 && log.scope("leg-history").get("committed").nonEmpty)
    }
  }

  test("a commit succeeds even if the ended log is unreachable") {
    new Logs {
      history.failOnRequest("enumerator")
      Using.resource(Legs.run(logs, log)) { c =>
        assert(c.ranges(c.position(ended.json), c.position(switched.json)).nonEmpty)
        c.committed(switched)
        c.committed(switched)
      }
      assert(history.requested("enumerator") == 2, "the run tries it once")
      assert(log.scope("leg-history").get("committed").isEmpty, "the next run tries it again")
    }
  }
}
