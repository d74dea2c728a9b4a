// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.reader

import java.time.Duration

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.{ArrayData, MapData}
import org.apache.spark.sql.types.StringType
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.unsafe.types.UTF8String

import splice.kafka.internal.consumer.ViewVector
import splice.source.internal.ForwardingReader
import splice.source.internal.rows.RowView
import splice.source.{Poll, SplitReader}

/** Adds the columns of the cluster and the stream to rows of records. */
final private[splice] class ProvenanceRowReader(inner: SplitReader[InternalRow], row: ProvenanceRow)
    extends ForwardingReader[InternalRow, InternalRow](inner) {
  override def get(): InternalRow = row.over(inner.get())
}

/** View of the row of a record. */
final private[splice] class ProvenanceRow(plan: ProvenancePlan, origin: Origin) extends RowView(plan.places.length) {

  import ProvenancePlan.{Cluster, Stream}

  private val places = plan.places

  // Uninitialised until the first call of `over`, which precedes all other calls.
  private var row: InternalRow = _

  def over(next: InternalRow): InternalRow = {
    row = next
    this
  }

  override def isNullAt(i: Int): Boolean = places(i) >= 0 && row.isNullAt(places(i))

  override def getUTF8String(i: Int): UTF8String = places(i) match {
    case Cluster => origin.cluster
    case Stream  => origin.stream(row.getUTF8String(plan.topicAt))
    case at      => row.getUTF8String(at)
  }

  override def getBinary(i: Int): Array[Byte]                 = row.getBinary(places(i))
  override def getInt(i: Int): Int                            = row.getInt(places(i))
  override def getLong(i: Int): Long                          = row.getLong(places(i))
  override def getStruct(i: Int, numFields: Int): InternalRow = row.getStruct(places(i), numFields)
  override def getArray(i: Int): ArrayData                    = row.getArray(places(i))
  override def getMap(i: Int): MapData                        = row.getMap(places(i))

  override protected def genericGet(i: Int): Any = places(i) match {
    case Cluster | Stream => getUTF8String(i)
    case at               => row.get(at, plan.types(i))
  }
}

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
