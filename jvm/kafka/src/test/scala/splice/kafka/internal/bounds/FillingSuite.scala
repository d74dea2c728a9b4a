// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import scala.collection.immutable.SortedMap
import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.admission.RecordSizes
import splice.kafka.internal.bounds.Filled.Model
import splice.kafka.internal.cluster.{ClockedDiscovery, Recheck}
import splice.kafka.internal.enumerator.SimulatedRun.{at, range, t}
import splice.kafka.internal.enumerator.{KafkaEnumerator, SimulatedRun}
import splice.kafka.internal.metrics.{ReadReports, TaskReads}
import splice.kafka.internal.split.{KafkaPosition, KafkaSplitRange}
import splice.source._
import splice.source.errors.SpliceException
import splice.source.options.FailOrWarn
import splice.source.runtime.{ProgressMetric, Report}
import splice.testkit.ReadOnlySideLog

/** Tests of a start with holes of a history. The log supplies each hole and each offset after the history once. */
final class FillingSuite extends AnyFunSuite {

  private val seeds = sys.env.get("SEED").map(s => Seq(s.toLong)).getOrElse(1L to 500L)

  private def rows(some: Long): Limits.Limited = Limits.Limited(rows = Some(some))

  private def world(models: Map[LogPartition, Model], options: (String, String)*): SimulatedRun = {
    val run = new SimulatedRun(options: _*)
    run.log.create("t", models.keys.map(_.partition).max + 1)
    models.foreach { case (p, model) => run.log.fill("t", p.partition, model.cut.toInt) }
    run
  }

  private def starts(models: Map[LogPartition, Model]): StartPosition.Offsets =
    StartPosition.Offsets(SortedMap.from(models.map { case (p, model) => p -> model.ranges }))

  test("each hole and each later offset is read once, for any limits and with restarts between batches") {
    seeds.foreach { seed =>
      withClue(s"SEED=$seed: ")(live(new Random(seed)))
    }
  }

  private def live(random: Random): Unit = {
    val models = (0 to random.nextInt(3)).map { p =>
      t(p) -> Filled.random(random, 1L + random.nextInt(60), random.nextBoolean())
    }.toMap
    val isEqual   = random.nextBoolean()
    val run       = world(models, "discoveryInterval" -> "10s", "admission" -> (if (isEqual) "equal" else "lag"))
    var e         = run.start()
    var isFrozen  = false
    val positions = mutable.ArrayBuffer(run.begin(starts(models), e))
    val plans     = mutable.ArrayBuffer.empty[Seq[SplitRange]]
    def restart() = { e = run.start(); isFrozen = false }

    def batch(limits: Limits): Boolean = {
      val from  = positions.last
      val until = e.advance(from, limits)
      if (until != from) {
        positions += until
        plans += e.splits(from, until)
        // With admission by lag, a partition with a small backlog gets a row even above the limit.
        val beyond = if (isEqual) 0 else models.size
        limits.rows.foreach(most => assert(plans.last.map(_.weight).sum <= most + beyond, s"$from $until"))
      }
      until != from
    }
    def exhaust(): Unit = {
      assert(Iterator.continually(batch(Limits.Everything)).takeWhile(identity).size <= 2)
    }

    (1 to 30).foreach { _ =>
      random.nextInt(6) match {
        case 0              => restart()
        case 1              => models.keys.foreach(p => run.log.fill("t", p.partition, random.nextInt(4)))
        case 2 if !isFrozen =>
          restart()
          e.freeze()
          isFrozen = true
        case 3 => run.later()
        case 4 => val _ = batch(Limits.Limited(minRows = Some(1L + random.nextInt(9)), rows = Some(30)))
        case _ => val _ = batch(rows(1L + random.nextInt(10)))
      }
    }
    restart()
    exhaust()

    val later = run.start(sideLog = new ReadOnlySideLog(run.side))
    plans.indices.foreach(i => assert(later.splits(positions(i), positions(i + 1)) == plans(i), s"batch $i"))
    val read  = Filled.read(plans.flatten.toSeq)
    val whole = Filled.read(later.splits(positions.head, positions.last))
    models.foreach { case (p, model) =>
      val wanted = model.wanted(run.log.end(p))
      assert(read.getOrElse(p, Nil) == wanted, s"$p: ${model.ranges}")
      assert(whole.getOrElse(p, Nil) == wanted, s"$p as one batch")
      assert(positions.last.get(p).contains(run.log.end(p)))
    }
  }

  /** One partition whose history has [0, 5), [10, 20) and [30, 40), and whose log ends at 45. */
  private val three = Filled.model(40, ((0L until 5L) ++ (10L until 20L) ++ (30L until 40L)).toSet)

  private def threeWorld(options: (String, String)*): SimulatedRun = {
    val run = world(Map(t(0) -> three), options: _*)
    run.log.fill("t", 0, 5)
    run
  }

  private val begin = starts(Map(t(0) -> three))

  test("a limit counts only offsets to read, and not offsets of the history between them") {
    val run   = threeWorld()
    val e     = run.start()
    val start = run.begin(begin, e)
    assert(start == at(0 -> 5))
    val steps = Iterator.iterate(start)(e.advance(_, rows(6))).take(6).toSeq
    assert(steps == Seq(at(0 -> 5), at(0 -> 21), at(0 -> 27), at(0 -> 43), at(0 -> 45), at(0 -> 45)))
  }

  test("minRows waits for offsets that are read") {
    val run = threeWorld()
    val e   = run.start()
    assert(e.advance(run.begin(begin, e), Limits.Limited(minRows = Some(21))) == at(0 -> 5))
    assert(e.advance(at(0 -> 5), Limits.Limited(minRows = Some(20))) == at(0 -> 45))
  }

  test("holes belong to the stored start, and a start that is not stored leaves no entry") {
    val run = threeWorld()
    run.start().start(begin)
    assert(run.start().splits(at(0 -> 5), at(0 -> 45)).size == 1)
    run.begin(begin)
    assert(run.start().splits(at(0 -> 5), at(0 -> 45)).size == 2)
    val late = run.start()
    val from = late.start(StartPosition.Offsets(SortedMap(t(0) -> OffsetRanges(40, Vector(7L -> 8L)))))
    assert(Filled.read(late.splits(from, at(0 -> 41))) == Map(t(0) -> Seq(7L, 40L)))
    assert(Filled.read(run.start().splits(at(0 -> 5), at(0 -> 41))) ==
      Map(t(0) -> ((5L until 10L) ++ (20L until 30L) :+ 40L)))
  }

  test("a start by time reads no holes and skips no offsets") {
    Seq(StartPosition.Time(0, FailOrWarn.Fail), StartPosition.Configured).foreach { other =>
      val run   = threeWorld("startingOffsets" -> "earliest")
      val e     = run.start()
      val until = e.advance(run.begin(other, e), Limits.Everything)
      assert(Filled.read(e.splits(at(0 -> 0), until)) == Map(t(0) -> (0L until 45L)), other)
    }
  }

  test("the query is not affected if retention removes records of the history") {
    Seq("fail", "latest").foreach { policy =>
      val run   = threeWorld("onOutOfRange" -> policy)
      val start = run.begin(begin)
      val e     = run.start()
      val next  = e.advance(start, rows(5))
      assert(next == at(0 -> 10))
      run.log.expire("t", 0, 20)
      val until = run.start().advance(next, Limits.Everything)
      assert(Filled.read(run.start().splits(next, until)) == Map(t(0) -> ((20L until 30L) ++ (40L until 45L))))
      assert(new SkipEntries(run.side).known.isEmpty)
    }
  }

  test("removed holes are an error with only the lost ranges") {
    val run   = threeWorld()
    val start = run.begin(begin)
    val lost  = Seq(
      7L  -> Seq("t-0 [5, 7)"),
      15L -> Seq("t-0 [5, 10)"),
      22L -> Seq("t-0 [5, 10)", "t-0 [20, 22)"),
      35L -> Seq("t-0 [5, 10)", "t-0 [20, 30)"),
      42L -> Seq("t-0 [5, 10)", "t-0 [20, 30)", "t-0 [40, 42)")
    )
    lost.foreach { case (first, ranges) =>
      run.log.expire("t", 0, first)
      val error = intercept[SpliceException](run.start().advance(start, Limits.Everything))
      assert(error.getCondition == "SPLICE_KAFKA_DATA.DATA_LOSS")
      assert("t-0 \\[\\d+, \\d+\\)".r.findAllIn(error.getMessage).toSeq == ranges, error)
    }
  }

  test("if the policy permits, the remaining offsets are read after retention has removed holes") {
    Seq("earliest" -> ((25L until 30L) ++ (40L until 45L)), "latest" -> Nil).foreach { case (policy, wanted) =>
      val run   = threeWorld("onOutOfRange" -> policy)
      val start = run.begin(begin)
      run.log.expire("t", 0, 25)
      val e     = run.start()
      val until = e.advance(start, Limits.Everything)
      assert(until == at(0 -> 45))
      assert(Filled.read(e.splits(start, until)).getOrElse(t(0), Nil) == wanted, policy)
      assert(Filled.read(run.replay(start, until)).getOrElse(t(0), Nil) == wanted, policy)
    }
  }

  test("a bounded source ends after its holes, and its end includes the continued history") {
    val run  = threeWorld("endingOffsets" -> "latest")
    val e    = run.start()
    val from = run.begin(begin, e)
    run.log.fill("t", 0, 10)
    assert(e.evidence(from).isEmpty)
    val half = e.advance(from, rows(12))
    assert(half == at(0 -> 27) && e.evidence(half).isEmpty)
    val again = run.start()
    val until = again.advance(half, Limits.Everything)
    assert(until == at(0 -> 45) && (again.advance(until, Limits.Everything) eq until))
    val summary = again.evidence(until).getOrElse(fail("the source has not ended")).offsets().head
    assert(summary.until == 45)
    assert(summary.from == 5 && summary.offsets.ranges.toSeq == Seq(5L -> 45L), "the history has the others")
  }

  test("the end of a bounded source has the offsets of the history between holes that were skipped") {
    val run   = threeWorld("endingOffsets" -> "latest", "onOutOfRange" -> "earliest")
    val start = run.begin(begin)
    run.log.expire("t", 0, 25)
    val e     = run.start()
    val until = e.advance(start, Limits.Everything)
    val end   = e.evidence(until).getOrElse(fail("the source has not ended"))
    val held  = end.offsets().head.offsets
    assert(held.ranges.toSeq == Seq(10L -> 20L, 25L -> 45L))
  }

  test("a bounded source that ends within the history reads the holes before its end") {
    val run   = threeWorld("endingOffsets" -> """{"t":{"0":25}}""")
    val e     = run.start()
    val from  = run.begin(begin, e)
    val until = e.advance(from, Limits.Everything)
    assert(until == at(0 -> 25) && e.evidence(until).nonEmpty)
    assert(Filled.read(e.splits(from, until)) == Map(t(0) -> ((5L until 10L) ++ (20L until 25L))))
    val covered = threeWorld("endingOffsets" -> """{"t":{"0":15}}""")
    val start   = covered.begin(begin)
    val over    = covered.start().advance(start, rows(5))
    val ended   = covered.start()
    assert(ended.evidence(ended.advance(over, rows(5))).nonEmpty, "the history has the remaining records")
  }

  test("the end of a bounded source within the history has the later history, and lacks the holes after the end") {
    val history = Map(t(0) -> Filled.model(50, ((0L until 5L) ++ (25L until 30L) ++ (40L until 50L)).toSet))
    def held(ending: Long): Seq[(Long, Long)] = {
      val run   = world(history, "endingOffsets" -> s"""{"t":{"0":$ending}}""")
      val e     = run.start()
      val until = e.advance(run.begin(starts(history), e), Limits.Everything)
      val end   = e.evidence(until).getOrElse(fail("the source has not ended"))
      val all   = end.offsets().head
      assert(all.from == 5 && all.until == 50)
      all.offsets.ranges.toSeq
    }
    assert(held(3) == Seq(25L -> 30L, 40L -> 50L), "the source has read nothing")
    assert(held(27) == Seq(5L -> 30L, 40L -> 50L))
    assert(held(35) == Seq(5L -> 35L, 40L -> 50L))
    assert(held(40) == Seq(5L -> 50L))
  }

  test("a batch reads nothing from a partition whose history ends after the end of the batch") {
    val run   = threeWorld("endingOffsets" -> """{"t":{"0":25}}""")
    val e     = run.start(ReadMode.Batch)
    val whole = StartPosition.Offsets(SortedMap(t(0) -> OffsetRanges(40)))
    val from  = run.begin(whole, e)
    assert(from == at(0 -> 40) && e.advance(from, Limits.Everything) == from && e.evidence(from).nonEmpty)
  }

  test("AvailableNow reads the holes and the current log, and ends") {
    val run = threeWorld()
    val e   = run.start()
    e.freeze()
    val from = run.begin(begin, e)
    run.log.fill("t", 0, 7)
    val steps = Iterator.iterate(from)(e.advance(_, rows(9))).take(5).toSeq
    assert(steps.map(_.offsets(t(0))) == Seq(5, 24, 43, 45, 45))
    val next = run.start()
    next.freeze()
    assert(next.advance(steps.last, Limits.Everything) == at(0 -> 52))
  }

  test("a hole after the frozen end is read if the start was chosen later") {
    val run = world(Map(t(0) -> Filled.model(3, Set(0L, 1L, 2L))))
    val e   = run.start()
    e.freeze()
    run.log.fill("t", 0, 17)
    val from  = run.begin(StartPosition.Offsets(SortedMap(t(0) -> OffsetRanges(20, Vector(10L -> 15L)))), e)
    val until = e.advance(from, Limits.Everything)
    assert(e.advance(until, Limits.Everything) eq until)
    val next  = run.start()
    val after = next.advance(until, Limits.Everything)
    assert(Filled.read(next.splits(from, after)) == Map(t(0) -> (10L until 15L)))
  }

  test("the metrics count the offsets to read") {
    val run     = threeWorld()
    val recheck = new Recheck(1, java.time.Duration.ZERO, _ => ())
    val context = EnumeratorContext(run.side, ReadMode.Stream, run.clock, cores = 2, run = "simulated")
    val found   = new ClockedDiscovery(run.log, run.settings.discoveryInterval, run.clock)
    val reports = new ReadReports("simulated")
    val e       = KafkaEnumerator(run.settings, context, run.log, found, recheck, new RecordSizes, reports)
    val from    = run.begin(begin, e)
    val next    = e.advance(from, rows(7))
    def figures(at: KafkaPosition) = {
      val all = e.figures(at)
      Seq(ProgressMetric.OffsetsToFill, ProgressMetric.RowsBehind, ProgressMetric.RowsFilled).map(all(_).toInt)
    }
    assert(figures(from) == Seq(15, 20, 0) && figures(next) == Seq(8, 13, 0))
    e.reported(Seq(Report("simulated", TaskReads(filled = 7)), Report("another", TaskReads(filled = 90))))
    assert(figures(next) == Seq(8, 13, 7))
    e.reported(Seq(Report("simulated", TaskReads(filled = 8))))
    assert(figures(at(0 -> 42)) == Seq(0, 3, 15))
    assert(figures(at(0 -> 42)) == Seq(0, 3, 15), "a total of the run")
  }

  test("a query without holes has no metrics of holes") {
    val run = threeWorld("startingOffsets" -> "earliest")
    val e   = run.start()
    val all = e.figures(e.start(StartPosition.Configured)).keySet
    assert(!all(ProgressMetric.RowsFilled) && !all(ProgressMetric.OffsetsToFill))
  }

  test("a recreated topic has no holes of the history") {
    val run  = threeWorld("onTopicRecreated" -> "restart")
    val from = run.begin(begin)
    run.log.delete("t")
    run.log.create("t", 1)
    run.log.fill("t", 0, 12)
    val e     = run.start()
    val until = e.advance(from, Limits.Everything)
    assert(e.splits(from, until) == Seq(range(0, 0, 12)))
  }

  test("partitions that are missing from the hand-over are read from their first record") {
    val run = threeWorld()
    run.log.create("t", 2)
    run.log.fill("t", 1, 6)
    run.log.expire("t", 1, 2)
    val e    = run.start()
    val from = run.begin(begin, e)
    assert(from == at(0 -> 5, 1 -> 2))
    assert(e.splits(from, e.advance(from, Limits.Everything)).collect {
      case r: KafkaSplitRange => (r.partition.partition, r.from, r.until)
    } == Seq((0, 5, 30), (0, 40, 45), (1, 2, 6)))
  }
}
