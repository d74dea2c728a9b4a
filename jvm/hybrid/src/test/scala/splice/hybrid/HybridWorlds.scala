// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import splice.coordinator.internal.Coordinator
import splice.coordinator.internal.sidelog.MemorySideLog
import splice.hybrid.internal.split.{HybridPosition, LegRange}
import splice.source.{Position, Source, SplitRange}
import splice.testkit.internal.memory.{MemoryLog, MemoryRange}

/** History with the first three of six records of a log, and helpers for runs over the history and the log. */
trait HybridWorlds {

  protected trait World {
    val live: MemoryLog = Legs.log()
    (0 until 6).foreach(i => live.append(i % 2, i.toLong, millis = 1000L * i))
    val history: MemoryLog = archive
    val log                = new MemorySideLog

    protected def archive: MemoryLog = Legs.archiveOf(live, Map(0 -> 2, 1 -> 1))

    def rule: Seq[(String, String)]  = Seq("handOver" -> "offsets")
    def own: Seq[(String, String)]   = Nil
    def bound: Seq[(String, String)] = Nil

    lazy val source: Source[_ <: Position] =
      Legs.source(Legs.history(history, bound: _*), Legs.live(live, rule ++ own: _*))

    def ids(ranges: Seq[SplitRange]): Seq[Long] = ranges.collect { case LegRange(_, range: MemoryRange) =>
      MemoryLog(range.log).read(range.partition, range.from, range.until).map(_.id)
    }.flatten.sorted
  }

  protected def leg(p: Position): String = p.asInstanceOf[HybridPosition].leg

  /** Returns all batches until no data is available. */
  protected def batches(c: Coordinator, everything: Boolean = false): Seq[(Position, Position)] =
    Iterator.unfold(c.initial()) { at =>
      val next = c.advance(at, everything)
      if (next == at) None else Some(((at, next), next))
    }.toSeq
}
