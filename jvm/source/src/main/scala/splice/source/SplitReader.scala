// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import java.io.Closeable
import java.time.Duration
import java.time.temporal.ChronoUnit

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.vectorized.ColumnarBatch

import splice.source.runtime.Report

/** Creates readers on executors. Java-serialised, so it holds no connection. */
trait SplitReaderFactory extends Serializable {

  /** Whether every range of the batch can be read by [[batches]]. */
  def columnar: Boolean = false

  /** A reader of rows. Rows may be one reused object. */
  def rows(task: TaskRanges): SplitReader[InternalRow]

  /** A reader of column batches; called only when [[columnar]]. */
  def batches(task: TaskRanges): SplitReader[ColumnarBatch] =
    throw new UnsupportedOperationException(s"${getClass.getName} reads rows only")
}

/** The outcome of one [[SplitReader.poll]]. */
sealed abstract class Poll extends Product with Serializable

object Poll {

  /** An item is available from [[SplitReader.get]]. */
  case object Found extends Poll

  /** No item became available within the given time; more may come. */
  case object Pending extends Poll

  /** Every range was read to its end. */
  case object Ended extends Poll

  /** The time that a caller waits who needs an item or the end. */
  val Forever: Duration = ChronoUnit.FOREVER.getDuration
}

/** Reads the ranges of one task. One thread uses it. */
trait SplitReader[T] extends Closeable {

  /** Moves to the next item.
    *
    * @param patience
    *   how long the call may wait for an item. A reader of data that is there already, such as a file, may take longer. With
    *   [[Poll.Forever]] the result is never [[Poll.Pending]].
    */
  def poll(patience: Duration): Poll

  /** The item of the last [[poll]] that returned [[Poll.Found]]; valid until the next one. */
  def get(): T

  /** The time of the item that [[get]] returns, in milliseconds since 1970, as the source stores it; [[SplitReader.NoTime]] if items have no
    * time.
    */
  def time: Long = SplitReader.NoTime

  /** Whether the reader has found a split that its batch does not read, so that the task should end ([[OpenEnded.isStale]]). It sends no
    * request.
    */
  def isStale: Boolean = false

  /** What was not handed over of the ranges, for the end of a batch or an epoch ([[OpenEnded.reached]]). Ranges that were read to their ends
    * are absent. Called after [[poll]], or before the first one.
    *
    * Spark's continuous mode needs it after each item and keeps it with the item. So the result is immutable, and while items are of one range
    * its cost does not depend on the number of ranges: results share the other ranges.
    */
  def unread: Seq[SplitRange] =
    throw new UnsupportedOperationException(s"${getClass.getName} reads ranges to their ends only")

  /** The evidence that was collected while reading, for [[SplitEnumerator.reported]]. Called once, before [[close]].
    *
    * @param ended
    *   whether all ranges were read to their ends
    */
  def report(ended: Boolean): Seq[Report] = Nil

  /** The task metrics so far. */
  def metrics: Array[CustomTaskMetric] = Array.empty
}

object SplitReader {

  /** The time of an item that has none. */
  val NoTime: Long = Long.MinValue

  /** The items of a reader up to its end. An item is valid until the next one is taken. */
  private[splice] def items[T](reader: SplitReader[T]): Iterator[T] =
    Iterator.continually(hasNext(reader)).takeWhile(identity).map(_ => reader.get())

  /** Moves to the next item and waits for it; false at the end.
    *
    * @throws java.lang.IllegalStateException
    *   when the reader returns [[Poll.Pending]], because its rows would be lost if that were taken for the end
    */
  private[splice] def hasNext(reader: SplitReader[_]): Boolean = reader.poll(Poll.Forever) match {
    case Poll.Found   => true
    case Poll.Ended   => false
    case Poll.Pending => throw new IllegalStateException(s"${reader.getClass.getName} returned Pending to Poll.Forever")
  }
}

/** A reader that forwards to another one and changes its items. */
abstract private[splice] class ForwardingReader[S, T](inner: SplitReader[S]) extends SplitReader[T] {
  override def poll(patience: Duration): Poll      = inner.poll(patience)
  override def time: Long                          = inner.time
  override def isStale: Boolean                    = inner.isStale
  override def unread: Seq[SplitRange]             = inner.unread
  override def report(ended: Boolean): Seq[Report] = inner.report(ended)
  override def metrics: Array[CustomTaskMetric]    = inner.metrics
  override def close(): Unit                       = inner.close()
}
