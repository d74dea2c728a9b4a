// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.counting

import java.time.{Instant, ZoneId}

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection}
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import splice.hybrid.internal.history.{LastRecord, RecordKey, RecordTime}
import splice.source.LogPartition

/** Tests of timestamp and key of the row with the greatest offset, for all kinds of rows and for column batches. */
final class LastRowSuite extends AnyFunSuite {

  private val zone = ZoneId.of("Asia/Tokyo")

  private case class Row(partition: Int, offset: Long, time: Option[Long], key: Option[Array[Byte]])

  private def schema(time: DataType, key: DataType) = StructType(
    Seq("topic" -> StringType, "partition" -> IntegerType, "offset" -> LongType, "time" -> time, "key" -> key).map {
      case (name, kind) => StructField(name, kind)
    }
  )

  private def plan(time: DataType, key: DataType) = CountPlan(
    "history",
    Seq(CountPlan.Cell(0, StringType), CountPlan.Cell(1, IntegerType), CountPlan.Cell(2, LongType)),
    CountPlan.LastCells(Some(CountPlan.Cell(3, time)), Some(CountPlan.Cell(4, key))),
    None,
    zone
  )

  private def generic(row: Row, time: DataType, key: DataType): InternalRow = {
    val cells = new GenericInternalRow(5)
    cells.update(0, UTF8String.fromString("t"))
    cells.update(1, row.partition)
    cells.update(2, row.offset)
    row.time.foreach(t => if (time == DateType) cells.update(3, t.toInt) else cells.update(3, t))
    row.key.foreach(k => if (key == BinaryType) cells.update(4, k) else cells.update(4, UTF8String.fromBytes(k)))
    cells
  }

  private def batch(rows: Seq[Row], time: DataType, key: DataType): ColumnarBatch = {
    val columns = schema(time, key).fields.map(f => new OnHeapColumnVector(rows.size, f.dataType))
    rows.zipWithIndex.foreach { case (row, i) =>
      columns(0).putByteArray(i, "t".getBytes)
      columns(1).putInt(i, row.partition)
      columns(2).putLong(i, row.offset)
      row.time.fold(columns(3).putNull(i))(t =>
        if (time == DateType) columns(3).putInt(i, t.toInt) else columns(3).putLong(i, t)
      )
      row.key.fold(columns(4).putNull(i)) { k =>
        val _ = columns(4).putByteArray(i, k)
      }
    }
    new ColumnarBatch(columns.toArray[ColumnVector], rows.size)
  }

  /** Returns the kept values. All ways to read the rows must keep the same values. */
  private def last(rows: Seq[Row], time: DataType, key: DataType): Map[LogPartition, LastRecord] = {
    val unsafe                           = UnsafeProjection.create(schema(time, key))
    def counted(add: RowCounter => Unit) = {
      val counter = new RowCounter(plan(time, key))
      add(counter)
      counter.counts(Nil).last.toMap
    }
    val all = Seq(
      counted(c => rows.foreach(row => c.add(generic(row, time, key)))),
      counted(c => rows.foreach(row => c.add(unsafe(generic(row, time, key))))),
      counted(c => rows.grouped(3).foreach(some => c.add(batch(some, time, key)))),
      counted(c => c.add(batch(rows, time, key)))
    )
    assert(all.distinct.size == 1, all)
    all.head
  }

  private def row(partition: Int, offset: Long, time: Long, key: String) =
    Row(partition, offset, Some(time), Some(key.getBytes))

  private def micros(text: String): Long = {
    val at = Instant.parse(text)
    at.getEpochSecond * 1000000 + at.getNano / 1000
  }

  private def millis(text: String): Long = Instant.parse(text).toEpochMilli

  private def time(value: Long, kind: DataType): RecordTime =
    last(Seq(Row(0, 1, Some(value), None)), kind, BinaryType)(LogPartition("t", 0)).time.get

  for (kind <- Seq(BinaryType, StringType))
    test(s"the row with the greatest offset per partition is kept for any order of rows, $kind") {
      val random = new Random(7)
      (1 to 200).foreach { seed =>
        val rows = random.shuffle((0 until 3).flatMap { p =>
          (0 to random.nextInt(12)).map(o => row(p, o.toLong, random.nextInt(1000000).toLong, "k" * random.nextInt(90)))
        })
        val sorted   = if (random.nextBoolean()) rows else rows.sortBy(r => (r.partition, r.offset))
        val expected = sorted.groupBy(_.partition).map { case (p, own) =>
          val greatest = own.maxBy(_.offset)
          LogPartition("t", p) -> (greatest.offset, greatest.key.get.length)
        }
        val found = last(sorted, TimestampType, kind)
        assert(found.map { case (p, r) => p -> (r.offset, r.key.get.size) } == expected, s"seed $seed")
        sorted.groupBy(_.partition).foreach { case (p, own) =>
          val greatest = own.maxBy(_.offset)
          assert(found(LogPartition("t", p)).key.contains(RecordKey.of(greatest.key.get, greatest.key.get.length)))
        }
      }
    }

  test("a null key or timestamp is kept, even after rows with values") {
    val rows  = Seq(row(0, 1, 1000, "a long key before"), Row(0, 2, None, None), row(1, 1, 1000, "a"))
    val found = last(rows, TimestampType, BinaryType)
    assert(found(LogPartition("t", 0)) == LastRecord(2, None, Some(RecordKey.Absent)))
    assert(found(LogPartition("t", 1)).key.contains(RecordKey.of("a".getBytes, 1)))
    val shorter = last(Seq(row(0, 1, 1, "longer"), row(0, 2, 1, "s")), TimestampType, StringType)
    assert(shorter(LogPartition("t", 0)).key.contains(RecordKey.of("s".getBytes, 1)))
  }

  test("a date represents its day, a whole second its second, and any other timestamp its millisecond") {
    val at = millis("2026-01-01T00:00:05.123Z")
    assert(time(micros("2026-01-01T00:00:05.123Z"), TimestampType) == RecordTime(at, at + 1))
    assert(time(micros("2026-01-01T00:00:05.123999Z"), TimestampType) == RecordTime(at, at + 1))
    val second = millis("2026-01-01T00:00:05Z")
    assert(time(micros("2026-01-01T00:00:05Z"), TimestampType) == RecordTime(second, second + 1000))
    assert(time(micros("2026-01-01T00:00:05.000001Z"), TimestampType) == RecordTime(second, second + 1))
    assert(time(-1000, TimestampType) == RecordTime(-1, 0), "no timestamp in Kafka")
    assert(time(micros("2026-01-01T09:00:05.5Z"), TimestampNTZType) == RecordTime(second + 500, second + 501))
    val day = java.time.LocalDate.parse("2026-01-02").toEpochDay
    assert(time(day, DateType) == RecordTime(millis("2026-01-01T15:00:00Z"), millis("2026-01-02T15:00:00Z")))
  }

  test("rows without a valid offset are not kept") {
    val rows = Seq(row(0, -1, 1, "x"), row(0, Long.MaxValue, 1, "x"), row(-1, 7, 1, "x"), row(0, 3, 1, "a"))
    assert(last(rows, TimestampType, BinaryType).map { case (p, r) => p -> r.offset } ==
      Map(LogPartition("t", 0) -> 3L))
  }
}
