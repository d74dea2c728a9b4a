// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import scala.collection.immutable.SortedMap
import scala.util.Using

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.Coordinator
import splice.hybrid.internal.chain.{Chain, Leg, OnHoles}
import splice.simulation.leg.Passing
import splice.source.internal.entries.Json
import splice.source.options.FailOrWarn
import splice.source.runtime.SideLog
import splice.source.{EnumeratorContext, Position, Source, SplitEnumerator, StartPosition}
import splice.testkit.internal.memory.{MemoryLog, MemoryPosition}

/** Tests of a driver that decides a switch while another driver of the same checkpoint stores a switch. */
final class TwoDriversSuite extends AnyFunSuite with HybridWorlds {

  /** Log with the rows 0, 2, 4 and 1, 3, 5 in its partitions. The history has the rows 0, 4 and 1. */
  private trait Holed extends World {
    override protected def archive: MemoryLog = {
      val created = Legs.log(1)
      Seq(0 -> 0L, 0 -> 2L, 1 -> 0L).foreach { case (p, at) => live.read(p, at, at + 1).foreach(created.archive(0, _)) }
      created
    }

    def driver(onHoles: String, side: SideLog = log): Coordinator =
      Legs.run(Legs.source(Legs.history(history), Legs.live(live, rule :+ ("onHoles" -> onHoles): _*)), side)

    /** Returns the rows of a run by batch. */
    def rows(driver: Coordinator): Seq[Seq[Long]] =
      Using.resource(driver)(c => batches(c).map(b => ids(c.ranges(b._1, b._2))))

    def replayed(onHoles: String): Seq[Seq[Long]] = rows(driver(onHoles))
  }

  /** Side log that runs another driver before it stores the switch. */
  final private class Overtaken(inner: SideLog, other: => Any) extends SideLog {
    override def get(key: String): Option[Seq[String]]                        = inner.get(key)
    override def keys(prefix: String): Seq[String]                            = inner.keys(prefix)
    override def remove(key: String): Unit                                    = inner.remove(key)
    override def scope(name: String): SideLog                                 = new Overtaken(inner.scope(name), other)
    override def folder(name: String): Path                                   = inner.folder(name)
    override def getOrCreate(key: String)(lines: => Seq[String]): Seq[String] = {
      val own = lines
      if (key.startsWith("hand-over-") && inner.get(key).isEmpty) { val _ = other }
      inner.getOrCreate(key)(own)
    }
  }

  private val filled  = Seq(Seq(0L, 1L, 4L), Seq(2L, 3L, 5L))
  private val ignored = Seq(Seq(0L, 1L, 4L), Seq(3L, 5L))

  Seq(("fill", "ignore", filled), ("ignore", "fill", ignored)).foreach { case (first, second, wanted) =>
    test(
      s"the switch of the first driver ($first) applies to the second driver ($second), which has decided another start"
    ) {
      new Holed {
        val late: Coordinator = driver(second, new Overtaken(log, assert(rows(driver(first)) == wanted)))
        assert(rows(late) == wanted)
        assert(replayed(first) == wanted && replayed(second) == wanted)
      }
    }
  }

  test("the batches of the second driver begin at the start of the first driver, also if a batch has one row") {
    new Holed {
      override def rule: Seq[(String, String)] = super.rule :+ ("maxRows" -> "1")
      def once(driver: Coordinator): Boolean   = rows(driver).flatten == ignored.flatten
      assert(once(driver("fill", new Overtaken(log, assert(once(driver("ignore")))))))
    }
  }

  test("a run with frozen ends keeps the ends when it uses the switch of another driver") {
    new Holed {
      val late: Coordinator = driver("ignore", new Overtaken(log, assert(rows(driver("fill")) == filled)))
      late.freeze()
      Using.resource(late) { c =>
        val all = batches(c)
        assert(all.map(b => ids(c.ranges(b._1, b._2))) == filled)
        live.append(0, 6)
        assert(c.advance(all.last._2, everything = false) == all.last._2)
      }
    }
  }

  test("the enumerator of the discarded start is closed") {
    new Holed {
      val late: Coordinator = driver("ignore", new Overtaken(log, assert(rows(driver("fill")) == filled)))
      Using.resource(late) { c =>
        val all = batches(c)
        c.committed(all.last._2)
        // Only the enumerator of the current leg is open.
        assert(live.requested("enumerator") - live.requested("close") == 1)
      }
      assert(live.requested("enumerator") == live.requested("close"))
      assert(history.requested("enumerator") == history.requested("close"))
    }
  }

  /** Log whose start position does not contain its ranges. */
  final private class Unplaced(inner: Source[_ <: Position]) extends Source[Position] {
    override def kind: String                                                      = inner.kind
    override def schema: StructType                                                = inner.schema
    override def position(json: String): Position                                  = inner.position(json)
    override def beginsByOffsets: Boolean                                          = true
    override def enumerator(context: EnumeratorContext): SplitEnumerator[Position] =
      new Passing(SplitEnumerator.untyped(inner, context)) {
        override def start(at: StartPosition): Position = MemoryPosition(live(super.start(at)), SortedMap.empty)
        private def live(at: Position)                  = Json.read(at.json).get.path("log").asText
      }
  }

  test("the switch of the first driver applies if only its ranges differ and its start is equal") {
    new Holed {
      def leg(name: String, of: Source[_ <: Position], rule: Option[HandOver], onHoles: OnHoles): Leg =
        Leg(name, of, None, rule, FailOrWarn.Fail, "", onHoles = onHoles)
      def driver(onHoles: OnHoles, side: SideLog): Coordinator = {
        val archive = leg("history", Legs.source(Legs.history(history)._2.toMap), None, OnHoles.Fill)
        val log     = new Unplaced(Legs.source(Legs.live(live)._2.toMap))
        val chain   = Chain(IndexedSeq(archive, leg("live", log, Some(HandOver.offsets()), onHoles)))
        Legs.run(new HybridSource(chain, None), side)
      }
      // The hole of partition 0 proves that the first driver chose the ranges.
      def ofFirst(rows: Seq[Seq[Long]]): Boolean = rows == Seq(Seq(0L, 1L, 4L), Seq(1L, 2L, 3L, 5L))
      val late: Coordinator                      =
        driver(OnHoles.Ignore, new Overtaken(log, assert(ofFirst(rows(driver(OnHoles.Fill, log))))))
      assert(ofFirst(rows(late)))
    }
  }
}
