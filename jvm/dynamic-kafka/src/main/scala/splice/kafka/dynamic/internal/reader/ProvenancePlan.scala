// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.reader

import org.apache.spark.sql.types.{DataType, StructType}
import org.apache.spark.unsafe.types.UTF8String

import splice.kafka.internal.value.KafkaSchema

/** Plan of the columns of a row: columns of the record, and the columns of the cluster and the stream.
  *
  * @param inner
  *   columns to read from the reader of records
  * @param places
  *   index of each selected column in an inner row, or one of the marks of [[ProvenancePlan]]
  */
final private[dynamic] case class ProvenancePlan(
    inner: StructType,
    places: Array[Int],
    types: Array[DataType],
    topicAt: Int
)

private[dynamic] object ProvenancePlan {

  final val Cluster = -1
  final val Stream  = -2

  /** Returns the plan; None if neither the cluster nor the stream is selected. */
  def apply(columns: StructType, schema: StructType): Option[ProvenancePlan] =
    if (!columns.fieldNames.exists(DynamicColumns.isOne)) None
    else {
      val fields = columns.fields.filterNot(f => DynamicColumns.isOne(f.name))
      val topic  = schema(KafkaSchema.Topic)
      val inner  = if (fields.exists(_.name == topic.name)) fields else fields :+ topic
      val places = columns.fieldNames.map {
        case DynamicColumns.Cluster => Cluster
        case DynamicColumns.Stream  => Stream
        case name                   => inner.indexWhere(_.name == name)
      }
      Some(ProvenancePlan(
        StructType(inner),
        places,
        columns.fields.map(_.dataType),
        inner.indexWhere(_.name == topic.name)
      ))
    }
}

/** Values of the columns of the cluster and the stream, for the rows of one cluster.
  *
  * @param streamOf
  *   the stream of each topic
  */
final private[splice] class Origin(name: String, streamOf: Map[String, String]) {

  private val streams = streamOf.map { case (topic, stream) =>
    UTF8String.fromString(topic) -> UTF8String.fromString(stream)
  }

  val cluster: UTF8String = UTF8String.fromString(name)

  def stream(topic: UTF8String): UTF8String = streams(topic)
}
