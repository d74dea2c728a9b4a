// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.tally

import java.time.ZoneOffset

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector
import org.apache.spark.sql.types.{IntegerType, LongType, StringType}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import splice.source.{LogPartition, OffsetRuns}

/** The offsets of log partitions whose rows are mixed. */
final class OffsetCounterSuite extends AnyFunSuite {

  // The same partition of several topics is next to each other.
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
    val counter = new RowCounter(CountPlan("history", cells, CountPlan.LastCells(None, None), None, ZoneOffset.UTC))
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

  test("rows of one partition of several topics, one after another") {
    assert(counted(counter => rows.foreach(r => counter.add(row(r)))) == wanted)
  }

  test("the same in a column batch") {
    assert(counted(_.add(batch)) == wanted)
  }
}
