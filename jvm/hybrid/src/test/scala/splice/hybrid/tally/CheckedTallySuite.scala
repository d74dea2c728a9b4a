// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.tally

import java.time.{Duration, Instant}

import scala.annotation.tailrec
import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.{Coordinator, MemorySideLog}
import splice.hybrid.{HybridPosition, Legs, LocalSpark}
import splice.source._
import splice.testkit.memory.MemoryLog
import splice.testkit.simulation.SimulatedClock

/** Rules that are checked while a history is read. */
final class CheckedTallySuite extends AnyFunSuite with LocalSpark {

  /** A log of ten records, and a history with records 0 to 4, of which it has record 2 twice. */
  private trait World {
    val live: MemoryLog = Legs.log(1)
    (0 until 10).foreach(i => live.append(0, i.toLong))
    val history: MemoryLog = Legs.log(1)
    Seq(0L, 1L, 2L, 2L, 3L, 4L).foreach(i => history.archive(0, live.read(0, i, i + 1).head))

    val clock = new SimulatedClock(Instant.EPOCH)
    val side  = new MemorySideLog

    def start(more: (String, String)*): Coordinator = Legs.run(
      Legs.source(Legs.history(history, "maxRows" -> "2"), Legs.live(live, Seq("handOver" -> "offsets") ++ more: _*)),
      side,
      clock
    )

    /** Runs one batch, as Spark does. */
    def batch(c: Coordinator, from: Position): (Position, Seq[Long]) = {
      val until   = c.advance(from, everything = false)
      val tasks   = c.tasks(from, until)
      val readers = c.readers(Legs.source(Legs.live(live)).schema, tasks)
      val read    = tasks.map { task =>
        Using.resource(readers.rows(task)) { reader =>
          (SplitReader.items(reader).map(_.getLong(3)).toVector, reader.report(ended = true))
        }
      }
      c.reported(read.flatMap(_._2))
      (until, read.flatMap(_._1))
    }

    @tailrec final def drain(c: Coordinator, from: Position, out: Seq[Long] = Nil): Seq[Long] = {
      val (until, rows) = batch(c, from)
      if (until == from) out else drain(c, until, out ++ rows)
    }

    def refused(c: Coordinator, at: Position): Unit = {
      val error = intercept[SpliceException](c.advance(at, everything = false))
      assert(error.getCondition == "SPLICE_HAND_OVER.DUPLICATES")
      assert(error.getMessage.contains("4 rows of 3 offsets in 'history' (2 several times)"), error.getMessage)
    }
  }

  test(
    "the query fails a minute after the first duplicate, and again after a restart, and continues if the policy is warn"
  ) {
    new World {
      val (at, rows) = Using.resource(start()) { c =>
        val (one, first)  = batch(c, c.initial())
        val (two, second) = batch(c, one)
        clock.advance(Duration.ofMinutes(1))
        refused(c, two)
        (two, first ++ second)
      }
      assert(rows == Seq(0, 1, 2, 2) && at.asInstanceOf[HybridPosition].leg == "history")
      Using.resource(start())(c => refused(c, c.position(at.json)))
      Using.resource(start("onDuplicates" -> "warn")) { c =>
        assert(rows ++ drain(c, c.position(at.json)) == (0L until 10L).patch(2, Seq(2L), 0))
      }
      assert(history.asked("remaining") == 1)
    }
  }

  test("a batch whose reports are lost is read again at the switch") {
    new World {
      Using.resource(start("onDuplicates" -> "warn")) { c =>
        val first = c.initial()
        val lost  = c.advance(first, everything = false)
        assert(drain(c, lost) == Seq(2, 2, 3, 4, 5, 6, 7, 8, 9))
        val tally = TallyFormat.read(VersionedEntry.read("t", side.scope("leg-history").get("tally-00000000").get))
        assert(tally.offsets.map(o => (o.from, o.until, o.offsets.rows)) == Seq((0, 5, 6)))
      }
    }
  }
}
