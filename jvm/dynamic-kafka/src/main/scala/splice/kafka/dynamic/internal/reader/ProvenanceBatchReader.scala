// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.reader

import java.time.Duration

import org.apache.spark.sql.types.StringType
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.unsafe.types.UTF8String

import splice.kafka.internal.consumer.ViewVector
import splice.source.internal.ForwardingReader
import splice.source.{Poll, SplitReader}

/** Adds the columns of the cluster and the stream to column batches of records. Each batch of
  * [[splice.kafka.internal.reader.KafkaBatchReader]] has records of one partition, and so of one topic.
  */
final private[splice] class ProvenanceBatchReader(
    inner: SplitReader[ColumnarBatch],
    plan: ProvenancePlan,
    origin: Origin
) extends ForwardingReader[ColumnarBatch, ColumnarBatch](inner) {

  private val cluster = new ProvenanceVector(origin.cluster)

  // Uninitialised until `poll` finds the first batch.
  private var batch: ColumnarBatch = _

  override def poll(patience: Duration): Poll = {
    val result = inner.poll(patience)
    if (result eq Poll.Found) batch = over(inner.get())
    result
  }

  override def get(): ColumnarBatch = batch

  private def over(records: ColumnarBatch): ColumnarBatch = {
    lazy val stream = new ProvenanceVector(origin.stream(records.column(plan.topicAt).getUTF8String(0)))
    val columns     = plan.places.map {
      case ProvenancePlan.Cluster => cluster
      case ProvenancePlan.Stream  => stream
      case at                     => records.column(at)
    }
    new ColumnarBatch(columns, records.numRows)
  }
}

/** Column with the same value in each row. */
final private[splice] class ProvenanceVector(text: UTF8String) extends ViewVector(StringType) {
  override def getUTF8String(i: Int): UTF8String = text
}
