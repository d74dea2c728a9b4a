// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import java.time.Duration

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.streaming.PartitionOffset
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}

import splice.source._

/** Gives a source's readers to Spark's real-time mode, which reads rows only. */
final private[spark] class RealTimeReaderFactory(readers: SplitReaderFactory, reports: TaskReports)
    extends PartitionReaderFactory {

  override def createReader(partition: InputPartition): PartitionReader[InternalRow] = partition match {
    case SpliceInputPartition(task, _, _) if task.ranges.isEmpty => new IdleReader
    case own: SpliceInputPartition                               =>
      new RealTimeReader(readers.rows(TaskReports.begun(own, reports)), reports)
    case other => throw new IllegalArgumentException(s"${other.getClass.getName} is a partition of another source")
  }
}

/** What a task has not read of its ranges at the end of a batch. */
final private[spark] case class SlotOffset(unread: Seq[SplitRange]) extends PartitionOffset

/** Reads until the time of the batch is over. Spark asks for the offset once, after the last row. */
final private[spark] class RealTimeReader(reader: SplitReader[InternalRow], reports: TaskReports)
    extends TimedReader[InternalRow] {

  private val closing = new ReaderEnd(reader, Some(reports))

  override def poll(timeoutMillis: Long): Boolean = {
    val found = reader.poll(Duration.ofMillis(timeoutMillis))
    closing.ended = found eq Poll.Ended
    found eq Poll.Found
  }

  override def next(): Boolean = throw new UnsupportedOperationException("real-time mode reads with a time limit")

  override def get(): InternalRow         = reader.get()
  override def getOffset: PartitionOffset = SlotOffset(reader.unread)
  override def close(): Unit              = closing.close()
}

/** The reader of a batch that has nothing to read. It ends soon, so that the next batch is planned. */
final private[spark] class IdleReader extends TimedReader[InternalRow] {

  override def poll(timeoutMillis: Long): Boolean = {
    Thread.sleep(math.min(timeoutMillis, IdleReader.Pause.toMillis))
    false
  }

  override def next(): Boolean            = false
  override def get(): InternalRow         = throw new NoSuchElementException("there is no row")
  override def getOffset: PartitionOffset = SlotOffset(Nil)
  override def close(): Unit              = ()
}

private object IdleReader {
  private val Pause = Duration.ofSeconds(1)
}
