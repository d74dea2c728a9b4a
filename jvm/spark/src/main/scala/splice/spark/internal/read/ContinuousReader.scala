// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.read

import java.time.{Clock, Duration}
import java.util.concurrent.CountDownLatch

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.connector.read.streaming.{
  ContinuousPartitionReader,
  ContinuousPartitionReaderFactory,
  PartitionOffset
}

import splice.source.internal.ClockInterval
import splice.source.runtime.Report
import splice.source.{Poll, SplitRange, SplitReader, SplitReaderFactory}
import splice.spark.internal.metrics.LatencyBoard

/** Provides the readers of a source to Spark's continuous mode, which reads rows only. */
final private[spark] class ContinuousReaderFactory(readers: SplitReaderFactory)
    extends ContinuousPartitionReaderFactory {

  override def createReader(partition: InputPartition): ContinuousPartitionReader[InternalRow] = partition match {
    case SpliceInputPartition(task, _, _) =>
      new ContinuousReader(if (task.ranges.isEmpty) NothingToRead else readers.rows(task))
    case other => throw new IllegalArgumentException(s"${other.getClass.getName} is a partition of another source")
  }
}

/** The state of a task after a row, until its next row.
  *
  * @param unread
  *   the parts of its ranges that the task has not read
  * @param skipped
  *   the reports of the items that the task has skipped
  * @param backlog
  *   the last reports of the backlog of the ranges
  */
final private[spark] case class EpochState(
    unread: Seq[SplitRange],
    skipped: Seq[Report] = Nil,
    backlog: Seq[Report] = Nil
)

/** The offset of a row, with the state of its task.
  *
  * Spark sends the offset of the last row at the end of each epoch. After that row, a range may end, or the reader may
  * pass offsets without a record. Therefore the reader updates the offset of the last row until the next row is
  * available. Another thread sends the offset.
  */
final private[spark] class EpochOffset(@volatile var state: EpochState) extends PartitionOffset

/** Reads until the task ends. Spark creates the reader and calls [[getOffset]] on the task's thread. Afterwards, Spark
  * uses the reader on one other thread, and interrupts that thread at the end of the task.
  */
final private[spark] class ContinuousReader(reader: SplitReader[InternalRow], clock: Clock = Clock.systemUTC())
    extends ContinuousPartitionReader[InternalRow] {

  private val recorder = LatencyBoard.begin()

  private var last    = new EpochOffset(EpochState(reader.unread))
  private var backlog = Seq.empty[Report]

  // The client has no end of a partition before the first response, and would send a request for the end.
  private val interval = new ClockInterval(ContinuousReader.Interval, clock.millis())

  /** Waits for a row. Without a further row, the call ends with `InterruptedException` at the end of the task. */
  @tailrec override def next(): Boolean = reader.poll(ContinuousReader.Patience) match {
    case Poll.Found =>
      val now = clock.millis()
      recorder.add(reader.time, now)
      refresh(now)
      last = new EpochOffset(state)
      true
    case Poll.Pending =>
      refresh(clock.millis())
      last.state = state
      if (Thread.interrupted()) throw new InterruptedException("interrupted while waiting for a row")
      next()
    case Poll.Ended =>
      last.state = state.copy(backlog = Nil)
      // Spark treats the end of a reader as an error, so the call waits for the interrupt.
      new CountDownLatch(1).await()
      false
  }

  private def state: EpochState = EpochState(reader.unread, reader.skipped, backlog)

  private def refresh(now: Long): Unit = if (interval.hasEnded(now)) {
    backlog = reader.backlog
    interval.restart(now)
  }

  override def get(): InternalRow         = reader.get()
  override def getOffset: PartitionOffset = last

  override def close(): Unit =
    try recorder.close()
    finally reader.close()
}

private object ContinuousReader {

  // The maximum delay before the end of an epoch includes offsets without a record.
  private val Patience = Duration.ofSeconds(1)

  // The interval between two reports of the backlog.
  private val Interval = Duration.ofSeconds(1)
}

/** The reader of a task that has nothing to read. */
private object NothingToRead extends SplitReader[InternalRow] {
  override def poll(patience: Duration): Poll = Poll.Ended
  override def get(): InternalRow             = throw new NoSuchElementException("a task without ranges has no row")
  override def unread: Seq[SplitRange]        = Nil
  override def close(): Unit                  = ()
}
