// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.metrics

import java.time.Instant

import scala.collection.immutable.SortedMap

import org.scalatest.funsuite.AnyFunSuite

import splice.source.LogPartition
import splice.source.internal.entries.Json
import splice.source.runtime.{ProgressMetric, Report}

final class LagTrackerSuite extends AnyFunSuite {

  private val start = Instant.parse("2026-01-01T00:00:00Z")

  private def p(partition: Int, topic: String = "t"): LogPartition = LogPartition(topic, partition)

  private def read(rows: Long, bytes: Long, at: Instant): PartitionRead = {
    val millis = at.toEpochMilli
    PartitionRead(rows, bytes, millis, millis, millis)
  }

  private def read(partition: LogPartition, rows: Long, bytes: Long, at: Instant): TaskReads =
    TaskReads(Map(partition -> read(rows, bytes, at)))

  private val none = TaskReads()

  test("the lag has rows, bytes by the average size of the topic, and seconds since the last read record") {
    val tracker = new LagTracker
    val reads   = read(p(0), rows = 10, bytes = 1000, at = start.minusSeconds(30))
    val lag     = tracker.update(SortedMap(p(0) -> 10L, p(1) -> 0L), Map(p(0) -> 15L, p(1) -> 4L).get, reads, start)
    assert(lag.partitions == Seq(PartitionLag(p(0), 5, Some(500), Some(30)), PartitionLag(p(1), 4, Some(400), None)))
    assert(lag.report(ProgressMetric.RowsBehind) == "9")
    assert(lag.report(ProgressMetric.BytesBehind) == "900")
    assert(lag.report(ProgressMetric.SecondsBehind) == "30")
  }

  test("unknown values are omitted") {
    val lag = new LagTracker().update(SortedMap(p(0) -> 1L), Map(p(0) -> 3L).get, none, start).report
    assert(lag(ProgressMetric.RowsBehind) == "2")
    assert(!lag.contains(ProgressMetric.BytesBehind) && !lag.contains(ProgressMetric.SecondsBehind))
    assert(lag(ProgressMetric.Lagging) == """[{"partition":"t-0","rowsBehind":2}]""")
  }

  test("without an end, all metrics of the backlog are omitted, including the metrics of Spark's source") {
    val tracker = new LagTracker
    assert(tracker.update(SortedMap(p(0) -> 1L, p(1) -> 2L), _ => None, none, start).report.isEmpty)
    val lag = tracker.update(SortedMap(p(0) -> 1L, p(1) -> 2L), Map(p(0) -> 3L).get, none, start).report
    assert(lag(ProgressMetric.MostBehind) == "2" && lag(ProgressMetric.RowsBehind) == "2")
  }

  test("the delay of a record after a pause counts from the last check without records") {
    val tracker = new LagTracker
    val _       =
      tracker.update(SortedMap(p(0) -> 5L), Map(p(0) -> 5L).get, read(p(0), 5, 50, start.minusSeconds(3600)), start)
    val lag = tracker.update(SortedMap(p(0) -> 5L), Map(p(0) -> 6L).get, none, start.plusSeconds(7))
    assert(lag.partitions.map(_.seconds) == Seq(Some(7)))
    val done = tracker.update(SortedMap(p(0) -> 6L), Map(p(0) -> 6L).get, none, start.plusSeconds(9))
    assert(done.partitions.map(_.seconds) == Seq(Some(0)))
  }

  test("the arrival rate is reported in rows per second by topic") {
    val tracker = new LagTracker
    val at      = SortedMap(p(0) -> 0L, p(1) -> 0L, p(0, "u") -> 0L)
    assert(tracker.update(at, Map(p(0) -> 10L).get, none, start).arriving.isEmpty)
    val lag = tracker.update(at, Map(p(0) -> 50L, p(1) -> 60L).get, none, start.plusSeconds(10))
    assert(lag.arriving == Map("t" -> 10.0, "u" -> 0.0))
    assert(lag.report(ProgressMetric.RowsArriving) == "10")
  }

  test("an end before the position is not lag, and a deleted partition is removed") {
    val tracker = new LagTracker
    assert(tracker.update(SortedMap(p(0) -> 5L), Map(p(0) -> 3L).get, none, start).partitions.map(_.rows) == Seq(0))
    assert(tracker.update(SortedMap(p(1) -> 5L), _ => None, none, start).partitions.map(_.partition) == Seq(p(1)))
  }

  test("the progress has a limited number of topics and partitions") {
    val offsets = SortedMap.from(for (t <- 0 until 100; i <- 0 until 10) yield p(i, s"topic-$t") -> 0L)
    val ends    = offsets.toMap.map { case (at, _) => at -> (at.topic.drop(6).toLong + 1) * 10 }
    val reads   = offsets.keys.map(read(_, 1, 100, start)).reduce(_ ++ _)
    val report  = new LagTracker().update(offsets, ends.get, reads, start.plusSeconds(5)).report
    assert(report.valuesIterator.map(_.length).sum < 5000)
    val topics = Json.fields(Json.read(report(ProgressMetric.Topics)).get)
    assert(topics.map(_._1) == (99 to 80 by -1).map(t => s"topic-$t") :+ "*")
    assert(topics.map(t => t._2.get("rowsBehind").asLong).sum == ends.values.sum)
    assert(topics.last._2.get("partitions").asLong == 800)
    assert(Json.items(Json.read(report(ProgressMetric.Lagging)).get).size == Lag.PartitionsShown)
  }

  test("reports of tasks are added, and each report is used once") {
    val reports = new ReadReports("run")
    val first   = Report("run", read(p(0), 2, 20, start))
    val second  =
      Report("run", read(p(0), 3, 30, start.minusSeconds(1)) ++ TaskReads(pollNanos = 2000000, opened = 1))
    reports.add(Seq(first, Report("another run", read(p(0), 7, 70, start)), second))
    reports.add(Seq(first, second, Report("run", "of another kind")))
    val taken  = reports.take()
    val millis = start.toEpochMilli
    assert(taken.partitions == Map(p(0) -> PartitionRead(10, 100, millis, millis - 1000, millis)))
    assert(taken.report.toMap.apply(ProgressMetric.PollMs) == "4")
    assert(reports.take() == none)
  }
}
