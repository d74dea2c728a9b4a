// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka

import org.apache.spark.sql.connector.metric.CustomMetric
import org.apache.spark.sql.types.StructType

import splice.kafka.internal.admission.RecordSizes
import splice.kafka.internal.cluster.{ClusterClient, Discovery}
import splice.kafka.internal.enumerator.KafkaEnumerator
import splice.kafka.internal.metrics.{KafkaMetrics, ReadReports}
import splice.kafka.internal.options.{AdmissionOptions, KafkaOptions, KafkaSettings}
import splice.kafka.internal.split.{KafkaPosition, SparkInitialOffset}
import splice.kafka.internal.value.KafkaSchema
import splice.source.internal.value.ValuePlan
import splice.source.log.SharedStart
import splice.source.runtime.Boundedness
import splice.source.{EnumeratorContext, Position, SharesCheckpoint, Source, SplitEnumerator}

/** A source of Kafka topics with the columns, options and offsets of Spark's Kafka source (FLIP-27's KafkaSource).
  *
  * The source is bounded if an ending option is set. [[KafkaSourceProvider]] creates a source from options, and
  * [[KafkaSource.builder]] returns a builder.
  */
final class KafkaSource private[splice] (settings: KafkaSettings) extends Source[KafkaPosition] with SharesCheckpoint {

  override def kind: String = KafkaSource.Kind

  override def boundedness: Boundedness =
    if (settings.ending.isDefined) Boundedness.Bounded else Boundedness.ContinuousUnbounded

  override def schema: StructType = {
    ValuePlan.check(settings.value)
    KafkaSchema(settings.includeHeaders, settings.value)
  }

  override def batchLimits: Seq[String] = KafkaSource.BatchLimits ++
    settings.eventTime.map(_ => AdmissionOptions.Admission.key)

  override def readsLog: Boolean = true

  override def commits: Boolean = settings.commitToGroup

  override def mayBeColumnar: Boolean = !settings.value.parses

  override def position(json: String): KafkaPosition = KafkaPosition.read(json)

  override def sharedStart: SharedStart = SparkInitialOffset

  override private[splice] def takesOver(offset: Position): Boolean = true

  override def enumerator(context: EnumeratorContext): SplitEnumerator[KafkaPosition] =
    KafkaEnumerator(settings, context, new RecordSizes, new ReadReports(context.run))

  /** The enumerator for another implementation of the log, such as a simulation. */
  private[splice] def enumerator(
      context: EnumeratorContext,
      log: ClusterClient,
      discovery: Discovery
  ): SplitEnumerator[KafkaPosition] =
    KafkaEnumerator(settings, context, log, discovery)

  override def taskMetrics: Seq[CustomMetric] =
    if (settings.value.parses) KafkaMetrics.parsing else KafkaMetrics.declared

  override def toString: String = s"$kind [${settings.subscription.text}]"
}

object KafkaSource {

  /** The value of the option `source`. */
  val Kind = "kafka"

  /** The options that limit a batch. */
  private[splice] val BatchLimits: Seq[String] =
    Seq(KafkaOptions.MaxOffsets, AdmissionOptions.MaxBytes, KafkaOptions.MinOffsets, KafkaOptions.MaxTriggerDelay)
      .map(_.key)

  /** Returns a builder of a source of Kafka topics. */
  def builder(): KafkaSourceBuilder = new KafkaSourceBuilder(KafkaBuilder.first(Kind))
}
