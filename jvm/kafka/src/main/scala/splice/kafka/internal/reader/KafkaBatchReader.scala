// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.reader

import java.time.Duration

import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}

import splice.kafka.internal.consumer.HeadersVector
import splice.source.runtime.Report
import splice.source.{Poll, SplitReader}

/** Returns the records of a slot as column batches, each with records of one partition. All batches are one reused
  * object.
  *
  * The reader copies no records. For each row of a row reader, Spark checks for the next row, updates a counter, and
  * checks whether the task was killed. Column batches avoid this work.
  */
final private[splice] class KafkaBatchReader(columns: StructType, slot: SlotReader) extends SplitReader[ColumnarBatch] {

  private val vectors =
    RecordField.of(columns).zip(columns).map { case (field, column) =>
      RecordVector(field, column.dataType, slot.window)
    }
  private val headers = vectors.collectFirst { case vector: HeadersVector => vector }
  private val batch   = new ColumnarBatch(vectors.toArray[ColumnVector])

  override def poll(patience: Duration): Poll = {
    headers.foreach(_.forget())
    val result = slot.poll(patience)
    if (result eq Poll.Found) batch.setNumRows(slot.window.rows)
    result
  }

  override def get(): ColumnarBatch                = batch
  override def report(ended: Boolean): Seq[Report] = slot.report
  override def metrics: Array[CustomTaskMetric]    = slot.metrics
  override def close(): Unit                       = slot.close()
}
