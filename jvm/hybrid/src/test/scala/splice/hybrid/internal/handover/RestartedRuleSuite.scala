// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.handover

import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.Coordinator
import splice.coordinator.internal.sidelog.MemorySideLog
import splice.hybrid.internal.chain.{Chain, Leg}
import splice.hybrid.internal.split.HybridPosition
import splice.hybrid.{HandOver, HybridSource, HybridWorlds, Legs, LogColumns, OfLog}
import splice.source.errors.{SpliceException, SpliceOptionException}
import splice.source.options.FailOrWarn
import splice.source.{Position, Source}
import splice.testkit.LoggedMessages
import splice.testkit.internal.memory.{MemoryLog, MemoryOptions}

/** Tests of restarts with changed options of started or ended legs. The stored decisions remain valid. */
final class RestartedRuleSuite extends AnyFunSuite with HybridWorlds {

  test("logColumns of an ended leg may stay in the options of a restart") {
    new World {
      val ended: String = Using.resource(Legs.run(source, log))(batches(_)).last._2.json
      live.append(0, 6)
      Seq("none", """{"topic":"a","partition":"b","offset":"c"}""").foreach { columns =>
        Seq(Seq("handOver" -> "offsets"), Seq("handOver" -> "nowMinus", "handOver.duration" -> "1h"), Nil).foreach {
          rule =>
            val changed: Source[_ <: Position] =
              Legs.source(Legs.history(history, "logColumns" -> columns), Legs.live(live, rule: _*))
            Using.resource(Legs.run(changed, log)) { c =>
              val at = c.position(ended)
              assert(ids(c.ranges(at, c.advance(at, everything = false))) == Seq(6))
            }
        }
      }
    }
  }

  test("logColumns without effect fails the first start with the name of the option") {
    new World {
      override def bound: Seq[(String, String)] = Seq("logColumns" -> "none")
      val error: SpliceOptionException          = intercept[SpliceOptionException](Legs.run(source, log))
      assert(error.getMessage.contains("live.handOver, history.logColumns"))
      assert(log.scope("leg-history").keys("").isEmpty)
    }
  }

  /** Chain of an archive, the excluded log that continues it, a second archive, and the log that continues the second
    * archive.
    */
  private trait Two {
    val other: MemoryLog = Legs.log(1)
    val live: MemoryLog  = Legs.log(1)
    (0 until 6).foreach { i =>
      other.append(0, 100L + i)
      live.append(0, i.toLong)
    }
    val first: MemoryLog    = Legs.archiveOf(other, Map(0 -> 3))
    val second: MemoryLog   = Legs.archiveOf(live, Map(0 -> 4))
    val side: MemorySideLog = new MemorySideLog

    def created(
        name: String,
        of: Source[_ <: Position],
        rule: Option[HandOver],
        columns: Option[LogColumns] = None
    ): Leg =
      Leg(name, of, None, rule, FailOrWarn.Fail, s"$name.select", logColumns = columns)

    def memory(of: MemoryLog, more: (String, String)*): Source[_ <: Position] =
      Legs.source(MemoryOptions.of(of, more: _*).toMap)

    def source(rule: Option[HandOver]): Source[_ <: Position] = new HybridSource(
      Chain(IndexedSeq(
        created("a", memory(first, "bounded" -> "true"), None),
        created("k", new OfLog(memory(other, "bounded" -> "true")), rule, Some(LogColumns.none)),
        created("b", memory(second, "bounded" -> "true"), None),
        created("live", memory(live), Some(HandOver.offsets()))
      )),
      None
    )

    def run[A](rule: Option[HandOver])(use: Coordinator => A): A = Using.resource(Legs.run(source(rule), side))(use)

    def advance(c: Coordinator, from: Position, until: String): Position =
      Iterator.iterate(from)(c.advance(_, everything = false)).find(leg(_) == until).get
  }

  private val exact = Some(HandOver.offsets())
  private val timed = Some(HandOver.nowMinus(java.time.Duration.ofDays(36500)))

  test("a changed rule of a started and excluded log does not change the count of a later rule") {
    for (stored <- Seq(exact, timed, None); changed <- Seq(exact, timed, None)) new Two {
      val at: String           = run(stored)(c => advance(c, c.initial(), "b").json)
      def switched(): Position = run(changed)(c => advance(c, c.position(at), "live"))
      // The first archive belongs to another log than the last leg. Only a counting rule of the excluded log has
      // counted this archive.
      if (stored == exact) assert(switched().asInstanceOf[HybridPosition].position("live").json.contains("[[0,6]]"))
      else assert(intercept[SpliceException](switched()).getCondition == "SPLICE_HAND_OVER.PARTITION_NOT_FOUND")
    }
  }

  test("a start warns of a rule that was changed after its switch, and not of an unchanged rule") {
    new World {
      val at: String = Using.resource(Legs.run(source, log))(batches(_)).last._2.json
      def warned(of: Source[_ <: Position]): Seq[String] =
        LoggedMessages.during("splice.hybrid.internal.handover.LegEntries") {
          Using.resource(Legs.run(of, log))(c => c.advance(c.position(at), everything = false))
        }._2
      assert(warned(source).isEmpty)
      val times: Seq[(String, String)] = Seq("handOver" -> "nowMinus", "handOver.duration" -> "1h")
      val found: Seq[String]           = warned(Legs.source(Legs.history(history), Legs.live(live, times: _*)))
      assert(found.size == 1)
      Seq(
        "of leg 'live' was decided at ",
        "by the rule 'handOver=offsets handOver.topic=topic",
        "The rule 'handOver=nowMinus handOver.duration=3600000ms' of this start has no effect"
      ).foreach(words => assert(found.head.contains(words), found))
      assert(warned(Legs.source(Legs.history(history), Legs.live(live))).size == 1, "the rule was removed")
    }
  }
}
