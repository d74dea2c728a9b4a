// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.memory

import java.time.Duration

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}
import org.apache.spark.unsafe.types.UTF8String

import splice.source.runtime.Report
import splice.source.{Poll, SplitReader, SplitReaderFactory, TaskRanges}

/** Readers of logs in this JVM. Like fast readers, these readers reuse one row or batch object. */
final private[splice] class MemoryReaders(columns: StructType, override val columnar: Boolean)
    extends SplitReaderFactory {

  override def rows(task: TaskRanges): SplitReader[InternalRow] = new SplitReader[InternalRow] {
    private val records = cells(task)
    private val row     = new GenericInternalRow(columns.size)

    override def poll(patience: Duration): Poll = records.nextOption().fold[Poll](Poll.Ended) { values =>
      values.zipWithIndex.foreach { case (value, i) => put(i, value) }
      Poll.Found
    }
    private def put(i: Int, value: Any): Unit = value match {
      case None        => row.setNullAt(i)
      case Some(known) => row.update(i, known)
      case other       => row.update(i, other)
    }
    override def get(): InternalRow                  = row
    override def report(ended: Boolean): Seq[Report] = if (ended) read(task) else Nil
    override def close(): Unit                       = ()
  }

  override def batches(task: TaskRanges): SplitReader[ColumnarBatch] = new SplitReader[ColumnarBatch] {
    private val groups  = cells(task).grouped(MemoryReaders.BatchRows)
    private val vectors = columns.fields.map(c => new OnHeapColumnVector(MemoryReaders.BatchRows, c.dataType))
    private val batch   = new ColumnarBatch(vectors.toArray[ColumnVector])

    override def poll(patience: Duration): Poll = groups.nextOption().fold[Poll](Poll.Ended) { rows =>
      vectors.foreach(_.reset())
      rows.zipWithIndex.foreach { case (values, r) => values.zip(vectors).foreach { case (v, to) => put(to, r, v) } }
      batch.setNumRows(rows.size)
      Poll.Found
    }
    override def get(): ColumnarBatch                = batch
    override def report(ended: Boolean): Seq[Report] = if (ended) read(task) else Nil
    override def close(): Unit                       = batch.close()
  }

  /** Returns one report per range, with the number of its rows. */
  private def read(task: TaskRanges): Seq[Report] = task.ranges.collect { case range: MemoryRange =>
    Report(MemoryReaders.key(range), Long.box(range.weight))
  }

  private def cells(task: TaskRanges): Iterator[Seq[Any]] =
    task.ranges.iterator.collect { case range: MemoryRange => range }.flatMap { range =>
      val log = MemoryLog(range.log)
      log.read(range.partition, range.from, range.until).iterator.map { record =>
        log.failIfRequested(record.id)
        columns.fieldNames.toSeq.map(cell(range.log, record, _))
      }
    }

  private def cell(log: String, record: MemoryRecord, column: String): Any = column match {
    case "_key"      => record.key.map(UTF8String.fromString)
    case "topic"     => UTF8String.fromString(record.origin.topic)
    case "partition" => record.origin.partition
    case "offset"    => record.originOffset
    case "id"        => record.id
    case "timestamp" => record.millis * 1000
    case "_log"      => UTF8String.fromString(log)
  }

  private def put(vector: OnHeapColumnVector, row: Int, value: Any): Unit = value match {
    case None          => vector.putNull(row)
    case Some(known)   => put(vector, row, known)
    case n: Int        => vector.putInt(row, n)
    case n: Long       => vector.putLong(row, n)
    case t: UTF8String => val _ = vector.putByteArray(row, t.getBytes)
    case other         => throw new IllegalArgumentException(s"no cell of a memory source holds $other")
  }
}

private[splice] object MemoryReaders {
  val BatchRows = 3

  /** Key of the reports of a range. */
  def key(range: MemoryRange): String = s"${range.partition}:${range.from}-${range.until}"
}
