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

/** Creates readers on executors. Java-serialised, so a factory holds no connection. */
trait SplitReaderFactory extends Serializable {

  /** True if [[batches]] can read every range of the batch. */
  def columnar: Boolean = false

  /** Creates a reader of rows. The reader may return the same object for every row. */
  def rows(task: TaskRanges): SplitReader[InternalRow]

  /** Creates a reader of column batches. Called only if [[columnar]] is true. */
  def batches(task: TaskRanges): SplitReader[ColumnarBatch] =
    throw new UnsupportedOperationException(s"${getClass.getName} reads rows only")
}

/** Result of one call of [[SplitReader.poll]]. */
sealed abstract class Poll extends Product with Serializable

object Poll {

  /** An item is available from [[SplitReader.get]]. */
  case object Found extends Poll

  /** No item became available within the given time. More items may follow. */
  case object Pending extends Poll

  /** Every range was read to its end. */
  case object Ended extends Poll

  /** Waiting time of a caller that needs an item or the end of the reader. */
  val Forever: Duration = ChronoUnit.FOREVER.getDuration
}

/** Reads the ranges of one task. Used by one thread. */
trait SplitReader[T] extends Closeable {

  /** Moves to the next item.
    *
    * @param patience
    *   maximum time to wait for an item. A reader of data that already exists, such as a file, may take longer. With
    *   [[Poll.Forever]], the result is never [[Poll.Pending]]
    */
  def poll(patience: Duration): Poll

  /** Returns the item of the last [[poll]] that returned [[Poll.Found]]. The item is valid until the next call of
    * [[poll]].
    */
  def get(): T

  /** Time of the item that [[get]] returns, in milliseconds since 1970, as the source stores the time.
    * [[SplitReader.NoTime]] if items have no time.
    */
  def time: Long = SplitReader.NoTime

  /** True if the reader has found a split that its batch does not read, so that the task should end
    * ([[OpenEnded.isStale]]). Sends no request.
    */
  def isStale: Boolean = false

  /** Returns the parts of the ranges whose items the reader has not returned, for the end of a batch or an epoch
    * ([[OpenEnded.reached]]). Ranges that were read to their ends are absent. Called after [[poll]], or before the
    * first call of [[poll]].
    *
    * Spark's continuous mode calls this method after each item and stores the result with the item. The result is
    * therefore immutable. While items belong to one range, the cost of a call does not depend on the number of ranges,
    * because results share the other ranges.
    */
  def unread: Seq[SplitRange] =
    throw new UnsupportedOperationException(s"${getClass.getName} reads ranges to their ends only")

  /** Returns reports of the items in the ranges that the reader has skipped so far, for [[SplitEnumerator.reported]]. Such
    * items are absent from [[unread]], so Spark's continuous mode calls both methods after each item. Splice may forward
    * a report several times, so a report has no counts. The result is immutable.
    */
  def skipped: Seq[Report] = Nil

  /** Returns reports with the backlog of ranges that have no end in the plan, for [[SplitEnumerator.reported]]. Waits for
    * no response. Splice may forward a report several times or not at all, so a report has no counts of rows.
    *
    * Spark's continuous mode calls this method about once per second, on the thread that calls [[poll]]. Tasks of this
    * mode send no other report than this report and [[skipped]] while the tasks run.
    */
  def backlog: Seq[Report] = Nil

  /** Returns the evidence that the reader has collected, for [[SplitEnumerator.reported]]. Called once, before
    * [[close]].
    *
    * @param ended
    *   true if all ranges were read to their ends
    */
  def report(ended: Boolean): Seq[Report] = Nil

  /** Current values of the task metrics. */
  def metrics: Array[CustomTaskMetric] = Array.empty
}

object SplitReader {

  /** Time of an item that has no time. */
  val NoTime: Long = Long.MinValue

  /** Returns the items of a reader up to its end. An item is valid until the caller takes the next item. */
  private[splice] def items[T](reader: SplitReader[T]): Iterator[T] =
    Iterator.continually(hasNext(reader)).takeWhile(identity).map(_ => reader.get())

  /** Waits for the next item and moves to this item. Returns false at the end.
    *
    * @throws java.lang.IllegalStateException
    *   if the reader returns [[Poll.Pending]]. A caller that took this result for the end would lose rows
    */
  private[splice] def hasNext(reader: SplitReader[_]): Boolean = reader.poll(Poll.Forever) match {
    case Poll.Found   => true
    case Poll.Ended   => false
    case Poll.Pending => throw new IllegalStateException(s"${reader.getClass.getName} returned Pending to Poll.Forever")
  }
}
