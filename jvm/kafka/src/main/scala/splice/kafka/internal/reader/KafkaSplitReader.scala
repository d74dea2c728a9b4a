// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.reader

import java.time.Duration

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.types.StructType

import splice.source.runtime.Report
import splice.source.{Poll, SplitRange, SplitReader}

/** Returns the records of a slot as rows. All rows are one reused object. */
final private[splice] class KafkaSplitReader(columns: StructType, slot: SlotReader) extends SplitReader[InternalRow] {

  private val row   = new RecordRow(RecordField.of(columns), slot.window)
  private var index = 0
  private var until = 0

  override def poll(patience: Duration): Poll =
    if (index < until) show()
    else {
      val result = slot.poll(patience)
      if (result eq Poll.Found) {
        index = 0
        until = slot.window.rows
        show()
      } else result
    }

  private def show(): Poll = {
    row.show(index)
    index += 1
    Poll.Found
  }

  override def get(): InternalRow                  = row
  override def time: Long                          = slot.window.timestamp(index - 1)
  override def isStale: Boolean                    = slot.isStale
  override def unread: Seq[SplitRange]             = slot.unread(index)
  override def skipped: Seq[Report]                = slot.skips
  override def backlog: Seq[Report]                = slot.backlog.toSeq
  override def report(ended: Boolean): Seq[Report] = slot.report
  override def metrics: Array[CustomTaskMetric]    = slot.metrics
  override def close(): Unit                       = slot.close()
}
