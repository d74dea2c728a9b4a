// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import scala.collection.immutable.SortedMap
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.SimulatedRun.t
import splice.kafka.internal.enumerator.{KafkaEnumerator, KafkaPlan, SimulatedRun}
import splice.kafka.internal.split.KafkaPosition
import splice.source.runtime.ProgressMetric
import splice.source.{EnumeratorContext, Limits, ReadMode, StartPosition}
import splice.testkit.ReadOnlySideLog

/** Tests of holes and skipped offsets of a topic that `onTopicRemoved` = drop removes and that returns with the same id.
  * The offsets of the topic then have the next generation.
  */
final class ReturnedTopicSuite extends AnyFunSuite {

  private val seeds = sys.env.get("SEED").map(s => Seq(s.toLong)).getOrElse(1L to 100L)

  private def world(options: (String, String)*): SimulatedRun = {
    val run = new SimulatedRun(Seq("subscribe" -> "t,u", "onTopicRemoved" -> "drop") ++ options: _*)
    Seq("t", "u").foreach(run.log.create(_, 1))
    run
  }

  /** Brokers omit the topic in all responses of one discovery, and include the topic in the next discovery. Returns the
    * position without the topic.
    */
  private def leave(run: SimulatedRun, e: KafkaEnumerator, at: KafkaPosition): KafkaPosition = {
    (1 to run.settings.retries + 1).foreach(_ => run.log.hide(t(0)))
    run.later()
    val gone = e.advance(at, Limits.Everything)
    assert(!gone.hasTopic("t"))
    run.log.settle()
    run.later()
    gone
  }

  private def begin(run: SimulatedRun, model: Filled.Model): KafkaPosition = {
    run.log.fill("t", 0, model.cut.toInt)
    run.begin(StartPosition.Offsets(SortedMap(t(0) -> model.ranges)))
  }

  test("each hole and each later offset is read once, for any position of the removal") {
    seeds.foreach { seed =>
      val random = new Random(seed)
      val model  = Filled.random(random, 1L + random.nextInt(60), random.nextBoolean())
      val run    = world()
      val start  = begin(run, model)
      run.log.fill("t", 0, random.nextInt(9))
      def rows  = Limits.Limited(rows = Some(1L + random.nextInt(20)))
      val first = run.start().advance(start, rows)
      val e     = run.start()
      val gone  = leave(run, e, first)
      val next  = run.start()
      val back  = next.advance(gone, rows)
      val half  = if (random.nextBoolean()) back else next.advance(leave(run, next, back), rows)
      val last  = run.start().advance(half, Limits.Everything)
      val plan  = run.start(sideLog = new ReadOnlySideLog(run.side))
      // The ranges of `half` begin at the start of its generation.
      val batches = if (half eq back) Seq(gone -> back, back -> last) else Seq(gone -> back, gone -> half, half -> last)
      val read    = ((start -> first) +: batches).flatMap { case (a, b) => plan.splits(a, b) }
      val wanted  = model.wanted(run.log.end(t(0)))
      assert(Filled.read(read).getOrElse(t(0), Nil) == wanted, s"SEED=$seed: ${model.ranges} $first $back $half")
    }
  }

  private val holes = Filled.model(40, ((0L until 5L) ++ (10L until 20L) ++ (30L until 40L)).toSet)

  test("the plan of one of many clusters and the metrics have the holes of a topic that returned") {
    val run   = world()
    val start = begin(run, holes)
    val e     = run.start()
    val first = e.advance(start, Limits.Limited(rows = Some(2)))
    val back  = e.advance(leave(run, e, first), Limits.Limited(rows = Some(4)))
    assert(back.get(t(0)).contains(21L) && e.figures(back)(ProgressMetric.OffsetsToFill) == "9")
    val last    = e.advance(back, Limits.Everything)
    val stored  = SimulatedRun.stored(start, StartPosition.Offsets(SortedMap(t(0) -> holes.ranges)))
    val context =
      EnumeratorContext(run.side, ReadMode.Stream, run.clock, cores = 2, run = "simulated", start = Some(stored))
    assert(Filled.read(KafkaPlan.read(context).splits(back, last)) == Map(t(0) -> (21L until 30L)))
  }

  test("the end of a bounded source lacks the offsets that were skipped before the removal") {
    val run = world("endingOffsets" -> "latest", "startingOffsets" -> "earliest", "onOutOfRange" -> "earliest")
    run.log.fill("t", 0, 12)
    val start = run.begin(StartPosition.Configured)
    val first = run.start().advance(start, Limits.Limited(rows = Some(4)))
    run.log.expire("t", 0, 7)
    val e    = run.start()
    val next = e.advance(first, Limits.Limited(rows = Some(3)))
    assert(next.get(t(0)).contains(10L))
    val gone = leave(run, e, next)
    val f    = run.start()
    val last = f.advance(gone, Limits.Everything)
    f.retain(last)
    assert(held(f, last) == Seq(0L -> 4L, 7L -> 12L))
  }

  test(
    "the end of a bounded source lacks the offsets that were skipped after the return, if the topic is removed again"
  ) {
    val run = world("endingOffsets" -> "latest", "startingOffsets" -> "earliest", "onOutOfRange" -> "earliest")
    run.log.fill("t", 0, 12)
    val start = run.begin(StartPosition.Configured)
    val e     = run.start()
    val first = e.advance(start, Limits.Limited(rows = Some(2)))
    val back  = e.advance(leave(run, e, first), Limits.Limited(rows = Some(2)))
    run.log.expire("t", 0, 7)
    val f    = run.start()
    val next = f.advance(back, Limits.Limited(rows = Some(3)))
    assert(next.get(t(0)).contains(10L))
    run.log.delete("t")
    val g    = run.start()
    val last = g.advance(next, Limits.Everything)
    assert(!last.hasTopic("t") && held(g, last) == Seq(0L -> 4L, 7L -> 10L))
  }

  test("the end of a bounded source lacks the offsets that a restart before the removal has skipped") {
    Seq(true, false).foreach { isBack =>
      val run = world("endingOffsets" -> "latest", "startingOffsets" -> "earliest")
      run.log.fill("t", 0, 12)
      val start = run.begin(StartPosition.Configured)
      val e     = run.start()
      val older = e.advance(start, Limits.Limited(rows = Some(2)))
      val first = e.advance(older, Limits.Limited(rows = Some(5)))
      val gone  = leave(run, e, first)
      if (isBack) e.advance(gone, Limits.Limited(rows = Some(2)))
      val f    = run.start()
      val last = f.advance(older, Limits.Everything)
      assert(f.splits(older, last).map(_.toString) == Seq("t-0 [7, 12)") && held(f, last) == Seq(0L -> 2L, 7L -> 12L))
      assert(held(run.start(), last) == Seq(0L -> 2L, 7L -> 12L))
    }
  }

  private def held(e: KafkaEnumerator, at: KafkaPosition): Seq[(Long, Long)] =
    e.evidence(at).getOrElse(fail("the source has not ended"))
      .offsets().filter(_.partition == t(0)).flatMap(_.offsets.ranges)
}
