// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.enumerator

import java.time.Duration

import scala.collection.immutable.SortedMap
import scala.collection.mutable
import scala.reflect.ClassTag
import scala.util.Using

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType
import org.scalatest.LoneElement._
import org.scalatest.funsuite.AnyFunSuite

import splice.hybrid.internal.chain.{Chain, Leg}
import splice.hybrid.internal.split.{HybridPosition, LegRange}
import splice.hybrid.{HandOver, HybridSource, HybridWorlds, Legs, OfLog}
import splice.simulation.leg.Passing
import splice.source._
import splice.source.errors.{CheckpointErrors, SpliceException}
import splice.source.log.{LogRange, Outlook}
import splice.source.options.FailOrWarn
import splice.source.runtime.{Boundedness, Jobs, Report}
import splice.testkit.LoggedMessages
import splice.testkit.internal.memory.{MemoryOptions, MemoryRange}

/** Tests of the calls that a chain forwards to the enumerators of its legs. */
final class LegCallsSuite extends AnyFunSuite with HybridWorlds {

  /** Source whose enumerators record their calls. */
  final private class Noted(inner: Source[_ <: Position], note: String => Unit) extends Source[Position] {
    override def kind: String                                                      = inner.kind
    override def schema: StructType                                                = inner.schema
    override def position(json: String): Position                                  = inner.position(json)
    override def boundedness: Boundedness                                          = inner.boundedness
    override def readsLog: Boolean                                                 = inner.readsLog
    override def beginsByOffsets: Boolean                                          = inner.beginsByOffsets
    override def enumerator(context: EnumeratorContext): SplitEnumerator[Position] =
      new Passing(SplitEnumerator.untyped(inner, context)) {
        override def start(at: StartPosition): Position = {
          note("start")
          super.start(at)
        }
        override def freeze(): Unit                                = note("freeze")
        override def replay(from: Position, until: Position): Unit = note(s"replay ${from.json} ${until.json}")
        override def retain(oldest: Position): Unit                = note(s"retain ${oldest.json}")
        override def stopped(last: => Option[Position]): Unit      = note(s"stopped ${last.map(_.json)}")
        override def reported(reports: Seq[Report]): Unit          = note(s"reported ${reports.size}")
        override def outlook(): Outlook                            = {
          note("outlook")
          super.outlook()
        }
        override def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory = {
          note(s"readers ${ranges.map(_.splitId).sorted.mkString(" ")}")
          val inner = super.readers(columns, ranges)
          new SplitReaderFactory {
            override def rows(task: TaskRanges): SplitReader[InternalRow] = {
              note("rows")
              inner.rows(task)
            }
          }
        }
        override def logRanges(history: SortedMap[LogPartition, Long]): SortedMap[LogPartition, LogRange] = {
          note("logRanges")
          super.logRanges(history)
        }
        override def committed(until: Position): Unit                 = note(s"committed ${until.json}")
        override def figures(at: Position): SortedMap[String, String] = {
          note("figures")
          super.figures(at)
        }
        override def gauges(at: Position): Iterable[(String, Long)] = {
          note("gauges")
          super.gauges(at)
        }
        override def close(): Unit = {
          note("close")
          super.close()
        }
        override def cost(range: SplitRange): Long             = 1000 + range.weight
        override def isMember(at: Position): String => Boolean = _ == s"${at.json} member"
      }
  }

  private trait Noting extends World {
    val notes: mutable.Buffer[String]          = mutable.Buffer.empty
    def failure(leg: String, of: String): Unit = ()
    def readsLogs: Boolean                     = false

    private def source(name: String, options: Seq[(String, String)]) = new Noted(
      if (readsLogs) new OfLog(Legs.source(options.toMap)) else Legs.source(options.toMap),
      note => {
        failure(name, note)
        notes += s"$name $note"
      }
    )

    private def handOver: HandOver = if (readsLogs) HandOver.nowMinus(Duration.ofHours(1)) else HandOver.offsets()

    private val legs = IndexedSeq(
      Leg(
        "history",
        source("history", MemoryOptions.of(history, "bounded" -> "true")),
        None,
        None,
        FailOrWarn.Fail,
        ""
      ),
      Leg("live", source("live", MemoryOptions.of(live)), None, Some(handOver), FailOrWarn.Fail, "")
    )

    val chain = new HybridSource(Chain(legs), None)

    def jobs: Jobs = Jobs.InThread

    def run[A](use: SplitEnumerator[HybridPosition] => A): A =
      Using.resource(chain.enumerator(Legs.context(log).copy(jobs = jobs)))(use)

    /** Returns the start, the end of the history, and the end of the first batch of the log. */
    def batches(run: SplitEnumerator[HybridPosition]): (HybridPosition, HybridPosition, HybridPosition) = {
      val first = run.start(StartPosition.Configured)
      val ended = run.advance(first, Limits.NotSet)
      val until = run.advance(ended, Limits.NotSet)
      notes.clear()
      (first, ended, until)
    }

    def noted(calls: => Unit): Seq[String] = {
      notes.clear()
      calls
      notes.toSeq
    }

    def at(of: HybridPosition, leg: String): String = of.position(leg).json
  }

  test("a batch is replayed in each of its legs, between the positions of that leg") {
    new Noting {
      run { hybrid =>
        val (first, ended, until) = batches(hybrid)
        val ofLive = s"live replay ${log.scope("leg-live").get("hand-over-00000000").get(2)} ${at(until, "live")}"
        assert(noted(hybrid.replay(first, until)) ==
          Seq(s"history replay ${at(first, "history")} ${at(ended, "history")}", ofLive))
        assert(noted(hybrid.replay(ended, until)) == Seq(ofLive))
      }
    }
  }

  Seq(true, false).foreach { isLog =>
    val result = if (isLog) "uses the stored switch, and its rule is not evaluated" else "is an error if it is no log"
    test(s"after a rollback, a leg that ends at another offset $result")(new Noting {
      override def readsLogs: Boolean                     = isLog
      var decided                                         = false
      override def failure(leg: String, of: String): Unit =
        if (decided && leg == "live" && Seq("logRanges", "start").contains(of))
          throw CheckpointErrors.missingEntry("The entry")
      val (first, ended, until) = run(batches)
      decided = true
      run { hybrid =>
        // Retention can end a leg after the end of the stored switch.
        val other =
          chain.position(ended.json.replace(at(ended, "history"), at(ended, "history").replace("[0,3]", "[0,4]")))
        val from = first.moved(other.position("history"))
        assert(from.leg == "history" && at(from, "history") != at(ended, "history"))
        def next = hybrid.advance(from, Limits.NotSet)
        if (isLog) {
          assert(next.leg == "live" && at(next, "live") == at(until, "live"))
          assert(ids(hybrid.splits(from, next)) == ids(hybrid.splits(ended, until)))
        } else {
          val error = intercept[SpliceException](next)
          assert(error.getCondition == "SPLICE_HYBRID.OTHER_END")
          Seq(ended, from).foreach(end => assert(error.getMessage.contains(at(end, "history"))))
        }
      }
    })
  }

  test("the end of a leg is frozen if the run begins before its stored hand-over") {
    new Noting {
      val (first, ended, _) = run(batches)
      run { hybrid =>
        hybrid.freeze()
        assert(noted(hybrid.advance(first, Limits.NotSet)) == Seq("history freeze"))
      }
    }
  }

  test("each leg receives its position in the oldest offset that Spark keeps") {
    new Noting {
      run { hybrid =>
        val (_, ended, until) = batches(hybrid)
        assert(noted(hybrid.retain(until)).toSet ==
          Set(s"history retain ${at(ended, "history")}", s"live retain ${at(until, "live")}"))
        assert(noted(hybrid.retain(ended)) == Seq(s"history retain ${at(ended, "history")}"))
      }
    }
  }

  test("at a stop, each leg receives its position in the last committed offset") {
    new Noting {
      run { hybrid =>
        val (_, ended, until) = batches(hybrid)
        assert(noted(hybrid.stopped(Some(until))).toSet ==
          Set(s"history stopped Some(${at(until, "history")})", s"live stopped Some(${at(until, "live")})"))
        assert(noted(hybrid.stopped(Some(ended))).toSet ==
          Set(s"history stopped Some(${at(ended, "history")})", "live stopped None"))
        assert(noted(hybrid.stopped(None)).toSet == Set("history stopped None", "live stopped None"))
      }
    }
  }

  test("a stop does not read the last committed offset if no leg needs it") {
    new World {
      Using.resource(Legs.run(source, log)) { c =>
        val _ = batches(c)
        c.stopped(fail("no offset is needed"))
      }
    }
  }

  test("the enumerators of all legs of the run receive the reports") {
    new Noting {
      run { hybrid =>
        batches(hybrid)
        assert(noted(hybrid.reported(Seq(Report("history/a", Long.box(1)), Report("live/a", Long.box(1))))).toSet ==
          Set("history reported 2", "live reported 2"))
      }
    }
  }

  test("the leg defines the cost of a range, or the weight is used if the run does not read the leg") {
    new Noting {
      val range: SplitRange = MemoryRange(live.name, 0, 0, 5, slotted = true)
      run { hybrid =>
        assert(hybrid.cost(LegRange("live", range)) == 5)
        batches(hybrid)
        assert(hybrid.cost(LegRange("live", range)) == 1005 && hybrid.cost(LegRange("history", range)) == 1005)
      }
    }
  }

  test("only splits of the current leg are members, and the leg receives split names without its prefix") {
    new Noting {
      run { hybrid =>
        val (_, ended, until) = batches(hybrid)
        val (old, own)        = (s"${at(ended, "history")} member", s"${at(until, "live")} member")
        val members           = hybrid.isMember(until)
        assert(members(s"live/$own") && !members(s"live/$old") && !members(s"history/$own") && !members(own))
        assert(hybrid.isMember(ended)(s"history/$old") && !hybrid.isMember(ended)(s"live/$old"))
      }
      run { hybrid =>
        val members = hybrid.isMember(hybrid.start(StartPosition.Configured).switched(
          "live",
          Legs.source(
            MemoryOptions.of(live).toMap
          ).position(s"""{"log":"${live.name}","next":[]}""")
        ))
        assert(members("live/a") && !members("history/a"), "the run does not read the leg")
      }
    }
  }

  test("an error of each call has the name of the leg") {
    val calls = Seq(
      "history" -> "start",
      "history" -> "freeze",
      "live"    -> "freeze",
      "live"    -> "logRanges",
      "live"    -> "start",
      "live"    -> "replay",
      "history" -> "readers",
      "live"    -> "reported",
      "live"    -> "figures",
      "live"    -> "gauges",
      "live"    -> "committed",
      "live"    -> "retain",
      "history" -> "stopped",
      "live"    -> "close"
    )
    calls.foreach { case (name, call) =>
      new Noting {
        override def failure(leg: String, of: String): Unit =
          if (leg == name && of.split(' ').head == call) throw CheckpointErrors.missingEntry("The entry")
        val error: SpliceException = intercept[SpliceException](run { hybrid =>
          hybrid.freeze()
          val (first, ended, until) = batches(hybrid)
          hybrid.replay(first, until)
          val _ = hybrid.readers(chain.schema, hybrid.splits(first, until))
          hybrid.reported(Nil)
          val _ = hybrid.figures(until)
          val _ = hybrid.gauges(until)
          hybrid.retain(ended)
          hybrid.stopped(Some(ended))
          hybrid.retain(until)
          hybrid.committed(until)
        })
        assert(error.getMessage.contains(s"Leg '$name': "), s"$call: ${error.getMessage}")
      }
    }
  }

  test("an error of a task that counts rows has the name of the leg") {
    var errors = Seq.empty[String]
    new Noting {
      override def failure(leg: String, of: String): Unit =
        if (of == "rows") throw CheckpointErrors.missingEntry("The entry")
      override def jobs: Jobs = new Jobs {
        override def run[A, B: ClassTag](inputs: Seq[A])(near: A => Seq[String])(task: A => B): Seq[B] = inputs.map {
          input =>
            try task(input)
            catch {
              case e: SpliceException =>
                errors :+= e.getMessage
                throw e
            }
        }
      }
      assertThrows[SpliceException](run(batches))
    }
    assert(errors.loneElement.contains("Leg 'history': "))
  }

  test("if a leg fails to close, the other legs are closed and the failure is thrown") {
    new World {
      history.failOnRequest("close")
      val run: SplitEnumerator[Position] = SplitEnumerator.untyped(source, Legs.context(log))
      run.advance(run.advance(run.start(StartPosition.Configured), Limits.NotSet), Limits.NotSet)
      assert(intercept[IllegalStateException](run.close()).getMessage.contains("close"))
      assert(history.requested("close") == 1 && live.requested("close") == 1)
      run.close()
      assert(history.requested("close") == 1 && live.requested("close") == 1, "closed once")
    }
  }

  test("a warning names an ended leg that fails to close") {
    new World {
      history.failOnRequest("close")
      val (_, logged) = LoggedMessages.during("splice.hybrid.internal.chain.LegEnumerators") {
        Using.resource(Legs.run(source, log))(c => c.committed(batches(c).last._2))
      }
      assert(logged.count(_.contains("Leg 'history' has ended, but the enumerator failed to close.")) == 1)
    }
  }

  test("an error of the check of a later leg has the name of the leg") {
    Seq("history", "live").foreach { name =>
      new Noting {
        override def failure(leg: String, of: String): Unit =
          if (leg == name && of == "outlook") throw CheckpointErrors.missingEntry("The entry")
        def refused(check: => Any): String = intercept[SpliceException](check).getMessage
        assert(refused(chain.plan(Legs.context(log), scan = false)).contains(s"Leg '$name': "))
        if (name == "live") assert(refused(chain.firstStart(Legs.context(log))).contains("Leg 'live': "))
        else chain.firstStart(Legs.context(log))
      }
    }
  }

  test("the readers of a batch are the readers of its legs, each with the ranges of its leg") {
    new Noting {
      run { hybrid =>
        val (first, ended, until)                   = batches(hybrid)
        val ofLive                                  = s"live readers ${live.name}-0 ${live.name}-1"
        def read(from: HybridPosition): Seq[String] =
          noted { val _ = hybrid.readers(chain.schema, hybrid.splits(from, until)) }
        assert(read(first).toSet == Set(s"history readers ${history.name}-0", ofLive))
        assert(read(ended) == Seq(ofLive))
      }
    }
  }
}
