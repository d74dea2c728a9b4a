// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.handover

import scala.annotation.tailrec
import scala.util.{Try, Using}

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.hybrid.Legs
import splice.hybrid.internal.split.LegRange
import splice.source.errors.SpliceException
import splice.source.runtime.SideLog
import splice.source.{Position, Source, SplitRange}
import splice.testkit.internal.memory.{MemoryLog, MemoryRange}

/** Tests of a driver that is killed at each durable step of a switch, and of the next driver. */
final class SwitchCrashSuite extends AnyFunSuite {

  private class Died extends RuntimeException("the driver is killed")

  /** Side log that kills the driver before or after the n-th entry. */
  private class MortalSideLog(inner: SideLog, steps: MortalSideLog.Steps) extends SideLog {
    override def get(key: String): Option[Seq[String]]                         = inner.get(key)
    override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] =
      inner.get(key).getOrElse {
        val decided = decide
        steps.pass(s"before $key")
        val kept = inner.getOrCreate(key)(decided)
        steps.pass(s"after $key")
        kept
      }
    override def keys(prefix: String): Seq[String] = inner.keys(prefix)
    override def remove(key: String): Unit         = inner.remove(key)
    override def scope(name: String): SideLog      = new MortalSideLog(inner.scope(name), steps)
    override def folder(name: String): Path        = inner.folder(name)
  }

  private object MortalSideLog {
    class Steps(deadly: Int) {
      private var seen             = 0
      var names: Vector[String]    = Vector.empty
      def pass(name: String): Unit = {
        names :+= name
        seen += 1
        if (seen == deadly) throw new Died
      }
    }
  }

  private trait World {
    val live: MemoryLog = Legs.log()
    (0 until 6).foreach(i => live.append(i % 2, i.toLong))
    val history: MemoryLog            = Legs.archiveOf(live, Map(0 -> 2, 1 -> 1))
    val durable                       = new MemorySideLog
    def source: Source[_ <: Position] = Legs.source(Legs.history(history), Legs.live(live, "handOver" -> "offsets"))

    /** Logged offsets by batch, which simulate Spark's offset log. */
    var offsets: Vector[Position] = Vector.empty

    def ids(ranges: Seq[SplitRange]): Seq[Long] = ranges.collect { case LegRange(_, r: MemoryRange) =>
      MemoryLog(r.log).read(r.partition, r.from, r.until).map(_.id)
    }.flatten

    /** Runs a driver from the durable state to the end of the data. */
    def live(steps: MortalSideLog.Steps): Unit =
      Using.resource(Legs.run(source, new MortalSideLog(durable, steps))) { c =>
        @tailrec def go(at: Position): Unit = {
          val next = c.advance(at, everything = false)
          if (next != at) {
            steps.pass("before the offset")
            offsets :+= next
            steps.pass("after the offset")
            go(next)
          }
        }
        if (offsets.isEmpty) offsets :+= c.initial()
        go(c.position(offsets.last.json))
      }

    def rows: Seq[Long] = Using.resource(Legs.run(source, durable)) { c =>
      val all = offsets.map(at => c.position(at.json))
      all.zip(all.drop(1)).flatMap { case (from, until) => ids(c.ranges(from, until)) }.sorted
    }
  }

  private val steps: Vector[String] = {
    val counted = new MortalSideLog.Steps(-1)
    new World { live(counted) }
    counted.names
  }

  test("a complete run has exactly the steps at which this suite kills the driver") {
    val entries = Seq("tally-00000000", "hand-over-00000000")
    assert(steps.filter(step => entries.exists(entry => step == s"after $entry")) == entries.map(e => s"after $e"))
    assert(steps.count(_ == "after the offset") == 2)
  }

  steps.indices.foreach { i =>
    test(
      s"killed ${steps(i)} (step ${i + 1}): each row once, and no call of the rule after its first durable decision"
    ) {
      new World {
        val died = Try(live(new MortalSideLog.Steps(i + 1)))
        assert(died.failed.toOption.exists(_.isInstanceOf[Died]))
        val decided: Boolean           = durable.scope("leg-history").get("tally-00000000").isDefined
        val requested: Int             = history.requested("remaining")
        def start: Option[Seq[String]] = durable.scope("leg-live").get("hand-over-00000000")
        val begun: Option[Seq[String]] = start
        // Retention and growth continue between two drivers.
        live.append(0, 6)
        live(new MortalSideLog.Steps(-1))
        assert(rows == (0L to 6L))
        if (decided) assert(history.requested("remaining") == requested)
        else assert(history.requested("remaining") == requested + 1)
        begun.foreach(lines => assert(start.contains(lines)))
      }
    }
    if (i > 0)
      test(
        s"killed ${steps(i)} (step ${i + 1}), then without the history: rejected before the switch, then each row once"
      ) {
        new World {
          var isShort                                = false
          override def source: Source[_ <: Position] = if (isShort) Legs.source(Legs.live(live)) else super.source
          assert(Try(live(new MortalSideLog.Steps(i + 1))).isFailure)
          isShort = true
          live.append(0, 6)
          if (durable.scope("leg-live").keys("hand-over-").isEmpty) {
            val error = intercept[SpliceException](live(new MortalSideLog.Steps(-1)))
            assert(error.getCondition == "SPLICE_CHECKPOINT.SOURCE_CHANGED" &&
              error.getMessage.contains("'history' has not ended"))
            isShort = false
          }
          val before: Int = history.requested("enumerator")
          live(new MortalSideLog.Steps(-1))
          if (isShort) assert(history.requested("enumerator") == before)
          isShort = false
          assert(rows == (0L to 6L))
        }
      }
  }
}
