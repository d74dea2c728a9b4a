// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.history

import java.time.Instant

import scala.collection.immutable.{ArraySeq, SortedMap}
import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.hybrid.handover.FixedLog
import splice.hybrid.internal.chain.Leg
import splice.hybrid.internal.handover.HandOverDecision
import splice.hybrid.{HandOver, HybridWorlds, Legs}
import splice.source.errors.SpliceException
import splice.source.internal.entries.Json
import splice.source.log.{LogRange, LogRecord, OffsetRuns}
import splice.source.{Evidence, LogPartition, OffsetSummary, OnGap, Position, Source, TimeRange}
import splice.testkit.internal.memory.{MemoryLog, MemoryRecord}

/** Tests of the comparison of the last records of a history with the log. */
final class LogComparisonSuite extends AnyFunSuite with HybridWorlds {

  private val p0     = LogPartition("orders", 0)
  private val p1     = LogPartition("orders", 1)
  private val second = Instant.parse("2026-01-01T00:00:05Z").toEpochMilli

  private def leg(name: String, rule: Option[HandOver]) =
    Leg(name, Legs.source(Legs.history(Legs.log())), None, rule, OnGap.Fail, s"$name.select")

  private def inLog(millis: Long, key: Option[String]) = LogRecord(millis, key.map(k => ArraySeq.from(k.getBytes)))

  private def key(text: String) = Some(RecordKey.of(text.getBytes, text.length))

  /** Decides with a history of offsets 0 to 9 in each partition. */
  private def decide(records: (LogPartition, LogRecord)*)(last: (LogPartition, LastRecord)*): HandOverDecision = {
    val held = last.map { case (p, _) => OffsetSummary(p, OffsetRuns.of(0L -> 10L)) }
    val all  = new FixedLog(
      SortedMap(p0 -> LogRange(0, 20), p1 -> LogRange(0, 20)),
      records.map { case (p, record) => (p, 9L) -> record }.toMap
    )
    object End extends Evidence {
      override def position: Position                   = fail("not needed")
      override def modificationTimes: Option[TimeRange] = fail("not needed")
    }
    HandOverDecision.decide(leg("history", None), leg("live", Some(HandOver.offsets())), End, Instant.EPOCH)(
      Seq(LegOffsets(leg("history", None), held, last.toMap)),
      all
    )
  }

  private def compared(created: HandOverDecision): Seq[Boolean] =
    created.proof.map(line => Json.read(line).get.path("compared").asBoolean)

  private def different(records: (LogPartition, LogRecord)*)(last: (LogPartition, LastRecord)*): String = {
    val error = intercept[SpliceException](decide(records: _*)(last: _*))
    assert(error.getCondition == "SPLICE_HAND_OVER_DATA.OTHER_LOG", error.getMessage)
    error.getMessage
  }

  test("records with equal timestamp and key are accepted, and the table has the result") {
    val last = LastRecord(9, Some(RecordTime(second, second + 1)), key("a"))
    assert(compared(decide(p0 -> inLog(second, Some("a")))(p0 -> last)) == Seq(true, false))
    assert(
      compared(decide(p1 -> inLog(second, Some("a")))(p0 -> last, p1 -> last)) == Seq(false, true),
      "not in the log"
    )
    assert(
      compared(decide(p0 -> inLog(1, Some("b")))(p0 -> LastRecord(9, None, None))) == Seq(false, false),
      "no columns"
    )
  }

  test("a different timestamp or key is an error with partition, offset and both records") {
    val last = LastRecord(9, Some(RecordTime(second, second + 1)), key("a"))
    val time = different(p0 -> inLog(second + 1, Some("a")), p1 -> inLog(second, Some("a")))(p0 -> last, p1 -> last)
    assert(time.contains("orders-0 offset 9: timestamp 2026-01-01T00:00:05Z, key 'a' in the history"), time)
    assert(time.contains("timestamp 2026-01-01T00:00:05.001Z, key 'a' in the log") && !time.contains("orders-1"))
    val ofLive = Seq("live.handOver.timestamp", "live.handOver.key", "live.kafka.bootstrap.servers")
    (Seq("live", "history", "history.logColumns") ++ ofLive).foreach(name => assert(time.contains(s"'$name'"), time))
    val keys = different(p0 -> inLog(second, Some("b")))(p0 -> last)
    assert(keys.contains("key 'a' in the history") && keys.contains("key 'b' in the log"))
  }

  test("only values that the history has are compared") {
    assert(compared(decide(p0 -> inLog(7, Some("a")))(p0 -> LastRecord(9, None, key("a")))).head)
    assert(compared(decide(p0 -> inLog(7, Some("b")))(p0 -> LastRecord(9, Some(RecordTime(7, 8)), None))).head)
    val text = different(p0 -> inLog(7, Some("b")))(p0 -> LastRecord(9, None, key("a")))
    assert(!text.contains("timestamp 19"), text)
  }

  test("a missing key equals a missing key and differs from an empty key") {
    val none = LastRecord(9, None, Some(RecordKey.Absent))
    assert(compared(decide(p0 -> inLog(7, None))(p0 -> none)).head)
    assert(different(p0 -> inLog(7, Some("")))(p0 -> none).contains("key null in the history, and key '' in the log"))
    assert(
      different(p0 -> inLog(7, None))(p0 -> none.copy(key = key(""))).contains("key '' in the history, and key null")
    )
  }

  test("timestamps are compared with the precision of the history") {
    def last(from: Long, until: Long) = LastRecord(9, Some(RecordTime(from, until)), None)
    Seq(second, second + 999).foreach { millis =>
      assert(compared(decide(p0 -> inLog(millis, None))(p0 -> last(second, second + 1000))).head)
    }
    Seq(second - 1, second + 1000).foreach { millis =>
      val text = different(p0 -> inLog(millis, None))(p0 -> last(second, second + 1000))
      assert(text.contains("timestamp 2026-01-01T00:00:05Z to 2026-01-01T00:00:05.999Z in the history"), text)
    }
  }

  test("with two legs, the record with the greater offset is compared") {
    val older = LegOffsets(
      leg("a", None),
      Seq(OffsetSummary(p0, OffsetRuns.of(5L -> 10L))),
      Map(p0 -> LastRecord(9, None, key("x")))
    )
    val newer = LegOffsets(
      leg("b", None),
      Seq(OffsetSummary(p0, OffsetRuns.of(0L -> 5L))),
      Map(p0 -> LastRecord(4, None, key("y")))
    )
    Seq(Seq(older, newer), Seq(newer, older)).foreach { legs =>
      assert(PartitionHistory.of(legs).map(_.last.map(_.offset)) == Seq(Some(9L)))
    }
  }

  test("keys are shown as text or hexadecimal digits, long keys are truncated, and the complete key is compared") {
    def of(bytes: Array[Byte]) = RecordKey.of(bytes, bytes.length)
    assert(of("größe".getBytes("UTF-8")).toString == "'größe'")
    assert(of(Array[Byte](0, 1, -1)).toString == "0x0001ff")
    assert(of(("a" * 100).getBytes).toString == s"'${"a" * 32}'... (100 bytes)")
    assert(of(("a" * 32).getBytes).toString == s"'${"a" * 32}'")
    assert(of(("a" * 33).getBytes).toString == s"'${"a" * 32}'... (33 bytes)")
    assert(RecordKey.Absent.toString == "null")
    val long = Array.fill[Byte](100)(65)
    assert(of(long) == of(long.clone()) && of(long) != of(long.updated(99, 66.toByte)) && of(long) != of(long.take(99)))
    assert(RecordKey.of(long, 3) == of("AAA".getBytes))
  }

  private trait Compared extends World {
    override def own: Seq[(String, String)] = Seq("handOver.timestamp" -> "timestamp", "handOver.key" -> "_key")

    /** Entry of the switch. */
    def entry: Option[Seq[String]] = this.log.scope("leg-live").get("hand-over-00000000")
  }

  test("a history of the log is accepted, and the entry has the comparison") {
    new Compared {
      Using.resource(Legs.run(source, this.log))(c =>
        assert(batches(c).map(b => ids(c.ranges(b._1, b._2))).flatten == (0L to 5L))
      )
      val rows: Seq[Boolean] = entry.get.drop(3).map(line => Json.read(line).get.path("compared").asBoolean)
      assert(rows == Seq(true, true) && live.requested("records") == 1)
    }
  }

  test("without the columns no record is requested") {
    new World {
      Using.resource(Legs.run(source, this.log))(batches(_))
      assert(live.requested("records") == 0)
    }
  }

  test("a record that retention removed is not compared") {
    new Compared {
      override def own: Seq[(String, String)] = super.own :+ "onGap" -> "warn"
      live.forget(0, 2)
      Using.resource(Legs.run(source, this.log))(batches(_))
      assert(entry.get.drop(3).map(line => Json.read(line).get.path("compared").asBoolean) == Seq(false, true))
    }
  }

  test("the first remaining record of the log is compared") {
    new Compared {
      live.forget(0, 1)
      Using.resource(Legs.run(source, this.log))(batches(_))
      assert(entry.get.drop(3).map(line => Json.read(line).get.path("compared").asBoolean) == Seq(true, true))
    }
  }

  test("a history of another log is rejected before the switch is stored, and a restart can correct the rule") {
    Seq[MemoryRecord => MemoryRecord](_.copy(millis = 77), _.copy(id = 77)).foreach { change =>
      new Compared {
        override val history: MemoryLog = Legs.log(1)
        (0 until 2).foreach(p => live.read(p, 0, 2).map(change).foreach(history.archive(0, _)))
        val error: SpliceException = intercept[SpliceException](Using.resource(Legs.run(source, this.log))(batches(_)))
        assert(error.getCondition == "SPLICE_HAND_OVER_DATA.OTHER_LOG", error.getMessage)
        assert(error.getMessage.contains(s"${live.name}-0 offset 1: ") && entry.isEmpty)
        val other: Source[_ <: Position] = Legs.source(Legs.history(history), Legs.live(live, rule: _*))
        Using.resource(Legs.run(other, this.log))(c => assert(leg(batches(c).last._2) == "live"))
      }
    }
  }

  test("a leg with logColumns is compared only by these columns") {
    new Compared {
      override def bound: Seq[(String, String)] =
        Seq("logColumns" -> """{"topic":"topic","partition":"partition","offset":"offset","key":"_key"}""")
      override def own: Seq[(String, String)] = Nil
      override val history: MemoryLog         = Legs.log(1)
      (0 until 2).foreach(p => live.read(p, 0, 2).map(_.copy(millis = 77)).foreach(history.archive(0, _)))
      Using.resource(Legs.run(source, this.log))(batches(_))
      assert(entry.get.drop(3).forall(line => Json.read(line).get.path("compared").asBoolean))
    }
  }
}
