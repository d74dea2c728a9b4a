// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.split

import java.time.Clock

import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.hybrid.internal.chain.{Chain, Leg, LegEnumerators}
import splice.hybrid.{HybridSource, Legs, ManyPartitions}
import splice.kafka.dynamic.internal.split.DynamicSplitRange
import splice.source._
import splice.source.options.{FailOrWarn, SourceOptions}
import splice.testkit.internal.memory.{MemoryLog, MemoryOptions, MemoryRange}

/** Tests of a leg whose position is too long for an offset and is stored in the side log of the leg. */
final class StoredPositionSuite extends AnyFunSuite {

  private val retain = 3

  private def memory(log: MemoryLog, more: (String, String)*): Source[_ <: Position] =
    SourceProvider.create(SourceOptions(MemoryOptions.of(log, more: _*).toMap))

  private def leg(name: String, source: Source[_ <: Position]): Leg =
    Leg(name, source, None, None, FailOrWarn.Fail, s"$name.select")

  /** Query with a separate run for the plan and commit of each batch. */
  final private class Query(legs: Leg*) {

    private val source = new HybridSource(Chain(legs.toIndexedSeq), None)
    private val side   = new MemorySideLog

    private def run[A](use: SplitEnumerator[HybridPosition] => A): A = Using.resource(source.enumerator(
      EnumeratorContext(side, ReadMode.Stream, Clock.systemUTC(), 2, "run")
    ))(use)

    var offsets: Vector[String]                    = Vector(run(_.start(StartPosition.Configured).json))
    var planned: Vector[Set[(String, Long, Long)]] = Vector.empty

    def positions(leg: String): Seq[String] = side.scope(LegEnumerators.scope(leg)).keys("position-")

    def characters(leg: String): Int =
      side.scope(LegEnumerators.scope(leg)).get(positions(leg).last).get.map(_.length).sum

    def leg: String = source.position(offsets.last).leg

    private def ranges(run: SplitEnumerator[HybridPosition], from: String, until: String): Set[(String, Long, Long)] =
      run.splits(source.position(from), source.position(until)).map {
        case LegRange(leg, r: DynamicSplitRange) => (s"$leg/${r.splitId}", r.range.from, r.range.until)
        case LegRange(leg, r: MemoryRange)       => (s"$leg/${r.partition}", r.from, r.until)
        case other                               => fail(other.toString)
      }.toSet

    def batch(): Unit = {
      run { now =>
        val from  = source.position(offsets.last)
        val until = now.advance(from, now.limits(from))
        assert(until != from && from.precedes(until))
        planned :+= ranges(now, offsets.last, until.json)
        offsets :+= until.json
        now.committed(until)
        now.retain(source.position(offsets(math.max(offsets.size - 1 - retain, 0))))
      }
      assert(offsets.last.length < 300)
      assertReplays()
    }

    /** Spark may replay as many batches as it keeps, one by one or in one batch. */
    private def assertReplays(): Unit = {
      val kept = math.max(planned.size - retain, 0) until planned.size
      kept.foreach(i => assert(run(ranges(_, offsets(i), offsets(i + 1))) == planned(i), s"batch $i"))
      val whole = run(ranges(_, offsets(kept.head), offsets.last))
      assert(rows(whole) == kept.map(i => rows(planned(i))).sum)
      // A new run plans the same batch again.
      assert(run { now =>
        val from = source.position(offsets(offsets.size - 2))
        now.advance(from, now.limits(from)).json
      } == offsets.last)
    }

    def rows(ranges: Set[(String, Long, Long)]): Long = ranges.toSeq.map(r => r._3 - r._2).sum
  }

  test(
    "as the last leg: offsets are short, every run resumes at its offset, and positions of replayable batches are kept"
  ) {
    val history = Legs.log(1)
    (0L until 4L).foreach(history.append(0, _))
    val streams = new ManyPartitions("startingOffsets" -> "earliest")
    streams.last = 1
    val query = new Query(leg("history", memory(history, "bounded" -> "true")), leg("live", streams))
    query.batch()
    assert(query.leg == "history" && query.positions("live").isEmpty)
    (1 to 10).foreach { i =>
      streams.last = i.toLong
      query.batch()
      assert(query.leg == "live" && query.rows(query.planned.last) == streams.size.toLong)
    }
    assert(query.characters("live") > 100000)
    // The start of the leg is also kept.
    assert(query.positions("live").size == retain + 2 && query.offsets.last.contains(query.positions("live").last))
  }

  test("as the first leg: its end is kept for any number of later batches") {
    val streams =
      new ManyPartitions(
        "startingOffsets"      -> "earliest",
        "endingOffsets"        -> "latest",
        "maxOffsetsPerTrigger" -> "15000"
      )
    streams.last = 12
    val live  = Legs.log(1)
    val query = new Query(leg("streams", streams), leg("live", memory(live, "startingOffsets" -> "earliest")))
    assert(query.characters("streams") > 100000)
    (0 until 12).foreach { _ =>
      query.batch()
      assert(query.leg == "streams")
    }
    assert(query.planned.map(query.rows).sum == 12L * streams.size)
    (0L until 10L).foreach { i =>
      live.append(0, i)
      query.batch()
      assert(query.leg == "live" && query.rows(query.planned.last) == 1)
    }
    assert(query.positions("streams").size <= retain + 2)
    assert(query.offsets.last.contains(query.positions("streams").last))
  }
}
