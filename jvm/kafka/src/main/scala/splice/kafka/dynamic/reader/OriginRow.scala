// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.reader

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BaseGenericInternalRow
import org.apache.spark.sql.catalyst.util.{ArrayData, MapData}
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import splice.kafka.KafkaSchema
import splice.kafka.dynamic.DynamicColumns
import splice.source.SplitReader

/** Which columns come from a record's row and which say where it comes from.
  *
  * @param inner
  *   what is asked of the reader of records
  * @param places
  *   for each column that is asked for, where it is in an inner row, or one of [[OriginPlan]]'s marks
  */
final private[dynamic] case class OriginPlan(
    inner: StructType,
    places: Array[Int],
    types: Array[DataType],
    topicAt: Int
)

private[dynamic] object OriginPlan {

  final val Cluster = -1
  final val Stream  = -2

  /** None when no such column is asked for. */
  def apply(columns: StructType, schema: StructType): Option[OriginPlan] =
    if (!columns.fieldNames.exists(DynamicColumns.isOne)) None
    else {
      val own    = columns.fields.filterNot(f => DynamicColumns.isOne(f.name))
      val topic  = schema(KafkaSchema.Topic)
      val inner  = if (own.exists(_.name == topic.name)) own else own :+ topic
      val places = columns.fieldNames.map {
        case DynamicColumns.Cluster => Cluster
        case DynamicColumns.Stream  => Stream
        case name                   => inner.indexWhere(_.name == name)
      }
      Some(OriginPlan(
        StructType(inner),
        places,
        columns.fields.map(_.dataType),
        inner.indexWhere(_.name == topic.name)
      ))
    }
}

/** Gives on rows of records with the columns that say where they come from. */
final private[reader] class OriginReader(inner: SplitReader[InternalRow], row: OriginRow)
    extends SplitReader[InternalRow] {
  override def next(): Boolean                  = inner.next()
  override def get(): InternalRow               = row.over(inner.get())
  override def metrics: Array[CustomTaskMetric] = inner.metrics
  override def close(): Unit                    = inner.close()
}

/** A view of a record's row; one is reused for all rows of a reader. */
final private[reader] class OriginRow(plan: OriginPlan, clusterName: String, streamOf: Map[String, String])
    extends BaseGenericInternalRow {

  import OriginPlan.{Cluster, Stream}

  private val places  = plan.places
  private val cluster = UTF8String.fromString(clusterName)
  private val streams = streamOf.map { case (topic, stream) =>
    UTF8String.fromString(topic) -> UTF8String.fromString(stream)
  }

  // Uninitialised until `over`, which comes before all else.
  private var row: InternalRow = _

  def over(next: InternalRow): InternalRow = {
    row = next
    this
  }

  override def numFields: Int = places.length

  override def isNullAt(i: Int): Boolean = places(i) >= 0 && row.isNullAt(places(i))

  override def getUTF8String(i: Int): UTF8String = places(i) match {
    case Cluster => cluster
    case Stream  => streams(row.getUTF8String(plan.topicAt))
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

  override def setNullAt(i: Int): Unit = throw new UnsupportedOperationException("a record cannot be changed")

  override def update(i: Int, value: Any): Unit =
    throw new UnsupportedOperationException("a record cannot be changed")
}
