// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.admission

import java.time.{Clock, Duration, Instant, ZoneOffset}

import scala.collection.immutable.SortedMap

import splice.kafka.internal.cluster.TimedOffset
import splice.kafka.internal.options.{AdmissionPolicy, EventTimeSettings, OnFutureTime}
import splice.source.{Limits, LogPartition}
import splice.testkit.internal.simulation.{SeedBudget, SeededSuite}
import splice.testkit.simulation.Simulation

/** Tests of batches that end at one time in all partitions. */
final class EventTimeAdmissionSuite extends SeededSuite {

  import EventTimeAdmissionSuite._

  test("random logs: no row is dropped that its own partition, or a batch planned before the row, does not explain") {
    val all      = seeds(Budget)
    val outcomes = Simulation.run(Runtime.getRuntime.availableProcessors, all)(new EventTimeWorld(_).run())
    val failed   = all.zip(outcomes).collect { case (seed, EventTimeLogs.Outcome(Some(text), _)) => s"$seed: $text" }
    assert(failed.isEmpty, s"${failed.size} worlds")
    fixed(Budget, outcomes).foreach(own => assert(EventTimeLogs.rare(own, Situations).isEmpty))
  }

  /** Batches of partitions that are in order, each with the times of its records. Returns the questions and the part of
    * the limit of each batch.
    */
  private def backfill(logs: IndexedSeq[Array[Long]], limit: Long): Seq[(Int, Double)] = {
    val now       = logs.map(_.last).max + 1
    val clock     = Clock.fixed(Instant.ofEpochMilli(now), ZoneOffset.UTC)
    val sizes     = new RecordSizes
    val admission =
      new EventTimeAdmission(EventTimeSettings(Duration.ofMinutes(1), OnFutureTime.Hold), clock, clock, () => None)
    val quota  = Quota.of(Limits.Limited(rows = Some(limit)))
    val shares = new LimitShares(sizes, quota)(new Admission(AdmissionPolicy.Lag, sizes).within(quota, _))
    var asked  = 0
    val log    = new RecordTimes {
      override def at(millis: Long, partitions: Set[LogPartition]) = {
        asked += 1
        Some(partitions.iterator.flatMap { p =>
          val times = logs(p.partition)
          val index = java.util.Arrays.binarySearch(times, millis)
          val at    =
            if (index < 0) -index - 1
            else Iterator.iterate(index)(_ - 1).takeWhile(i => i >= 0 && times(i) == millis).toSeq.last
          Option.when(at < times.length)(p -> TimedOffset(at.toLong, times(at)))
        }.toMap)
      }
      override def next(ranges: Map[LogPartition, (Long, Long)]) =
        ranges.map { case (p, (from, _)) => p -> Some(TimedOffset(from, logs(p.partition)(from.toInt))) }
    }
    Iterator.unfold(logs.indices.map(_ => 0L)) { at =>
      asked = 0
      val ready = SortedMap.from(logs.indices.map(i => LogPartition("t", i) -> (at(i) -> logs(i).length.toLong)))
      val ends  = admission(ready, SortedMap.empty, shares, log, isFinal = false).get
      val next  = logs.indices.map(i => ends.getOrElse(LogPartition("t", i), at(i)))
      Option.when(next != at)((asked -> (next.sum - at.sum).toDouble / limit) -> next)
    }.toSeq
  }

  test("a backfill needs few questions for each batch") {
    val start                                    = 1700000000000L
    val random                                   = new scala.util.Random(1)
    def even(count: Int, from: Long, span: Long) = Array.tabulate(count)(i => start + from + span * i / count)
    val hour                                     = 3600000L
    val skew = (0 to 3).map(_ => even(40000, 0, 24 * hour)) ++ (4 to 7).map(_ => even(40000, 18 * hour, 6 * hour))
    val year = (0 to 7).map(p => Array.concat(even(5000, p * hour, 8760 * hour), even(40000, 8760 * hour, hour)))
    val days = (0 to 7).map(_ =>
      Array.tabulate(40000)(_ => start + (24 * hour * (0.5 + random.nextGaussian() / 8)).toLong).sorted
    )
    val ties = (0 to 7).map(_ => Array.tabulate(40000)(i => start + (i / 5000) * hour))
    // Batches of the limit, the greatest number of questions of a later batch, and the mean.
    Seq(
      (skew, 20000L, 17, 8, 3.0),
      (skew, 1000L, 340, 8, 3.0),
      (year, 20000L, 28, 8, 5.0),
      (days, 5000L, 68, 8, 4.0),
      (ties, 20000L, 16, 8, 5.0)
    ).zipWithIndex.foreach { case ((logs, limit, count, most, mean), i) =>
      val batches = backfill(logs, limit)
      val asked   = batches.tail.map(_._1)
      val text    = s"case $i: ${batches.size} batches, ${batches.head._1} questions, then at most ${asked.max}"
      assert(batches.size <= count && batches.head._1 <= 45 && asked.max <= most, text)
      assert(asked.sum.toDouble / asked.size <= mean, text)
    }
  }
}

object EventTimeAdmissionSuite {

  private val Budget = SeedBudget(1 to 25000, 1 to 2200, window = 300)

  private val Situations = EventTimeLogs.Situations ++ Seq(
    "start in the middle",
    "holes of a history",
    "change from lag",
    "new partition",
    "rows between requests",
    "error of a future row",
    "error of hidden rows"
  )
}
