// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.metrics

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomSumMetric, CustomTaskMetric}

/** The rows that a task has returned. Spark creates instances of the metric classes by name. */
final private[splice] class KafkaRecordsMetric extends CustomSumMetric {
  override def name: String        = KafkaMetrics.Records
  override def description: String = "records read from Kafka"
}

/** The bytes of keys and values that a task has returned. */
final private[splice] class KafkaBytesMetric extends CustomSumMetric {
  override def name: String        = KafkaMetrics.Bytes
  override def description: String = "bytes of keys and values read from Kafka"
}

/** The time that tasks spent in polls. */
final private[splice] class KafkaPollTimeMetric extends CustomSumMetric {
  override def name: String        = KafkaMetrics.PollMs
  override def description: String = "milliseconds in polls of Kafka"
}

/** The duration of fetch requests. */
final private[splice] class KafkaFetchTimeMetric extends CustomSumMetric {
  override def name: String        = KafkaMetrics.FetchMs
  override def description: String = "milliseconds of fetch requests to Kafka"
}

/** The number of tasks that reused an open reader. */
final private[splice] class KafkaReadersReusedMetric extends CustomSumMetric {
  override def name: String        = KafkaMetrics.ReadersReused
  override def description: String = "Kafka readers reused"
}

/** The number of values that Splice could not parse. */
final private[splice] class KafkaParseErrorsMetric extends CustomSumMetric {
  override def name: String        = KafkaMetrics.ParseErrors
  override def description: String = "Kafka records with values that Splice could not parse"
}

private[splice] object KafkaMetrics {

  val Records       = "kafkaRecords"
  val Bytes         = "kafkaBytes"
  val PollMs        = "kafkaPollMs"
  val FetchMs       = "kafkaFetchMs"
  val ReadersReused = "kafkaReadersReused"

  /** Declared only if values are parsed. */
  val ParseErrors = "kafkaParseErrors"

  val declared: Seq[CustomMetric] =
    Seq(
      new KafkaRecordsMetric,
      new KafkaBytesMetric,
      new KafkaPollTimeMetric,
      new KafkaFetchTimeMetric,
      new KafkaReadersReusedMetric
    )

  /** The metrics of a source that parses values. */
  val parsing: Seq[CustomMetric] = declared :+ new KafkaParseErrorsMetric

  /** A metric of a task. Spark reads the current value. */
  final class Live(override val name: String, read: () => Long) extends CustomTaskMetric {
    override def value: Long = read()
  }
}
