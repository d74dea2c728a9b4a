// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.counting

import java.time.ZoneOffset

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import splice.source.LogPartition
import splice.source.log.OffsetRuns

/** Tests of the offsets of log partitions with mixed rows. */
final class OffsetCounterSuite extends AnyFunSuite {

  // Rows with the same partition number of several topics are adjacent.
  private val rows: Seq[(String, Int, Long)] = Seq(
    ("a", 0, 0L),
    ("b", 0, 7L),
    ("b", 0, 8L),
    ("a", 0, 1L),
    ("a", 1, 5L),
    ("b", 1, 5L),
    ("a", 1, 6L)
  )

  private val wanted = rows.groupMap(row => LogPartition(row._1, row._2))(_._3)

  private def counted(add: RowCounter => Unit): Map[LogPartition, Seq[Long]] = {
    val cells   = Seq(StringType, IntegerType, LongType).zipWithIndex.map { case (kind, i) => CountPlan.Cell(i, kind) }
    val counter = new RowCounter(CountPlan("history", cells, None, ZoneOffset.UTC))
    add(counter)
    counter.counts(Nil).offsets.map { case (p, bytes) =>
      val runs = OffsetRuns.fromBytes(bytes)
      assert(runs.rows == runs.count)
      p -> runs.ranges.flatMap { case (from, until) => from until until }.toSeq
    }.toMap
  }

  private def row(of: (String, Int, Long)): InternalRow =
    new GenericInternalRow(Array[Any](UTF8String.fromString(of._1), of._2, of._3))

  private def batch: ColumnarBatch = {
    val (topic, partition, offset) = (
      new OnHeapColumnVector(rows.size, StringType),
      new OnHeapColumnVector(rows.size, IntegerType),
      new OnHeapColumnVector(rows.size, LongType)
    )
    rows.zipWithIndex.foreach { case ((t, p, o), i) =>
      val _ = topic.putByteArray(i, t.getBytes)
      partition.putInt(i, p)
      offset.putLong(i, o)
    }
    new ColumnarBatch(Array[ColumnVector](topic, partition, offset), rows.size)
  }

  test("adjacent rows of one partition number in several topics are counted per topic") {
    assert(counted(counter => rows.foreach(r => counter.add(row(r)))) == wanted)
  }

  test("column batches have the same counts as rows") {
    assert(counted(_.add(batch)) == wanted)
  }

  test("rows without a column for the topic are counted per partition") {
    val cells                            = Seq(CountPlan.Cell(1, IntegerType), CountPlan.Cell(2, LongType))
    def counted(add: RowCounter => Unit) = {
      val counter = new RowCounter(CountPlan("history", cells, None, ZoneOffset.UTC))
      add(counter)
      offsets(counter.counts(Nil))
    }
    val merged = Map(LogPartition("", 0) -> Seq(0L -> 2L, 7L -> 9L), LogPartition("", 1) -> Seq(5L -> 7L))
    assert(counted(counter => rows.foreach(r => counter.add(row(r)))) == merged)
    assert(counted(_.add(batch)) == merged)
  }

  private val kinds = Seq(ByteType, ShortType, IntegerType, LongType)

  private def put(vector: OnHeapColumnVector, row: Int, value: Option[Long]): Unit = value match {
    case None    => vector.putNull(row)
    case Some(n) => vector.dataType match {
        case ByteType    => vector.putByte(row, n.toByte)
        case ShortType   => vector.putShort(row, n.toShort)
        case IntegerType => vector.putInt(row, n.toInt)
        case _           => vector.putLong(row, n)
      }
  }

  /** Returns the counts of rows with these values. Counts by rows and by a column batch must be equal. */
  private def counts(kind: DataType, rows: (Option[String], Option[Long], Option[Long])*): LegCounts = {
    val types   = Seq(StringType, kind, kind)
    val vectors = types.map(new OnHeapColumnVector(rows.size, _))
    rows.zipWithIndex.foreach { case ((topic, partition, offset), i) =>
      topic.fold(vectors.head.putNull(i)) { text =>
        val _ = vectors.head.putByteArray(i, text.getBytes)
      }
      put(vectors(1), i, partition)
      put(vectors(2), i, offset)
    }
    val batch                            = new ColumnarBatch(vectors.toArray[ColumnVector], rows.size)
    def counted(add: RowCounter => Unit) = {
      val cells   = types.zipWithIndex.map { case (kind, i) => CountPlan.Cell(i, kind) }
      val counter = new RowCounter(CountPlan("history", cells, None, ZoneOffset.UTC))
      add(counter)
      counter.counts(Nil)
    }
    val byRow   = counted(counter => rows.indices.foreach(i => counter.add(batch.getRow(i))))
    val byBatch = counted(_.add(batch))
    assert(byRow.invalid == byBatch.invalid && offsets(byRow) == offsets(byBatch))
    byBatch
  }

  private def offsets(counts: LegCounts): Map[LogPartition, Seq[(Long, Long)]] =
    counts.offsets.map { case (p, bytes) => p -> OffsetRuns.fromBytes(bytes).ranges.toSeq }.toMap

  test("partitions and offsets of each integer width are counted") {
    kinds.foreach { kind =>
      val found =
        counts(kind, (Some("t"), Some(3), Some(6)), (Some("t"), Some(3), Some(7)), (Some("t"), Some(4), Some(0)))
      assert(offsets(found) == Map(LogPartition("t", 3) -> Seq(6L -> 8L), LogPartition("t", 4) -> Seq(0L -> 1L)))
      assert(found.invalid == Seq(0, 0, 0))
    }
  }

  test("rows without a valid value are counted per column, and not as offsets") {
    val valid = (Some("t"), Some(0L), Some(5L))
    val nulls = counts(IntegerType, (None, Some(0), Some(1)), (None, None, Some(1)), (Some("t"), Some(0), None), valid)
    assert(nulls.invalid == Seq(2, 1, 1) && offsets(nulls) == Map(LogPartition("t", 0) -> Seq(5L -> 6L)))
    val large    = Int.MaxValue.toLong
    val negative = counts(
      LongType,
      (Some("t"), Some(-1), Some(1)),
      (Some("t"), Some(-1), Some(2)),
      (Some("t"), Some(large + 1), Some(1)),
      (Some("t"), Some(0), Some(-1)),
      (Some("t"), Some(0), Some(Long.MaxValue)),
      (Some("t"), Some(large), Some(0))
    )
    assert(negative.invalid == Seq(0, 3, 2) &&
      offsets(negative) == Map(LogPartition("t", Int.MaxValue) -> Seq(0L -> 1L)))
  }
}
