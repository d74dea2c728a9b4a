// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic

import scala.collection.immutable.SortedSet

import org.apache.spark.sql.connector.metric.CustomMetric
import org.apache.spark.sql.types.StructType

import splice.kafka.dynamic.internal.enumerator.DynamicEnumerator
import splice.kafka.dynamic.internal.metadata.MetadataDiscovery
import splice.kafka.dynamic.internal.options.{MetadataKind, PollInterval}
import splice.kafka.dynamic.internal.reader.{ClusterReads, DynamicColumns}
import splice.kafka.dynamic.internal.settings.{ClusterOptions, DynamicSettings}
import splice.kafka.dynamic.internal.split.{DynamicOffset, DynamicPosition}
import splice.kafka.internal.admission.RecordSizes
import splice.kafka.internal.enumerator.{ClusterEnumerator, KafkaEnumerator}
import splice.kafka.internal.metrics.{KafkaMetrics, ReadReports}
import splice.kafka.internal.options.AdmissionOptions
import splice.kafka.internal.value.KafkaSchema
import splice.kafka.{KafkaBuilder, KafkaSource}
import splice.source.internal.HadoopConfiguration
import splice.source.internal.value.ValuePlan
import splice.source.runtime.Boundedness
import splice.source.{EnumeratorContext, Position, Source, SplitEnumerator}

/** Source of the records of streams on many Kafka clusters (FLIP-246's DynamicKafkaSource). Clusters and topics are
  * added, moved and removed while the query runs.
  *
  * A [[KafkaMetadataService]] maps streams to clusters and topics. The source has the columns and options of the source
  * of one cluster, and the hidden columns `_cluster` and `_stream`.
  */
final class DynamicKafkaSource private[splice] (settings: DynamicSettings) extends Source[DynamicOffset] {

  override def kind: String = DynamicKafkaSource.Kind

  override def boundedness: Boundedness =
    if (settings.base.ending.isDefined) Boundedness.Bounded else Boundedness.ContinuousUnbounded

  override def schema: StructType = {
    ValuePlan.check(settings.base.value)
    KafkaSchema(settings.base.includeHeaders, settings.base.value)
  }

  override def metadataColumns: StructType = DynamicColumns.all

  override def batchLimits: Seq[String] = KafkaSource.BatchLimits ++ ClusterOptions.batchLimits(settings.options) ++
    settings.base.eventTime.map(_ => AdmissionOptions.Admission.key)

  override def readsLog: Boolean = true

  override def commits: Boolean = settings.base.commitToGroup

  override def mayBeColumnar: Boolean = !settings.base.value.parses

  override def position(json: String): DynamicOffset = DynamicPosition.read(json)

  override def enumerator(context: EnumeratorContext): SplitEnumerator[DynamicOffset] = {
    val sizes = new RecordSizes
    val reads = new ClusterReads(context.run)
    enumerator(context, settings.service(HadoopConfiguration.active), sizes, reads) { (cluster, topics, scoped, read) =>
      KafkaEnumerator(settings.of(cluster, topics), scoped, sizes.within(cluster.name), read)
    }
  }

  /** Creates the enumerator for another service and other clusters, such as simulated clusters.
    *
    * @param make
    *   creates the enumerator of some topics of one cluster
    */
  private[splice] def enumerator(
      context: EnumeratorContext,
      service: KafkaMetadataService,
      sizes: RecordSizes,
      reads: ClusterReads
  )(
      make: (KafkaCluster, SortedSet[String], EnumeratorContext, ReadReports) => ClusterEnumerator
  ): SplitEnumerator[DynamicOffset] = new DynamicEnumerator(
    settings,
    context,
    new MetadataDiscovery(
      service,
      settings.selection,
      PollInterval(settings.base.discoveryInterval, context.run),
      settings.metadataPatience,
      context.steady,
      context.run,
      settings.metadataWaits
    ),
    make,
    sizes,
    reads
  )

  override def taskMetrics: Seq[CustomMetric] =
    if (settings.base.value.parses) KafkaMetrics.parsing else KafkaMetrics.declared

  override private[splice] def continues(other: String): Boolean = other == kind || other == KafkaSource.Kind

  // Spark's built-in source reads only one cluster.
  override private[splice] def takesOver(offset: Position): Boolean = offset match {
    case position: DynamicPosition => position.unnamed.nonEmpty &&
      settings.metadata == MetadataKind.SingleCluster
    case _ => false
  }

  override def toString: String = s"$kind [${settings.selection.text}]"
}

object DynamicKafkaSource {

  /** Value of the option `source`. */
  val Kind = "dynamicKafka"

  /** Creates a builder of a source of streams on many clusters. */
  def builder(): DynamicKafkaSourceBuilder = new DynamicKafkaSourceBuilder(KafkaBuilder.first(Kind))
}
