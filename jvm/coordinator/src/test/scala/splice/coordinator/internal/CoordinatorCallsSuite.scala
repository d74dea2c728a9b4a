// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal

import java.io.{IOException, InterruptedIOException}
import java.time.Clock

import scala.collection.immutable.SortedMap
import scala.collection.mutable

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.source._
import splice.source.errors.{CheckpointErrors, SpliceException}
import splice.source.runtime.{Report, SideLog}

/** Calls of a source and its enumerators in one run, in their order. */
final class CoordinatorCallsSuite extends AnyFunSuite {

  final private class World(limits: Limits.Limited = Limits.NotSet) {
    var ends: SortedMap[Int, Long] = SortedMap.from((0 until 4).map(_ -> 10L))
    val log                        = new MemorySideLog
    val calls                      = mutable.ArrayBuffer.empty[String]
    val contexts                   = mutable.ArrayBuffer.empty[EnumeratorContext]
    var onRetain: () => Unit       = () => ()
    var onStart: () => Unit        = () => ()
    var onCheck: () => Unit        = () => ()

    /** The maximum number of rows that a batch reads of one partition. */
    var step = Long.MaxValue

    val source = new CounterSource(() => ends, limits) {

      override private[splice] def preflight(log: SideLog, isKnown: String => Boolean): Unit =
        calls += s"preflight after ${log.keys("").mkString(",")}"

      override private[splice] def firstStart(context: EnumeratorContext): Unit = {
        val _ = context.sideLog.getOrCreate("later-leg")(Seq("discarded"))
        calls += s"first start ${context.run}"
        onCheck()
      }

      override def enumerator(context: EnumeratorContext): SplitEnumerator[CounterPosition] = {
        contexts += context
        noted(contexts.size, super.enumerator(context))
      }
    }

    private def noted(number: Int, inner: SplitEnumerator[CounterPosition]) = new SplitEnumerator[CounterPosition] {
      private def note(what: String): Unit                   = calls += s"$number: $what"
      override def start(at: StartPosition): CounterPosition = {
        note(s"start $at")
        onStart()
        inner.start(at)
      }
      override def limits(at: CounterPosition): Limits.Limited                     = inner.limits(at)
      override def advance(from: CounterPosition, limits: Limits): CounterPosition =
        CounterPosition(inner.advance(from, limits).at.map { case (p, end) =>
          val begin = from.at.getOrElse(p, 0L)
          p -> (begin + math.min(end - begin, step))
        })
      override def splits(from: CounterPosition, until: CounterPosition): Seq[SplitRange]    = inner.splits(from, until)
      override def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory = {
        note(s"readers of ${columns.fieldNames.mkString(",")} in ${ranges.map(_.splitId).mkString(",")}")
        _ => throw new UnsupportedOperationException
      }
      override def evidence(at: CounterPosition): Option[Evidence] = {
        note(s"end ${at.json}")
        None
      }
      override def freeze(): Unit                                          = note("freeze")
      override def reported(reports: Seq[Report]): Unit                    = note(s"reported ${reports.size}")
      override def committed(until: CounterPosition): Unit                 = note("committed")
      override def retain(oldest: CounterPosition): Unit                   = onRetain()
      override def stopped(last: => Option[CounterPosition]): Unit         = note(s"stopped ${last.map(_.json)}")
      override def figures(at: CounterPosition): SortedMap[String, String] = SortedMap("position" -> at.json)
      override def close(): Unit                                           = note("close")
    }

    def run(sideLog: SideLog = log, name: String = "run", retained: Int = 100): Coordinator =
      new Coordinator(source, EnumeratorContext(sideLog, ReadMode.Stream, Clock.systemUTC(), 2, name), 2, retained)

    /** The calls since the last call of this method. */
    def requested(): Seq[String] = {
      val all = calls.toVector
      calls.clear()
      all
    }
  }

  test("each start checks the source before its legs are stored, and each bounded read checks the source first") {
    val world = new World
    world.run().open()
    assert(world.requested() == Seq("preflight after "))
    assert(world.log.keys("") == Seq("chain-00000000"))
    val read = world.run()
    read.everything()
    assert(world.requested().head == "preflight after chain-00000000")
  }

  test("only the first start checks the later parts, before the start, with a side log that is discarded") {
    val world = new World
    world.run().initial()
    assert(world.requested() == Seq("first start run-check", "1: start Configured"))
    assert(world.log.get("later-leg").isEmpty && world.log.keys("").contains("initial"))
    world.run().initial()
    assert(world.requested().isEmpty)
  }

  test("an enumerator is closed if another start was stored first, and the next enumerator is also frozen") {
    val world = new World
    val run   = world.run()
    run.freeze()
    world.onStart = () => {
      world.onStart = () => ()
      world.ends = SortedMap(3 -> 5L)
      val _ = world.run(name = "other").initial()
      world.ends = SortedMap.from((0 until 4).map(_ -> 10L))
    }
    val at = run.initial()
    assert(at == CounterPosition(SortedMap(3 -> 0L)))
    assert(world.requested().last == "1: close")
    run.advance(at, everything = false)
    assert(world.requested() == Seq("3: freeze"))
    run.close()
    assert(world.requested() == Seq("3: close"))
  }

  test("the ends of a run are fixed once, also after the start") {
    val world = new World
    val run   = world.run()
    val at    = run.initial()
    (1 to 2).foreach(_ => run.freeze())
    run.advance(at, everything = true)
    assert(world.calls.count(_.contains("freeze")) == 1)
  }

  test("a start that this run has decided keeps its enumerator") {
    val world = new World
    val run   = world.run()
    run.advance(run.initial(), everything = false)
    assert(world.contexts.size == 1 && !world.calls.exists(_.contains("close")))
  }

  test("a run that never used its enumerator does not open one to stop it") {
    val world = new World
    val run   = world.run()
    run.reported(Nil)
    run.stopped(fail("the checkpoint is read"))
    run.close()
    assert(world.requested().isEmpty && world.contexts.isEmpty)
    val begun = world.run()
    val until = begun.advance(begun.initial(), everything = false)
    world.calls.clear()
    begun.reported(Nil)
    begun.reported(Seq(Report("n-0", "a"), Report("n-1", "b")))
    begun.stopped(Some(until.json))
    begun.close()
    assert(world.requested() == Seq("1: reported 2", s"1: stopped ${Some(until.json)}", "1: close"))
  }

  // Spark's asynchronous progress tracking reports the last commits of a run after Spark has stopped the source.
  test("a commit after the close reaches no enumerator") {
    val world = new World
    val run   = world.run()
    val until = run.advance(run.initial(), everything = false)
    run.committed(until)
    run.close()
    world.calls.clear()
    run.committed(until)
    assert(world.requested().isEmpty)
    val unused = world.run()
    unused.close()
    unused.committed(until)
    assert(world.requested().isEmpty && world.contexts.size == 1, "a closed run opens an enumerator")
  }

  test("a batch of all available rows has no limit of the source") {
    val world = new World(Limits.Limited(minRows = Some(1000)))
    val run   = world.run()
    val one   = run.advance(run.initial(), everything = false)
    world.ends = world.ends.updated(0, 11L)
    assert(run.advance(one, everything = false) == one)
    assert(run.advance(one, everything = true) != one)
  }

  test("a bounded read continues until no row remains") {
    val world = new World
    world.step = 3
    assert(world.run().everything().map(_.weight).sum == 40)
  }

  test("readers of a batch get the ranges of all its tasks, and the evidence belongs to the position") {
    val world = new World
    val run   = world.run()
    val start = run.initial()
    val until = run.advance(start, everything = false)
    world.calls.clear()
    run.readers(world.source.schema, run.tasks(start, until))
    run.evidence(until)
    assert(world.requested() == Seq("1: readers of n in n-0,n-2,n-1,n-3", s"1: end ${until.json}"))
  }

  test("a failed check of the first start stores no decision") {
    val world = new World
    world.onCheck = () => throw CheckpointErrors.corrupt("a later leg", "its topic was deleted")
    assertThrows[SpliceException](world.run().initial())
    assert(!world.log.keys("").contains("initial") && world.contexts.isEmpty)
    world.onCheck = () => ()
    world.run().initial()
    assert(world.log.keys("").contains("initial"))
  }

  test("the progress has the figures of the source and the slots") {
    val world = new World
    val run   = world.run()
    val start = run.initial()
    assert(run.figures(start) == SortedMap("position" -> start.json))
    val until = run.advance(start, everything = false)
    assert(run.figures(until) == SortedMap("position" -> until.json, "slots" -> "2"))
  }

  test("the enumerator has the settings of the checkpoint's first start") {
    val world = new World
    world.run().initial()
    val conf = new SQLConf
    conf.setConfString("spark.sql.session.timeZone", "Asia/Tokyo")
    SQLConf.withExistingConf(conf) {
      val start = world.source.position("""{"0":0}""")
      val run   = world.run()
      run.advance(start, everything = false)
    }
    val zones = world.contexts.map(_.session.settings.toMap.apply("spark.sql.session.timeZone"))
    assert(zones.distinct.size == 1 && zones.size == 2 && zones.head != "Asia/Tokyo")
  }

  test("a storage failure during the removal of entries fails no commit, but an interrupt ends the commit") {
    val world = new World
    val run   = world.run(retained = 0)
    val until = run.advance(run.initial(), everything = false)
    world.calls.clear()
    Seq(new IOException("503"), CheckpointErrors.missingEntry("x")).foreach { e =>
      world.onRetain = () => throw e
      assert(Warnings.during(classOf[Coordinator].getName)(run.committed(until)).size == 1)
    }
    world.onRetain = () => throw new InterruptedIOException("stopped")
    assertThrows[InterruptedIOException](run.committed(until))
    world.onRetain = () => throw new IllegalStateException("a defect")
    assertThrows[IllegalStateException](run.committed(until))
    assert(world.requested() == Seq.fill(4)("1: committed"))
  }
}
