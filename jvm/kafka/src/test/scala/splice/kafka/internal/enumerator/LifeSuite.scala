// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator

import scala.collection.mutable
import scala.util.Random
import scala.util.control.ControlThrowable

import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.config.Configurator
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.bounds.StartEntries
import splice.kafka.internal.cluster.UnavailablePartitions
import splice.kafka.internal.enumerator.SimulatedRun.t
import splice.kafka.internal.split.{KafkaPosition, KafkaSplitRange}
import splice.source.{Limits, LogPartition, SplitRange, StartPosition}
import splice.testkit.ReadOnlySideLog

// scalafix:off DisableSyntax.null; Spark's rows and Kafka's records define null for an absent value

/** Random scenarios of a query over a simulated cluster, one per seed, with records, retention, growth, stale
  * responses, missing leaders and crashes.
  *
  * In every scenario, each partition is read from its first decided start, without holes or duplicates. A planned
  * batch has the same plan in any later run, as single batches or as one range.
  */
final class LifeSuite extends AnyFunSuite {

  private val seeds = sys.env.get("SEED").map(s => Seq(s.toLong)).getOrElse(1L to 1000L)

  test("every record is read once in every scenario") {
    // A scenario has many partitions without a leader, and each logs a warning.
    Configurator.setLevel(classOf[UnavailablePartitions].getName, Level.ERROR)
    seeds.foreach { seed =>
      try new Life(seed).live(steps = 40)
      catch { case e: Throwable if !e.isInstanceOf[ControlThrowable] => fail(s"SEED=$seed: $e", e) }
    }
  }

  private object Crash extends RuntimeException("crash", null, false, false)

  final private class Life(seed: Long) {
    private val random  = new Random(seed)
    private val run     = new SimulatedRun("startingOffsets" -> "earliest", "discoveryInterval" -> "10s")
    private val offsets = mutable.ArrayBuffer.empty[KafkaPosition]
    private val plans   = mutable.ArrayBuffer.empty[Seq[SplitRange]]

    private var crashIn                         = -1
    private var living: Option[KafkaEnumerator] = None

    run.log.create("t", 1 + random.nextInt(3))
    // Partitions that wait for a leader get a leader.
    run.paused = _ => run.log.leaderless = Set.empty
    run.log.between = { _ =>
      crashIn -= 1
      if (crashIn == 0) throw Crash
    }

    def live(steps: Int): Unit = {
      (1 to steps).foreach(_ => survive(step()))
      crash()
      run.log.settle()
      run.log.leaderless = Set.empty
      run.later()
      while (survive(batch(Limits.Everything))) ()
      check()
    }

    private def step(): Boolean = random.nextInt(13) match {
      case 0 => run.log.create("t", partitions + 1); false
      case 1 => run.log.create("t", partitions + 2); run.log.fill("t", partitions - 1, 1 + random.nextInt(9)); false
      case 2 => expire(); false
      case 3 => run.later(); false
      case 4 => crash(); false
      case 5 => crashIn = 1 + random.nextInt(4); false
      // Only one stale response at a time, because several consecutive stale responses are accepted.
      case 6 => run.log.settle(); run.log.answerEnds(Map(t(random.nextInt(partitions)) -> 0L)); false
      case 7 => run.log.settle(); run.log.hide(t(random.nextInt(partitions))); false
      case 8 =>
        crash()
        // A query that has not begun fails immediately without a leader.
        if (offsets.isEmpty) run.log.leaderless = Set.empty
        survive { enumerator.freeze(); false }
      case 9  => run.log.leaderless = (0 until partitions).filter(_ => random.nextBoolean()).map(t).toSet; false
      case 10 => batch(Limits.Limited(minRows = Some(1L + random.nextInt(20)), rows = Some(30)))
      case _  =>
        (0 until partitions).foreach(p => run.log.fill("t", p, random.nextInt(6)))
        batch(Limits.Limited(rows = if (random.nextBoolean()) Some(1L + random.nextInt(10)) else None))
    }

    private def partitions: Int = Iterator.from(0).takeWhile(p => run.log.has(t(p))).size

    /** Applies retention. Unread records of discovered partitions are kept, but any record of an undiscovered
      * partition may be removed.
      */
    private def expire(): Unit = {
      val p       = random.nextInt(partitions)
      val decided = new StartEntries(run.side).known.get(t(p) -> 0)
      val read    = offsets.lastOption.flatMap(_.get(t(p))).orElse(decided)
      run.log.expire("t", p, read.getOrElse(random.nextInt(10).toLong))
    }

    private def enumerator: KafkaEnumerator = living.getOrElse {
      val created = run.start()
      living = Some(created)
      created
    }

    private def batch(limits: Limits): Boolean = {
      if (offsets.isEmpty) {
        run.log.leaderless = Set.empty
        offsets += enumerator.start(StartPosition.Configured)
      }
      val from  = offsets.last
      val until = enumerator.advance(from, limits)
      // A crash here leaves a stored decision that is in no offset.
      if (random.nextInt(8) == 0) throw Crash
      if (until != from) {
        offsets += until
        plans += enumerator.splits(from, until)
      }
      until != from
    }

    private def survive(body: => Boolean): Boolean =
      try body
      catch {
        case Crash =>
          crash()
          true
      }

    private def crash(): Unit = {
      living = None
      crashIn = -1
    }

    private def check(): Unit = {
      // Plans depend only on the side log.
      run.log.away = Some(_ => true)
      val later = run.start(sideLog = new ReadOnlySideLog(run.side))
      plans.indices.foreach { i =>
        val again = later.splits(offsets(i), offsets(i + 1))
        assert(again == plans(i), s"batch $i from ${offsets(i)} until ${offsets(i + 1)}")
      }
      val all   = byPartition(plans.flatten.toSeq)
      val whole = byPartition(later.splits(offsets.head, offsets.last))
      val last  = offsets.last.offsets
      assert(last.keySet == run.log.partitions && last.forall { case (p, end) => end == run.log.end(p) })
      all.foreach { case (p, ranges) =>
        ranges.zip(ranges.drop(1)).foreach { case (a, b) => assert(a.until == b.from, s"$p: $ranges") }
        assert(ranges.last.until == last(p))
        assert(whole(p) == Seq(KafkaSplitRange(p, ranges.head.from, ranges.last.until)(None)))
      }
      assert(all.keySet == whole.keySet)
    }

    private def byPartition(ranges: Seq[SplitRange]): Map[LogPartition, Seq[KafkaSplitRange]] =
      ranges.collect { case r: KafkaSplitRange => r }.groupBy(_.partition)
  }
}
