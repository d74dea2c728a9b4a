// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator.ends

import java.time.Duration

import scala.collection.immutable.SortedMap
import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.SimulatedRun.{at, range, t}
import splice.kafka.internal.enumerator.{KafkaEnumerator, SimulatedLog, SimulatedRun}
import splice.kafka.internal.split.{KafkaPosition, KafkaSplitRange}
import splice.source.errors.SpliceException
import splice.source.runtime.ProgressMetric
import splice.source.{Limits, LogPartition, OffsetRanges, StartPosition}

/** Tests of batches without ends, as in real-time mode. */
final class OpenReadsSuite extends AnyFunSuite {

  private def open(partition: Int, from: Long): KafkaSplitRange = range(partition, from, Long.MaxValue)

  private def world(partitions: Int, options: (String, String)*): SimulatedRun = {
    val run = new SimulatedRun(Seq("startingOffsets" -> "earliest") ++ options: _*)
    run.log.create("t", partitions)
    run
  }

  test("a batch reads each partition without an end, and ends after the rows that tasks have read") {
    val run = world(3)
    (0 until 3).foreach(run.log.fill("t", _, 10))
    val e     = run.start()
    val start = e.settle(run.begin(StartPosition.Configured, e))
    assert(e.open(start) == Seq(open(0, 0), open(1, 0), open(2, 0)) && e.open(start).forall(_.isOpen))
    // The third range is completely unread.
    assert(e.reached(start, Seq(open(0, 4), open(1, 10))) == at(0 -> 4, 1 -> 10, 2 -> 0))
  }

  test(
    "a new partition begins at the start of its first settled batch, even after a crash before the end of that batch"
  ) {
    val run   = world(1, "newPartitionsStartAt" -> "latest", "discoveryInterval" -> "1s")
    val e     = run.start()
    val begin = run.begin(StartPosition.Configured, e)
    run.log.create("t", 2)
    run.log.fill("t", 1, 3)
    run.later()
    assert(e.open(e.settle(begin)) == Seq(open(0, 0), open(1, 3)))
    run.log.fill("t", 1, 3)
    val again = run.start()
    assert(again.open(again.settle(begin)) == Seq(open(0, 0), open(1, 3)))
  }

  test("a batch is stale after discovery of a new partition or topic, until the next batch is settled") {
    val run   = world(1, "discoveryInterval" -> "1s", "onTopicRecreated" -> "restart")
    val e     = run.start()
    val begin = e.settle(run.begin(StartPosition.Configured, e))
    run.later()
    assert(!e.isStale)
    run.log.create("t", 2)
    assert(e.isStale && e.isStale)
    val next = e.settle(begin)
    assert(!e.isStale && e.open(next) == Seq(open(0, 0), open(1, 0)))
    run.log.delete("t")
    run.log.create("t", 2)
    run.later()
    assert(e.isStale)
  }

  test("a rejected request for one partition fails the query, with and without ends of batches") {
    Seq[(KafkaEnumerator, KafkaPosition) => Any](_.settle(_), _.advance(_, Limits.Everything)).foreach { next =>
      val run   = world(2)
      val e     = run.start()
      val begin = run.begin(StartPosition.Configured, e)
      (0 until 2).foreach(run.log.fill("t", _, 3))
      run.log.forbidden = Set(t(1))
      val error = intercept[SpliceException](next(e, begin))
      assert(error.getCondition == "SPLICE_KAFKA.BROKER_ERROR" && error.getMessage.contains("t-1"), error)
    }
  }

  test("a partition without a leader fails the query after the timeout, and a deleted partition does not") {
    val run   = world(2, "clusterTimeout" -> "1m", "subscribe" -> "t,u", "onTopicRemoved" -> "drop")
    val other = LogPartition("u", 0)
    run.log.create("u", 1)
    val e     = run.start()
    val begin = run.begin(StartPosition.Configured, e)
    run.log.leaderless = Set(other)
    assert(e.settle(begin) == begin && e.silent.keySet == Set(other))
    run.log.delete("u")
    run.clock.pass(Duration.ofSeconds(11))
    val dropped = e.settle(begin)
    assert(dropped == at(0 -> 0, 1 -> 0) && e.silent.isEmpty)
    run.log.leaderless = Set(t(1))
    assert(e.settle(dropped) == dropped)
    run.clock.pass(Duration.ofSeconds(60))
    val error = intercept[SpliceException](e.settle(dropped))
    assert(error.getCondition == "SPLICE_KAFKA_CONNECTION.BROKERS_UNAVAILABLE" && error.getMessage.contains("t-1"))
  }

  test("a batch without the start of a new partition is stale, and the next batch requests the start again") {
    val outages = Seq[(String, SimulatedLog => Unit)](
      ("the partition does not respond", log => log.leaderless = Set(t(1))),
      ("the cluster does not respond", log => log.away = Some(_ == "earliest"))
    )
    outages.foreach { case (name, begins) =>
      val run   = world(1, "discoveryInterval" -> "1s")
      val e     = run.start()
      val begin = e.settle(run.begin(StartPosition.Configured, e))
      run.log.create("t", 2)
      run.later()
      begins(run.log)
      val first = e.settle(begin)
      assert(e.open(first) == Seq(open(0, 0)) && e.isStale, name)
      val second = e.settle(first)
      assert(e.open(second) == Seq(open(0, 0)) && e.isStale, name)
      run.log.leaderless = Set.empty
      run.log.away = None
      val third = e.settle(second)
      assert(e.open(third) == Seq(open(0, 0), open(1, 0)) && !e.isStale, name)
    }
  }

  test("an unresponsive partition that is not new does not make a batch stale") {
    val run = world(2, "discoveryInterval" -> "1s")
    val e   = run.start()
    val at  = e.settle(run.begin(StartPosition.Configured, e))
    run.log.leaderless = Set(t(1))
    assert(e.open(e.settle(at)) == Seq(open(0, 0), open(1, 0)) && !e.isStale)
    run.log.away = Some(_ => true)
    assert(e.open(e.settle(at)) == Seq(open(0, 0), open(1, 0)) && !e.isStale)
  }

  test("the first batch of a restart is stale if the cluster does not respond") {
    val run   = world(1, "discoveryInterval" -> "1s")
    val begin = run.begin(StartPosition.Configured)
    run.log.create("t", 2)
    run.log.away = Some(_ => true)
    val e     = run.start()
    val first = e.settle(begin)
    assert(e.open(first) == Seq(open(0, 0)) && e.isStale)
    run.log.away = None
    assert(e.open(e.settle(first)) == Seq(open(0, 0), open(1, 0)) && !e.isStale)
  }

  test("a new partition without an end does not make a batch of a bounded source stale") {
    val run = world(1, "endingOffsets" -> "latest", "discoveryInterval" -> "1s")
    run.log.fill("t", 0, 5)
    val e     = run.start()
    val begin = e.settle(run.begin(StartPosition.Configured, e))
    run.log.create("t", 2)
    run.log.leaderless = Set(t(1))
    run.later()
    assert(e.open(e.settle(begin)) == Seq(range(0, 0, 5)) && !e.isStale)
  }

  test("removed records are data loss, or are skipped by policy") {
    val failing = world(1)
    failing.log.fill("t", 0, 10)
    val e     = failing.start()
    val begin = failing.begin(StartPosition.Configured, e)
    failing.log.expire("t", 0, 4)
    assert(intercept[SpliceException](e.settle(begin)).getCondition == "SPLICE_KAFKA_DATA.DATA_LOSS")
    val warning = world(1, "failOnDataLoss" -> "false")
    warning.log.fill("t", 0, 10)
    val other = warning.start()
    val first = warning.begin(StartPosition.Configured, other)
    warning.log.expire("t", 0, 4)
    val settled = other.settle(first)
    assert(other.open(settled) == Seq(open(0, 4)) && other.figures(settled)(ProgressMetric.RowsSkipped) == "4")
  }

  test("a bounded source has its decided ends, and no range after these ends") {
    val run = world(2, "endingOffsets" -> """{"t":{"0":5,"1":0}}""")
    run.log.fill("t", 0, 10)
    val e     = run.start()
    val start = e.settle(run.begin(StartPosition.Configured, e))
    assert(e.open(start) == Seq(range(0, 0, 5)))
    assert(e.reached(start, Seq(range(0, 3, 5))) == at(0 -> 3, 1 -> 0))
    val end = e.reached(start, Nil)
    assert(end == at(0 -> 5, 1 -> 0) && e.open(end).isEmpty && e.evidence(end).nonEmpty)
  }

  /** The settled start of a batch without an end, and the end of a micro-batch. */
  private val modes = Seq[(String, (KafkaEnumerator, KafkaPosition) => KafkaPosition)](
    ("open", _.settle(_)),
    ("micro-batch", _.advance(_, Limits.Limited(rows = Some(1))))
  )

  test("records after the end of a bounded source are not lost if other partitions are still read") {
    modes.foreach { case (mode, next) =>
      val run = world(2, "endingOffsets" -> """{"t":{"0":5,"1":9}}""")
      Seq(0, 1).foreach(run.log.fill("t", _, 10))
      val _ = run.begin(StartPosition.Configured)
      run.log.expire("t", 0, 8)
      val e     = run.start()
      val until = next(e, at(0 -> 5, 1 -> 3))
      assert(until.get(t(0)).contains(5L) && e.figures(until)(ProgressMetric.RowsSkipped) == "0", mode)
      run.log.expire("t", 1, 4)
      val error = intercept[SpliceException](next(run.start(), at(0 -> 5, 1 -> 3)))
      assert(error.getMessage.contains("t-1 [3, 4)") && !error.getMessage.contains("t-0"), mode)
    }
  }

  test("records after the end of a bounded source are not lost if the history has the unread records before the end") {
    modes.foreach { case (mode, next) =>
      val run = world(2, "endingOffsets" -> """{"t":{"0":20,"1":9}}""")
      Seq(0, 1).foreach(run.log.fill("t", _, 40))
      run.begin(StartPosition.Offsets(SortedMap(t(0) -> OffsetRanges(20, Vector(2L -> 4L)), t(1) -> OffsetRanges(0))))
      run.log.expire("t", 0, 30)
      val e     = run.start()
      val until = next(e, at(0 -> 4, 1 -> 3))
      assert(until.get(t(0)).exists(_ <= 20) && e.figures(until)(ProgressMetric.RowsSkipped) == "0", mode)
      val error = intercept[SpliceException](next(run.start(), at(0 -> 3, 1 -> 3)))
      assert(error.getMessage.contains("t-0 [3, 4)"), mode)
    }
  }

  test("holes of a history are read before later offsets of the partition, and do not delay other partitions") {
    val run = world(2)
    Seq(0, 1).foreach(run.log.fill("t", _, 20))
    val starts  = SortedMap(t(0) -> OffsetRanges(10, Vector(2L -> 4L, 6L -> 8L)), t(1) -> OffsetRanges(15))
    val e       = run.start()
    val begin   = run.begin(StartPosition.Offsets(starts), e)
    val first   = e.settle(begin)
    val planned = e.open(first).collect { case r: KafkaSplitRange => r }
    assert(planned.map(r => (r.partition, r.isOpen)) == Seq(t(0) -> false, t(0) -> true, t(1) -> true))
    assert(planned.head.holes.map(_.ranges) == Some(Vector(2L -> 4L, 6L -> 8L)) && planned(1) == open(0, 10))
    val part = e.reached(first, Seq(range(0, 7, 8), open(0, 10), open(1, 15)))
    assert(e.open(part).collect { case r: KafkaSplitRange => r.holes.map(_.ranges) }.head == Some(Vector(7L -> 8L)))
    assert(e.open(e.reached(part, Seq(open(0, 12), open(1, 18)))) == Seq(open(0, 12), open(1, 18)))
  }

  test("a bounded source ends after its holes if the history has the other records up to the end") {
    Seq("latest", """{"t":{"0":6}}""").foreach { ending =>
      val run = world(1, "endingOffsets" -> ending)
      run.log.fill("t", 0, 10)
      val starts =
        SortedMap(t(0) -> OffsetRanges(10, Vector(2L -> 4L, 8L -> 9L).take(if (ending == "latest") 1 else 2)))
      val e     = run.start()
      val first = e.settle(run.begin(StartPosition.Offsets(starts), e))
      assert(e.open(first).map(r => (r.weight, r.isOpen)) == Seq((2L, false)))
      val part = e.settle(e.reached(first, Seq(range(0, 3, 4))))
      assert(part == at(0 -> 3) && e.open(part).map(_.weight) == Seq(1L) && e.evidence(part).isEmpty)
      val end = e.settle(e.reached(part, Nil))
      assert(e.open(end).isEmpty && e.evidence(end).nonEmpty, s"$ending: $end")
    }
  }

  test("rows of ended batches are read once, across kills, new partitions and other triggers") {
    (1L to 300L).foreach(seed => withClue(s"seed $seed: ")(live(new Random(seed))))
  }

  private def live(random: Random): Unit = {
    val run  = world(1 + random.nextInt(3), "discoveryInterval" -> "1s")
    val rows = mutable.ArrayBuffer.empty[(LogPartition, Long)]
    var e    = run.start()
    var now  = run.begin(StartPosition.Configured, e)
    var most = run.log.partitions.size

    def read(range: KafkaSplitRange, until: Long) = (range.from until until).map(range.partition -> _)

    def realTime(all: Boolean): Unit = {
      val settled = e.settle(now)
      val parts   = e.open(settled).collect { case range: KafkaSplitRange =>
        val end = run.log.ends(Set(range.partition))(range.partition)
        range -> (if (all) end else range.from + random.nextInt((end - range.from).toInt + 1))
      }
      // A killed driver has logged nothing.
      if (!all && random.nextInt(4) == 0) e = run.start()
      else {
        val unread = parts.filterNot(_ => !all && random.nextInt(5) == 0)
        rows ++= unread.flatMap { case (range, until) => read(range, until) }
        now = e.reached(
          settled,
          unread.map { case (range, until) => range.copy(from = until)(range.topicId, range.generation) }
        )
      }
    }

    def batch(): Unit = {
      val next = e.advance(now, Limits.Limited(rows = Some(1L + random.nextInt(9))))
      rows ++= e.splits(now, next).collect { case range: KafkaSplitRange => read(range, range.until) }.flatten
      now = next
    }

    (0 to 30).foreach { _ =>
      random.nextInt(6) match {
        case 0             => run.log.partitions.foreach(p => run.log.fill(p.topic, p.partition, random.nextInt(5)))
        case 1 if most < 5 =>
          most += 1
          run.log.create("t", most)
          run.log.fill("t", most - 1, random.nextInt(4))
        case 2 => run.later()
        case 3 => batch()
        case _ => realTime(all = false)
      }
    }
    run.later()
    realTime(all = true)
    val expected = run.log.partitions.toSeq.flatMap(p => (0L until run.log.ends(Set(p))(p)).map(p -> _))
    assert(rows.sorted == expected.sorted)
  }
}
