// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.read

import java.time.Duration
import java.util.concurrent.CountDownLatch

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.connector.read.streaming.{
  ContinuousPartitionReader,
  ContinuousPartitionReaderFactory,
  PartitionOffset
}

import splice.source.{Poll, SplitRange, SplitReader, SplitReaderFactory}
import splice.spark.internal.metrics.LatencyBoard

/** Gives a source's readers to Spark's continuous mode, which reads rows only. */
final private[spark] class ContinuousReaderFactory(readers: SplitReaderFactory)
    extends ContinuousPartitionReaderFactory {

  override def createReader(partition: InputPartition): ContinuousPartitionReader[InternalRow] = partition match {
    case SpliceInputPartition(task, _, _) =>
      new ContinuousReader(if (task.ranges.isEmpty) NothingToRead else readers.rows(task))
    case other => throw new IllegalArgumentException(s"${other.getClass.getName} is a partition of another source")
  }
}

/** What a task has not read of its ranges after a row, until its next row.
  *
  * Spark sends the offset of the last row at the end of each epoch. A range may end, or offsets without a record may be passed, after that
  * row. So the reader updates the offset of the last row until it has the next one. Another thread sends it.
  */
final private[spark] class EpochOffset(@volatile var unread: Seq[SplitRange]) extends PartitionOffset

/** Reads until the task ends. Spark creates it and calls [[getOffset]] on the task's thread, and then uses it on one other thread, which it
  * interrupts at the end of the task.
  */
final private[spark] class ContinuousReader(reader: SplitReader[InternalRow])
    extends ContinuousPartitionReader[InternalRow] {

  private val recorder = LatencyBoard.begin()

  private var last = new EpochOffset(reader.unread)

  /** Waits for a row. It ends with `InterruptedException` if there is no other one. */
  @tailrec override def next(): Boolean = reader.poll(ContinuousReader.Patience) match {
    case Poll.Found =>
      recorder.add(reader.time)
      last = new EpochOffset(reader.unread)
      true
    case Poll.Pending =>
      last.unread = reader.unread
      if (Thread.interrupted()) throw new InterruptedException("interrupted while waiting for a row")
      next()
    case Poll.Ended =>
      last.unread = reader.unread
      // Spark takes the end of a reader for an error.
      new CountDownLatch(1).await()
      false
  }

  override def get(): InternalRow         = reader.get()
  override def getOffset: PartitionOffset = last

  override def close(): Unit =
    try recorder.close()
    finally reader.close()
}

private object ContinuousReader {

  // How soon the end of an epoch includes offsets without a record.
  private val Patience = Duration.ofSeconds(1)
}

/** The reader of a task that has nothing to read. */
private object NothingToRead extends SplitReader[InternalRow] {
  override def poll(patience: Duration): Poll = Poll.Ended
  override def get(): InternalRow             = throw new NoSuchElementException("there is no row")
  override def unread: Seq[SplitRange]        = Nil
  override def close(): Unit                  = ()
}
