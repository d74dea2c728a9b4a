// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.counting

import java.time.{Duration, ZoneOffset}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector
import org.apache.spark.sql.types.{IntegerType, LongType, StringType}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import splice.hybrid.internal.chain.LegErrors
import splice.hybrid.internal.reader.LegReaders
import splice.hybrid.internal.select.RowShape
import splice.source.log.{Extent, OffsetRuns}
import splice.source.runtime.Report
import splice.source.{Poll, SplitRange, SplitReader, SplitReaderFactory, TaskRanges}

/** Tests of counts of readers that reach their end or fail. */
final class CountPlanSuite extends AnyFunSuite {

  private val kinds = Seq(StringType, IntegerType, LongType)

  private val plan = CountPlan(
    "history",
    kinds.zipWithIndex.map { case (kind, i) => CountPlan.Cell(i, kind) },
    None,
    ZoneOffset.UTC
  )

  private val columns = kinds.map(new OnHeapColumnVector(2, _))
  columns.head.putByteArray(0, "t".getBytes)
  columns.head.putByteArray(1, "t".getBytes)
  columns(1).putInts(0, 2, 0)
  columns(2).putLongs(0, 2, Array(4L, 5L), 0)

  private def batch(rows: Int) = new ColumnarBatch(columns.toArray[ColumnVector], rows)

  private val row: InternalRow = new GenericInternalRow(Array[Any](UTF8String.fromString("t"), 0, 4L))

  private case class Part(override val extents: Seq[Extent]) extends SplitRange {
    override def splitId: String = "part"
  }

  private val part = Part(Seq(Extent.whole(7)))

  private def task(of: SplitRange*) = TaskRanges(None, of.toIndexedSeq)

  /** Reader factory that returns the given items and counts its open readers. */
  private class Items(items: Seq[() => Any], override val columnar: Boolean) extends SplitReaderFactory {
    private val readers = new java.util.concurrent.atomic.AtomicInteger

    def open: Int = readers.get

    override def rows(task: TaskRanges): SplitReader[InternalRow]      = reader { case one: InternalRow => one }
    override def batches(task: TaskRanges): SplitReader[ColumnarBatch] = reader { case one: ColumnarBatch => one }

    private def reader[T](of: PartialFunction[Any, T]): SplitReader[T] = new SplitReader[T] {
      private val rest = items.iterator
      readers.incrementAndGet()
      private var item                            = Option.empty[T]
      override def poll(patience: Duration): Poll = {
        item = rest.nextOption().map(make => of(make()))
        if (item.isEmpty) Poll.Ended else Poll.Found
      }
      override def get(): T      = item.get
      override def close(): Unit = { val _ = readers.decrementAndGet() }
    }
  }

  private def broken: () => Any = () => throw new IllegalStateException("broken")

  private def offsets(counts: LegCounts): Seq[(String, Seq[(Long, Long)])] =
    counts.offsets.map { case (p, bytes) => p.toString -> OffsetRuns.fromBytes(bytes).ranges.toSeq }

  test("a scan counts rows or column batches, depending on the reader, and closes its reader") {
    val (rows, batches) = (new Items(Seq(() => row), false), new Items(Seq(() => batch(0), () => batch(2)), true))
    assert(offsets(plan.scan(rows, part)) == Seq("t-0" -> Seq(4L -> 5L)))
    val counts = plan.scan(batches, part)
    assert(offsets(counts) == Seq("t-0" -> Seq(4L -> 6L)) && counts.extents == part.extents && counts.leg == "history")
    assert(rows.open == 0 && batches.open == 0)
  }

  test("a failed scan closes its reader") {
    Seq(new Items(Seq(() => row, broken), false), new Items(Seq(() => batch(2), broken), true)).foreach { items =>
      intercept[IllegalStateException](plan.scan(items, part))
      assert(items.open == 0)
    }
  }

  test("counted column batches are read as rows, even after an empty batch, and the reader is closed") {
    val items  = new Items(Seq(() => batch(0), () => batch(2), () => batch(0), () => batch(1), () => batch(0)), true)
    val reader = LegReaders(items, RowShape.Same, new LegErrors("leg", "memory"), Some(plan)).rows(task(part))
    assert(SplitReader.items(reader).map(_.getLong(2)).toSeq == Seq(4L, 5L, 4L))
    val reports = reader.report(ended = true)
    assert(reports.map(_.range) == Seq("history/part") && items.open == 1)
    reader.close()
    assert(items.open == 0)
  }

  test("a task reports its counts only if all its ranges were read and have extents") {
    def reports(ended: Boolean, ranges: SplitRange*): Seq[Report] = {
      val reader = plan.rows(new Items(Seq(() => row), false).rows(task(ranges: _*)), task(ranges: _*))
      assert(SplitReader.items(reader).size == 1)
      reader.report(ended)
    }
    val other = Part(Seq(Extent.whole(8)))
    assert(reports(true, part, other).map(_.range) == Seq("history/part,part"))
    assert(reports(false, part).isEmpty && reports(true, part, Part(Nil)).isEmpty)
  }
}
