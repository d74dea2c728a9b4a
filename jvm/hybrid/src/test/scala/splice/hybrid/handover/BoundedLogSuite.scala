// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.handover

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.hybrid.internal.chain.Leg
import splice.hybrid.internal.handover.HandOverDecision
import splice.hybrid.internal.history.LegOffsets
import splice.hybrid.{HandOver, Legs}
import splice.kafka.internal.bounds.Filled
import splice.kafka.internal.enumerator.SimulatedRun
import splice.kafka.internal.enumerator.SimulatedRun.t
import splice.source.options.FailOrWarn
import splice.source.{Evidence, Limits, StartPosition}

/** Tests of a chain of an archive, a bounded Kafka leg that fills the holes of the archive, and the same log. */
final class BoundedLogSuite extends AnyFunSuite {

  private val seeds = sys.env.get("SEED").map(s => Seq(s.toLong)).getOrElse(1L to 100L)

  private def leg(name: String, more: (String, String)*): Leg = {
    val options = Map("source" -> "kafka", "subscribe" -> "t", "kafka.bootstrap.servers" -> "broker:9092") ++ more
    Leg(name, Legs.source(options), None, Some(HandOver.offsets()), FailOrWarn.Fail, s"$name.select")
  }

  private val bounded = leg("bounded", "endingOffsets" -> "latest")
  private val live    = leg("live")

  private def run(records: Long, options: (String, String)*): SimulatedRun = {
    val created = new SimulatedRun(options: _*)
    created.log.create("t", 1)
    created.log.fill("t", 0, records.toInt)
    created
  }

  /** Reads a bounded leg to its end. Returns its end and the offsets. */
  private def end(run: SimulatedRun, at: StartPosition, rows: Long): (Evidence, Seq[Long]) = {
    val e     = run.start()
    val from  = run.begin(at, e)
    val until = Iterator.iterate(from)(e.advance(_, Limits.Limited(rows = Some(rows)))).find(e.evidence(_).nonEmpty).get
    e.evidence(until).get -> Filled.read(e.splits(from, until)).getOrElse(t(0), Nil)
  }

  private def start(end: Evidence, run: SimulatedRun): StartPosition = {
    val history = Seq(LegOffsets(bounded, end.offsets()))
    HandOverDecision.decide(bounded, live, end, Instant.EPOCH)(history, run.start()).start
  }

  test("each offset is in the archive or is read by one of the two Kafka legs, for any end of the first Kafka leg") {
    seeds.foreach { seed =>
      withClue(s"SEED=$seed: ") {
        val random  = new Random(seed)
        val model   = Filled.random(random, 1L + random.nextInt(60), random.nextBoolean())
        val records = model.cut + random.nextInt(10)
        val ending  = random.nextLong(records + 1)
        val first   = run(records, "endingOffsets" -> s"""{"t":{"0":$ending}}""")

        val (ended, filled) = end(first, StartPosition.Offsets(SortedMap(t(0) -> model.ranges)), 1L + random.nextInt(9))
        val second          = run(records)
        val e               = second.start()
        val from            = second.begin(start(ended, second), e)
        val others          = Filled.read(e.splits(from, e.advance(from, Limits.Everything))).getOrElse(t(0), Nil)
        assert((model.held.toSeq ++ filled ++ others).sorted == (0L until records), s"${model.ranges}, end $ending")
      }
    }
  }
}
