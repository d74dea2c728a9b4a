// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import java.io.Closeable
import java.time.Duration

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch

/** What a reader must hand over, and for which batch.
  *
  * @param columns
  *   the columns in order: some or all of the source's schema and metadata columns
  * @param run
  *   names the query's run; readers are reused only within one
  * @param ranges
  *   all ranges of the batch, so that only what they need is shipped
  * @param session
  *   the settings by which expressions in readers are evaluated
  */
final case class ReadContext(
    columns: StructType,
    run: String,
    ranges: Seq[SplitRange],
    session: SessionSettings = SessionSettings.current
)

/** Makes readers on executors. Java-serialised, so it holds no connection. */
trait SplitReaderFactory extends Serializable {

  /** Whether every range of the batch can be read by [[batches]]. */
  def columnar: Boolean = false

  /** A reader of rows. Rows may be one reused object. */
  def rows(task: SlotRanges): SplitReader[InternalRow]

  /** A reader of column batches; called only when [[columnar]]. */
  def batches(task: SlotRanges): SplitReader[ColumnarBatch] =
    throw new UnsupportedOperationException(s"${getClass.getName} reads rows only")
}

/** Reads the ranges of one task. Used by one thread. */
trait SplitReader[T] extends Closeable {

  /** Goes on to the next item; false at the end of the last range. */
  def next(): Boolean

  /** The item that [[next]] found; valid until [[next]] or [[ready]] is called again. */
  def get(): T

  /** Whether [[next]] need not wait, or need not after at most that long. Who reads from a network asks for what comes next here. */
  def ready(patience: Duration): Boolean = true

  /** The task metrics so far. */
  def metrics: Array[CustomTaskMetric] = Array.empty
}
