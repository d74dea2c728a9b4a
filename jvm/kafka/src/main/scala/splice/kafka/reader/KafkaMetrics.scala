// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.reader

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomSumMetric, CustomTaskMetric}

/** Rows that a task handed over. Spark makes instances by name, as of all these. */
final class KafkaRecordsMetric extends CustomSumMetric {
  override def name: String        = KafkaMetrics.Records
  override def description: String = "records read from Kafka"
}

/** Bytes of their keys and values. */
final class KafkaBytesMetric extends CustomSumMetric {
  override def name: String        = KafkaMetrics.Bytes
  override def description: String = "bytes of keys and values read from Kafka"
}

/** How long tasks waited in polls. */
final class KafkaPollTimeMetric extends CustomSumMetric {
  override def name: String        = KafkaMetrics.PollMs
  override def description: String = "milliseconds in polls of Kafka"
}

/** How long fetch requests took. */
final class KafkaFetchTimeMetric extends CustomSumMetric {
  override def name: String        = KafkaMetrics.FetchMs
  override def description: String = "milliseconds of fetch requests to Kafka"
}

/** How many tasks found a reader that was open already. */
final class KafkaReadersReusedMetric extends CustomSumMetric {
  override def name: String        = KafkaMetrics.ReadersReused
  override def description: String = "Kafka readers reused"
}

/** Values that could not be parsed. */
final class KafkaParseErrorsMetric extends CustomSumMetric {
  override def name: String        = KafkaMetrics.ParseErrors
  override def description: String = "Kafka records whose values could not be parsed"
}

private[splice] object KafkaMetrics {

  val Records       = "kafkaRecords"
  val Bytes         = "kafkaBytes"
  val PollMs        = "kafkaPollMs"
  val FetchMs       = "kafkaFetchMs"
  val ReadersReused = "kafkaReadersReused"

  /** Only where values are parsed. */
  val ParseErrors = "kafkaParseErrors"

  val declared: Seq[CustomMetric] =
    Seq(
      new KafkaRecordsMetric,
      new KafkaBytesMetric,
      new KafkaPollTimeMetric,
      new KafkaFetchTimeMetric,
      new KafkaReadersReusedMetric
    )

  /** Where values are parsed. */
  val parsing: Seq[CustomMetric] = declared :+ new KafkaParseErrorsMetric

  /** A task's figure, read when Spark asks. */
  final class Live(override val name: String, read: () => Long) extends CustomTaskMetric {
    override def value: Long = read()
  }
}
