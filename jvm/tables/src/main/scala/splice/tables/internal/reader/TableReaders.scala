// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.reader

import java.time.Duration

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}
import org.apache.spark.{Partition, TaskContext}

import splice.source.errors.SpliceException
import splice.source.internal.PinnedReader
import splice.source.runtime.SessionSettings
import splice.source.{Poll, SplitRange, SplitReader, SplitReaderFactory, TaskRanges}
import splice.tables.internal.errors.TableErrors
import splice.tables.internal.split.TableRange

/** Partitions of the plan of consecutive slices, as executors read them.
  *
  * @param rdd
  *   rows, or column batches with the place of each column in a batch
  * @param partitions
  *   partitions of `rdd`. Spark determines the parents of an RDD together with its partitions, and serialises both
  */
final private[tables] case class SlicePartitions(rdd: SlicePartitions.Items, partitions: Broadcast[Array[Partition]]) {

  /** Items of one part of the slices. A part has each partition whose number leaves this remainder, because another run
    * may plan another number of partitions.
    */
  def items[T](rdd: RDD[T], range: TableRange): Iterator[T] = {
    val all = partitions.value
    Iterator.range(range.part, all.length, range.parts).flatMap(i => rdd.iterator(all(i), TaskContext.get()))
  }
}

private[tables] object SlicePartitions {

  type Items = Either[RDD[InternalRow], (RDD[ColumnarBatch], Array[Int])]
}

/** Reader factory of the slices of a batch.
  *
  * @param plans
  *   partitions per number of the first slice and number after the last slice. All are rows, or all are column batches
  * @param table
  *   name of the table, for errors
  */
final private[tables] class TableReaders(
    plans: Map[(Int, Int), SlicePartitions],
    table: String,
    session: SessionSettings
) extends SplitReaderFactory {

  override val columnar: Boolean = plans.nonEmpty && plans.values.forall(_.rdd.isRight)

  override def rows(task: TaskRanges): SplitReader[InternalRow] = reader(task) { range =>
    plans((range.from, range.until)) match {
      case plan @ SlicePartitions(Left(rows), _) => plan.items(rows, range)
      case _                                     => vectors(range).flatMap(_.rowIterator.asScala)
    }
  }

  override def batches(task: TaskRanges): SplitReader[ColumnarBatch] = reader(task)(vectors)

  private def vectors(range: TableRange): Iterator[ColumnarBatch] = plans((range.from, range.until)) match {
    case plan @ SlicePartitions(Right((rdd, places)), _) => plan.items(rdd, range).map(TableReaders.arranged(_, places))
    case _ => throw new IllegalStateException(s"$range has no column batches")
  }

  private def reader[T](task: TaskRanges)(open: TableRange => Iterator[T]): SplitReader[T] =
    PinnedReader(session)(new PartReader(task, table)(open))
}

private[tables] object TableReaders {

  /** Batch with the columns at the given places. The batch shares the vectors, which Spark's reader owns. */
  private def arranged(batch: ColumnarBatch, places: Array[Int]): ColumnarBatch =
    if (places.length == batch.numCols && places.indices.forall(i => places(i) == i)) batch
    else new ColumnarBatch(places.map(batch.column): Array[ColumnVector], batch.numRows)
}

/** Reads the parts of one task. Spark closes what the iterators have opened at the end of the task. */
final private[tables] class PartReader[T](task: TaskRanges, table: String)(open: TableRange => Iterator[T])
    extends SplitReader[T] {

  private val items = task.ranges.iterator.flatMap {
    case range: TableRange => open(range)
    case other             => throw new IllegalArgumentException(s"$other is not a range of a table")
  }

  private var item: T = _

  override def poll(patience: Duration): Poll =
    try
      if (items.hasNext) {
        item = items.next()
        Poll.Found
      } else Poll.Ended
    catch {
      case e: SpliceException                          => throw e
      case NonFatal(e) if TableErrors.isMissingFile(e) => throw TableErrors.fileNotFound(table, e)
    }

  override def get(): T = item

  // Rows of a part count only if the part was read to its end, so a part that was not is unread.
  override def unread: Seq[SplitRange] = task.ranges

  override def close(): Unit = ()
}
