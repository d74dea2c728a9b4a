// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.plan

import java.time.Instant

import scala.collection.immutable.SortedMap

import org.scalatest.funsuite.AnyFunSuite

import splice.hybrid.Legs
import splice.hybrid.internal.chain.{Chain, Leg}
import splice.hybrid.internal.handover.HandOverDecision
import splice.hybrid.internal.options.ChainParser
import splice.source.log.{LogOutlook, LogRange, Outlook}
import splice.source.options.SourceOptions
import splice.source.{LogPartition, TimeRange}

/** Tests of the forecast of gaps and of times after now. */
final class ForecastSuite extends AnyFunSuite {

  private val now = Instant.parse("2026-03-01T00:00:00Z")

  private val (old, recent, live) = (Legs.log(), Legs.log(), Legs.log())

  private def chain(rule: (String, String)*): Chain = ChainParser.parse(SourceOptions(
    Legs.options("old" -> Legs.history(old)._2, "recent" -> Legs.history(recent)._2, Legs.live(live, rule: _*))
  ))

  private def second(second: Long): Instant = Instant.ofEpochSecond(second)

  private def p(partition: Int): LogPartition = LogPartition("t", partition)

  private case class Known(
      newest: Option[Instant] = None,
      override val logs: SortedMap[LogPartition, LogOutlook] = SortedMap.empty,
      override val latest: Map[String, Instant] = Map.empty
  ) extends Outlook {
    override def modified: Option[TimeRange] = newest.map(TimeRange(second(0), _))
  }

  private def known(old: => Known, recent: => Known, live: => Known)(leg: Leg): Outlook = leg.name match {
    case "old"    => old
    case "recent" => recent
    case _        => live
  }

  private def newest(at: Long): Known = Known(Some(second(at)))

  private def log(ranges: (Int, (Long, Option[Long]))*): Known = Known(logs =
    SortedMap.from(ranges.map { case (partition, (from, first)) =>
      p(partition) -> LogOutlook(LogRange(from, 100), first.map(second))
    })
  )

  private val exact    = Seq("handOver" -> "offsets")
  private val byTime   = Seq("handOver" -> "eventTime", "handOver.column" -> "ts", "handOver.overlap" -> "1h")
  private val byFile   = Seq("handOver" -> "modificationTime", "handOver.overlap" -> "1h")
  private val nowMinus = Seq("handOver" -> "nowMinus", "handOver.duration" -> "1h")

  private def gap(rule: Seq[(String, String)], old: => Known, recent: => Known, live: Known): Option[String] = {
    val all = chain(rule: _*)
    ExpectedGaps.of(all, all.last, known(old, recent, live))
  }

  test("a gap is expected if the first remaining record is later than the newest file of all counted legs") {
    val (first, other) = (newest(10), newest(5))
    assert(gap(exact, first, other, log(0 -> (3L -> Some(10L)))).isEmpty)
    val text = gap(exact, first, other, log(0 -> (3L -> Some(11L)), 1 -> (0L -> Some(99L)), 2 -> (4L -> None))).get
    Seq("between 'old' and 'recent' and leg 'live'", "modified at 1970-01-01T00:00:10Z", "t-0 begins at offset 3 of")
      .foreach(words => assert(text.contains(words), text))
    assert(!text.contains("t-1") && !text.contains("t-2"), text)
    assert(gap(exact, Known(), other, log(0 -> (3L -> Some(11L)))).isEmpty, "a leg without a time")
  }

  test("a time rule expects a gap after the previous leg only, and nowMinus expects no gap") {
    val log0 = log(0 -> (3L -> Some(6L)))
    Seq(byTime, byFile).foreach { rule =>
      assert(gap(rule, newest(10), newest(5), log0).exists(_.contains("between 'recent' and leg 'live'")))
      assert(gap(rule, newest(1), newest(6), log0).isEmpty)
    }
    assert(gap(nowMinus, newest(1), newest(1), log0).isEmpty)
  }

  test("files are listed only if retention has removed records of the log") {
    assert(gap(exact, fail("listed"), fail("listed"), log(0 -> (0L -> Some(9L)))).isEmpty)
  }

  test("the warning of an expected gap names only the first partitions") {
    val text = gap(exact, newest(1), newest(1), log((0 until 23).map(_ -> (3L -> Some(9L))): _*)).get
    assert(text.contains("t-19 begins") && !text.contains("t-20 begins") && text.contains("and 3 more"), text)
  }

  test("a gap is near if the log begins less than a quarter of its age before the newest file") {
    val all                                                 = chain(exact: _*)
    def near(first: Long, newest: Long, now: Long): Boolean = {
      val logs = log(0 -> (3L -> Some(first)), 1 -> (0L -> Some(newest)))
      ExpectedGaps.near(all, all.last, known(this.newest(newest), this.newest(1), logs), second(now)).nonEmpty
    }
    assert(!near(first = 100, newest = 110, now = 140))
    assert(near(first = 100, newest = 110, now = 141))
    assert(near(first = 101, newest = 110, now = 140))
    assert(!near(first = 140, newest = 140, now = 140) && near(first = 139, newest = 139, now = 140))
  }

  private def future(rule: Seq[(String, String)], old: => Known, recent: => Known): Option[String] = {
    val all = chain(rule: _*)
    FutureTimes.of(all, all.last, known(old, recent, fail("the log is not needed")), now)
  }

  test("a warning is logged for a time of the previous leg that exceeds now by more than the clock skew") {
    val allowed                = now.plus(HandOverDecision.ClockSkew)
    val late                   = allowed.plusMillis(1)
    def timed(last: Instant)   = Known(latest = Map("TS" -> last, "other" -> late))
    def written(last: Instant) = Known(newest = Some(last))
    val early                  = Known(Some(late), latest = Map("ts" -> late))
    assert(future(byTime, early, timed(allowed)).isEmpty && future(byFile, early, written(allowed)).isEmpty)
    val texts = Seq(future(byTime, early, timed(late)), future(byFile, early, written(late))).flatten
    assert(texts.size == 2 && texts.head.startsWith("The greatest 'ts' in leg 'recent' is 2026-03-01T00:05:00.001Z"))
    assert(texts.last.startsWith("The newest modification time in leg 'recent' is 2026-03-01T00:05:00.001Z"))
    assert(texts.forall(_.contains("now is 2026-03-01T00:00:00Z. The switch to leg 'live' fails")))
    assert(future(exact, fail("no time is needed"), fail("no time is needed")).isEmpty)
  }
}
