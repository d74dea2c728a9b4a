// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import java.time.{Duration, Instant}

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.coordinator.internal.slots.SlotRules
import splice.coordinator.internal.{Coordinator, OffsetLog}
import splice.source.options.SourceOptions
import splice.source.{EnumeratorContext, Position, ReadMode, SourceProvider}
import splice.testkit.LoggedMessages
import splice.testkit.internal.memory.MemoryLog
import splice.testkit.simulation.SimulatedClock

/** The message of the driver about another number of slots. */
final class SlotChangeSuite extends AnyFunSuite {

  test("each change of the number of slots is logged once, with both numbers") {
    val log     = new MemoryLog("slot-change").addPartitions(8)
    val clock   = new SimulatedClock(Instant.parse("2026-01-01T00:00:00Z"))
    val source  = SourceProvider.create(SourceOptions(Map("source" -> "memory", "log" -> "slot-change")))
    val context = EnumeratorContext(new MemorySideLog, ReadMode.Stream, clock, 2, "run")
    var cores   = 2
    val run     = new Coordinator(source, context, SlotRules(2), 100, None, OffsetLog.Empty, Some(() => cores))

    def batch(from: Position): Position = {
      (0 until 8).foreach(log.append(_, 1L))
      clock.advance(Duration.ofSeconds(40))
      run.advance(from, everything = false)
    }

    val (_, messages) = LoggedMessages.during("splice.coordinator.internal") {
      val first = batch(run.initial())
      cores = 6
      val grown = (1 to 6).foldLeft(first)((at, _) => batch(at))
      cores = 4
      (1 to 6).foldLeft(grown)((at, _) => batch(at))
    }
    val changes = messages.filter(_.startsWith("The number of slots changes"))
    assert(changes.map(_.takeWhile(_ != ',')) ==
      Seq("from 2 to 6", "from 6 to 4").map(m => s"The number of slots changes $m"))
    assert(changes.head.contains("Spark has had cores for 6 tasks at a time since 2026-01-01T00:01:20Z"))
    run.close()
  }
}
