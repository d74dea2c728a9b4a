// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.tally

import java.time.{Duration, Instant}

import scala.annotation.tailrec
import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.Coordinator
import splice.coordinator.internal.sidelog.MemorySideLog
import splice.hybrid.internal.chain.LegEnumerators
import splice.hybrid.internal.options.ChainParser
import splice.hybrid.internal.split.HybridPosition
import splice.hybrid.{Legs, LocalSpark}
import splice.source.errors.SpliceException
import splice.source.internal.entries.VersionedEntry
import splice.source.options.SourceOptions
import splice.source.{Evidence, LogPartition, OffsetSummary, Position, SplitReader}
import splice.testkit.internal.memory.MemoryLog
import splice.testkit.simulation.SimulatedClock

/** Tests of rule checks during the read of a history, and of the tally of a log that an earlier run stored. */
final class CheckedTallySuite extends AnyFunSuite with LocalSpark {

  /** Log of ten records, and a history with records 0 to 4. The history has record 2 twice. */
  private trait World {
    val live: MemoryLog = Legs.log(1)
    (0 until 10).foreach(i => live.append(0, i.toLong))
    val history: MemoryLog = Legs.log(1)
    Seq(0L, 1L, 2L, 2L, 3L, 4L).foreach(i => history.archive(0, live.read(0, i, i + 1).head))

    val clock = new SimulatedClock(Instant.EPOCH)
    val side  = new MemorySideLog

    def isColumnar: Boolean = false

    def start(more: (String, String)*): Coordinator = Legs.run(
      Legs.source(
        Legs.history(history, "maxRows" -> "2", "columnar" -> isColumnar.toString),
        Legs.live(live, Seq("handOver" -> "offsets") ++ more: _*)
      ),
      side,
      clock
    )

    /** Runs one batch, as Spark does. */
    def batch(c: Coordinator, from: Position): (Position, Seq[Long]) = {
      val until = c.advance(from, everything = false)
      (until, read(c, from, until))
    }

    /** Reads one batch and delivers the reports of its tasks. */
    def read(c: Coordinator, from: Position, until: Position, asBatches: Boolean = false): Seq[Long] = {
      val tasks   = c.tasks(from, until)
      val readers = c.readers(Legs.source(Legs.live(live)).schema, tasks)
      val read    = tasks.map { task =>
        if (asBatches && readers.columnar) Using.resource(readers.batches(task)) { reader =>
          val ids = SplitReader.items(reader).flatMap(b => (0 until b.numRows).map(b.column(3).getLong)).toVector
          (ids, reader.report(ended = true))
        }
        else Using.resource(readers.rows(task)) { reader =>
          (SplitReader.items(reader).map(_.getLong(3)).toVector, reader.report(ended = true))
        }
      }
      c.reported(read.flatMap(_._2))
      read.flatMap(_._1)
    }

    /** Numbers of rows in the stored tallies. */
    def stored: Seq[Long] = {
      val log = side.scope("leg-history")
      log.keys("tally-").flatMap(key => log.get(key).map(VersionedEntry.read(key, _))).map(
        TallyFormat.read(_).offsets.map(_.offsets.rows).sum
      )
    }

    @tailrec final def drain(c: Coordinator, from: Position, out: Seq[Long] = Nil): Seq[Long] = {
      val (until, rows) = batch(c, from)
      if (until == from) out else drain(c, until, out ++ rows)
    }

    def refused(c: Coordinator, at: Position): Unit = {
      val error = intercept[SpliceException](c.advance(at, everything = false))
      assert(error.getCondition == "SPLICE_HAND_OVER_DATA.DUPLICATES")
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
      assert(history.requested("remaining") == 1)
    }
  }

  test("a batch with lost reports is read again at the switch") {
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

  test("a stop stores the counts of committed batches, including a replayed batch") {
    new World {
      private def run[A](body: Coordinator => A): A = Using.resource(start("onDuplicates" -> "warn"))(body)
      val (first, second)                           = run { c =>
        val (one, _) = batch(c, c.initial())
        val (two, _) = batch(c, one)
        c.stopped(Some(one.json))
        (one, two)
      }
      assert(stored == Seq(2L))
      run { c =>
        assert(read(c, c.position(first.json), c.position(second.json)) == Seq(2L, 2L))
        c.stopped(None)
        assert(stored == Seq(2L))
        c.stopped(Some(second.json))
      }
      assert(stored == Seq(4L))
      run { c =>
        val (last, _) = batch(c, c.position(second.json))
        c.stopped(Some(last.json))
      }
      assert(stored == Seq(6L))
    }
  }

  for ((columnar, asBatches) <- Seq((false, false), (true, false), (true, true)))
    test(s"no job reads a leg that is covered by reports, columnar = $columnar, as batches = $asBatches") {
      new World {
        override def isColumnar: Boolean = columnar
        Using.resource(start("onDuplicates" -> "warn")) { c =>
          @tailrec def go(at: Position, out: Seq[Long] = Nil): Seq[Long] = {
            val until = c.advance(at, everything = false)
            if (until == at) out else go(until, out ++ read(c, at, until, asBatches))
          }
          assert(go(c.initial()) == (0L until 10L).patch(2, Seq(2L), 0))
        }
        assert(stored == Seq(6L) && history.requested("readers") == 3, "one per batch")
        // Reports of the readers of the leg are also delivered.
        assert(history.reported.size == 3 + 3 + 1)
      }
    }

  test("the end of a log replaces a stored tally with other offsets, and a tally with the same offsets is kept") {
    val broker  = "kafka.bootstrap.servers" -> "broker:9092"
    val bounded = Seq("source" -> "kafka", "subscribe" -> "t", "endingOffsets" -> "latest", broker)
    val next    = Seq("source" -> "kafka", "subscribe" -> "t", "handOver" -> "offsets", broker)
    val chain   = ChainParser.parse(SourceOptions(Legs.options("bounded" -> bounded, "live" -> next)))
    val context = Legs.context(new MemorySideLog)
    val at      = chain.first.source.position("""{"t":{"0":10}}""")

    def end(until: Long): Evidence =
      Evidence(at, offsets = () => Seq(OffsetSummary.ofLog(LogPartition("t", 0), 0, until)))
    def run(until: Long): Seq[OffsetSummary] = {
      val enumerators = new LegEnumerators(chain, context)(_ => None)
      val tallies     = new Tallies(chain, context, enumerators, _ => false, _.source.schema)
      tallies.ended(chain.first, at, end(until))
      val both = HybridPosition.first(chain, at)
      tallies.history(chain.last, both, Nil)(_ => fail("the end is stored")).flatMap(_.held)
    }
    def keys: Seq[String] = context.sideLog.scope("leg-bounded").keys("tally-")

    assert(run(until = 10).map(_.until) == Seq(10))
    val first = keys
    assert(run(until = 10).map(_.until) == Seq(10) && keys == first)
    assert(run(until = 25).map(_.until) == Seq(25) && keys.size == 1 && keys != first)
  }
}
