// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.handover

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.hybrid.handover.FixedLog
import splice.hybrid.internal.chain.{Chain, Leg}
import splice.hybrid.internal.history.LegOffsets
import splice.hybrid.{HandOver, Legs, LogColumns}
import splice.source.StartPosition.Offsets
import splice.source.errors.SpliceException
import splice.source.log.{LogRange, OffsetRuns}
import splice.source.options.FailOrWarn
import splice.source.{Evidence, LogPartition, OffsetRanges, OffsetSummary}
import splice.testkit.internal.memory.MemoryPosition

/** Property tests of exact hand-over with random histories and logs. The expected result is computed from lists of
  * single offsets: all records, the copies in archives, and the remaining records of the log.
  */
final class HandOverPropertySuite extends AnyFunSuite {

  import HandOverCases._

  private def leg(name: String, rule: Option[HandOver]) =
    Leg(name, Legs.source(Legs.history(Legs.log())), None, rule, FailOrWarn.Fail, s"$name.select")

  private val archives = (1 to 4).map(i => leg(s"archive$i", None))
  private val live     = leg("live", Some(HandOver.offsets()))

  private val Unasked = Evidence(MemoryPosition("x", SortedMap.empty), () => fail("not needed"))

  private def decide(world: World): Either[SpliceException, SortedMap[LogPartition, OffsetRanges]] = {
    val marked = archives.zip(world.archives).zipWithIndex.map { case ((leg, rows), i) =>
      leg.copy(logColumns = Option.when(world.excluded(i))(LogColumns.none)) -> rows
    }
    val chain   = Chain((marked.map(_._1) :+ live).toIndexedSeq)
    val rowsOf  = marked.map { case (leg, rows) => leg.name -> rows }.toMap
    val history = chain.history(chain.last).map { leg =>
      val own  = rowsOf(leg.name).groupMap(_._1)(_._2)
      val held = own.toSeq.map { case (p, all) =>
        val offsets = new OffsetRuns
        all.foreach(offsets.add)
        OffsetSummary(p, offsets)
      }
      LegOffsets(leg, held)
    }
    val log = new FixedLog(SortedMap.from(world.logs.map(l => l.partition -> LogRange(l.earliest, l.end))))
    val own = live.copy(onHoles = world.onHoles, onGap = world.onGap, onDuplicates = world.onDuplicates)
    try {
      val decision = HandOverDecision.decide(archives.last, own, Unasked, Instant.EPOCH)(history, log)
      decision.start match {
        case Offsets(starts) => Right(starts)
        case other           => fail(s"$other")
      }
    } catch { case e: SpliceException => Left(e) }
  }

  /** Offsets that a reader of the log returns. */
  private def read(log: Log, ranges: OffsetRanges): Seq[Long] = log.records.toSeq.sorted.filter { o =>
    o >= ranges.from ||
    (ranges.fill.exists { case (from, until) => from <= o && o < until } && !ranges.held.exists(_.contains(o)))
  }

  private def check(world: World, seen: mutable.Map[String, Int]): Unit = {
    val expected = Expected(world)
    val marks    = expected.cases.toSeq ++ world.policies
    marks.foreach(mark => seen(mark) = seen.getOrElse(mark, 0) + 1)
    for { a <- marks; b <- world.policies if a < b || !world.policies.contains(a) } {
      val pair = s"$a and $b"
      seen(pair) = seen.getOrElse(pair, 0) + 1
    }
    (decide(world), expected.rejection) match {
      case (Left(error), Some((condition, texts))) =>
        assert(error.getCondition == condition, s"$world: ${error.getMessage}")
        texts.foreach(text => assert(error.getMessage.contains(text), s"$world: ${error.getMessage} lacks '$text'"))
      case (Left(error), None)          => fail(s"$world: ${error.getMessage}")
      case (Right(starts), Some(error)) => fail(s"$world: $starts, but $error is expected")
      case (Right(starts), None)        =>
        world.logs.foreach { log =>
          val copies = world.archives.flatten.collect { case (log.partition, offset) => offset }
          val out    = copies ++ read(log, starts.getOrElse(log.partition, OffsetRanges(log.earliest)))
          assert(out.sorted == expected.rows(log).sorted, s"$world: $starts")
        }
    }
  }

  test("each case delivers every row once, or is rejected with the ranges") {
    val seen = mutable.Map.empty[String, Int]
    (1 to Worlds).foreach(seed => check(World.random(new Random(seed.toLong)), seen))
    val wanted = Expected.Cases ++ World.Policies ++
      (for { a <- Expected.Cases; b <- World.Policies } yield s"$a and $b") ++
      (for {
        a <- World.Policies; b <- World.Policies if a < b && a.takeWhile(_ != ' ') != b.takeWhile(_ != ' ')
      } yield s"$a and $b")
    val rare = wanted.filter(mark => seen.getOrElse(mark, 0) < Often).map(mark => s"$mark: ${seen.getOrElse(mark, 0)}")
    assert(rare.isEmpty, rare.mkString(", "))
    info(seen.toSeq.filterNot(_._1.contains(" and ")).sorted.map { case (mark, n) => s"$mark: $n" }.mkString(", "))
  }
}
