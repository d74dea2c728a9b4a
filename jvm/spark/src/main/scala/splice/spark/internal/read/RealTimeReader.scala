// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.read

import java.time.Duration

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.streaming.PartitionOffset
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}

import splice.source.{Poll, SplitRange, SplitReader, SplitReaderFactory}
import splice.spark.internal.metrics.{Latencies, LatencyBoard}

/** Provides the readers of a source to Spark's real-time mode, which reads rows only. */
final private[spark] class RealTimeReaderFactory(
    readers: SplitReaderFactory,
    reports: TaskReports,
    stale: Option[StaleCheck]
) extends PartitionReaderFactory {

  override def createReader(partition: InputPartition): PartitionReader[InternalRow] = partition match {
    case SpliceInputPartition(task, _, _) if task.ranges.isEmpty => new IdleReader
    case input: SpliceInputPartition                             =>
      new RealTimeReader(readers.rows(TaskReports.begun(input, reports)), reports, stale)
    case other => throw new IllegalArgumentException(s"${other.getClass.getName} is a partition of another source")
  }
}

/** The parts of a task's ranges that the task has not read at the end of a batch, and the latencies of the task's rows.
  */
final private[spark] case class SlotOffset(unread: Seq[SplitRange], latencies: Latencies = Latencies.None)
    extends PartitionOffset

/** Reads until the duration of the batch has elapsed, or until the batch is stale. Spark requests the offset once,
  * after the last row.
  */
final private[spark] class RealTimeReader(
    reader: SplitReader[InternalRow],
    reports: TaskReports,
    check: Option[StaleCheck] = None
) extends TimedReader[InternalRow] {

  private val closing  = new ReaderEnd(reader, Some(reports))
  private val recorder = LatencyBoard.begin()
  private val stale    = new StaleTask(check)(reader.isStale)

  override def poll(timeoutMillis: Long): Boolean = {
    val result =
      if (stale.isStale) Poll.Pending
      else {
        // For a row that is available immediately, no object for the time limit is allocated.
        val available = reader.poll(Duration.ZERO)
        if (available eq Poll.Pending) waited(System.nanoTime() + timeoutMillis * 1000000) else available
      }
    closing.ended = result eq Poll.Ended
    val found = result eq Poll.Found
    if (found) {
      // The method reads the clock once per row, because a read takes as long as the rest of the method.
      val now = System.currentTimeMillis()
      recorder.add(reader.time, now)
      stale.check(now)
    }
    found
  }

  @tailrec private def waited(deadline: Long): Poll = {
    val left = deadline - System.nanoTime()
    val now  = System.currentTimeMillis()
    stale.check(now)
    if (left <= 0 || stale.isStale) Poll.Pending
    else {
      val result = reader.poll(Duration.ofNanos(math.min(left, stale.millis(now) * 1000000)))
      if (result eq Poll.Pending) waited(deadline) else result
    }
  }

  override def next(): Boolean = throw new UnsupportedOperationException("real-time mode reads with a time limit")

  override def get(): InternalRow         = reader.get()
  override def getOffset: PartitionOffset = SlotOffset(reader.unread, recorder.all)

  override def close(): Unit =
    try recorder.close()
    finally closing.close()
}

/** The reader of a task that has nothing to read. The reader ends after a short pause, so that Spark plans the next
  * batch.
  */
final private[spark] class IdleReader extends TimedReader[InternalRow] {

  override def poll(timeoutMillis: Long): Boolean = {
    Thread.sleep(math.min(timeoutMillis, IdleReader.Pause.toMillis))
    false
  }

  override def next(): Boolean            = false
  override def get(): InternalRow         = throw new NoSuchElementException("a task without ranges has no row")
  override def getOffset: PartitionOffset = SlotOffset(Nil)
  override def close(): Unit              = ()
}

private object IdleReader {
  private val Pause = Duration.ofSeconds(1)
}
